"""``jax.test_util``: the checks of `funcgrad.testing` with JAX's arguments."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from .. import testing

__all__ = ["check_grads"]


def check_grads(
    f: Callable[..., Any],
    args: Sequence[Any],
    order: int,
    modes: Sequence[str] = ("fwd", "rev"),
    atol: Any = None,
    rtol: Any = None,
    eps: Any = None,
) -> None:
    """Require that the derivatives of `f` are right, up to `order`.

    `atol`, `rtol` and `eps` are not needed: what differences can tell is worked out from the function.

    Raises: GradientError: they are not.
    Source: JAX reference, ``jax.test_util.check_grads``.

    >>> import numpy as np
    >>> check_grads(np.sin, (0.5,), order=2)
    """
    testing.check_grads(f, tuple(args), order=order, modes=tuple(modes))
