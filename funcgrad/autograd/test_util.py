"""Checks of gradients under autograd's names; `funcgrad.testing` does the work."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable, Sequence
from typing import Any

import numpy as np

from .. import tree
from ..testing import check_grads as check_at
from .vspaces import vspace
from .wrap_util import unary_to_nary

TOL = 1e-6


def scalar_close(a: Any, b: Any) -> bool:
    """Whether two numbers are within 1e-6, absolutely or by their sum."""
    return abs(a - b) < TOL or abs(a - b) / abs(a + b) < TOL


@unary_to_nary
def check_grads(
    f: Callable[[Any], Any], x: Any, modes: Sequence[str] = ("fwd", "rev"), order: int = 2
) -> None:
    """Require that the derivatives of `f` by an argument (`argnum`) are right: against differences.

    Raises: GradientError, an AssertionError: they are not.

    >>> check_grads(np.sin, order=3)(0.5)
    """
    check_at(f, (x,), order=order, modes=modes)


def check_vjp(f: Callable[[Any], Any], x: Any) -> None:
    """`check_grads` of reverse mode, of first order."""
    check_at(f, (x,), order=1, modes=("rev",))


def check_jvp(f: Callable[[Any], Any], x: Any) -> None:
    """`check_grads` of forward mode, of first order."""
    check_at(f, (x,), order=1, modes=("fwd",))


def check_equivalent(x: Any, y: Any) -> None:
    """Require that two values are of one space, and near.

    Raises: AssertionError: they are not.
    """
    assert vspace(x) == vspace(y), f"VSpace mismatch:\nx: {vspace(x)}\ny: {vspace(y)}"
    for a, b in zip(tree.leaves(x), tree.leaves(y), strict=True):
        np.testing.assert_allclose(a, b, rtol=TOL, atol=TOL)


def combo_check(fun: Callable[..., Any], *args: Any, **kwargs: Any) -> Callable[..., None]:
    """`check_grads` for all combinations: each argument is a list of those to try.

    >>> combo_check(np.power, (0, 1))([1.5, 2.0], [0.5, 3.0])
    """

    def checked(*choices: Iterable[Any], **options: Iterable[Any]) -> None:
        for given in itertools.product(*choices):
            for values in itertools.product(*options.values()):
                check_grads(fun, *args, **kwargs)(*given, **dict(zip(options, values, strict=True)))

    return checked
