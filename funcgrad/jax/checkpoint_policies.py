"""``jax.checkpoint_policies``: what `checkpoint` keeps for the way back, which is nothing here.

Results do not depend on it, so that all names stand for the policy that holds.
"""

from __future__ import annotations

from typing import Any


def nothing_saveable(prim: Any, *args: Any, **params: Any) -> bool:
    """Everything is computed again.

    >>> from funcgrad import jax
    >>> cube = jax.checkpoint(lambda x: x**3, policy=jax.checkpoint_policies.dots_saveable)
    >>> float(jax.grad(cube)(2.0))
    12.0
    """
    return False


everything_saveable = nothing_saveable
checkpoint_dots = dots_saveable = nothing_saveable
checkpoint_dots_with_no_batch_dims = dots_with_no_batch_dims_saveable = nothing_saveable


def save_only_these_names(*names: str) -> Any:
    """`nothing_saveable`."""
    return nothing_saveable


save_any_names_but_these = save_anything_except_these_names = save_only_these_names


def save_from_both_policies(policy_1: Any, policy_2: Any) -> Any:
    """`nothing_saveable`."""
    return nothing_saveable
