"""`check_grads` and `check_all`: the checks, run on a user's function.

Layer 5.
"""

from __future__ import annotations

import functools
import warnings
from collections.abc import Callable, Iterable, Sequence
from importlib.metadata import entry_points
from typing import Any

import numpy as np

from ..errors import ArgumentError, FuncgradError
from ..transforms.jvp import jvp
from .agreement import Failure, Skip
from .checks import CHECKS, Check
from .kinks import Kink, passage
from .report import Outcome, Report
from .subject import Subject

FIRST = "differentiable"  # without which no other check makes sense
NEAR = 1e-6  # a kink at this distance, or nearer, is listed
_MODES = {
    "fwd": ["deterministic", "types", "numerical"],
    "rev": ["deterministic", "types", "transpose", "numerical"],
}


def check_grads(
    f: Callable[..., Any],
    args: Sequence[Any],
    kwargs: dict[str, Any] | None = None,
    *,
    order: int = 2,
    modes: Sequence[str] = ("fwd", "rev"),
    seed: int = 0,
) -> Report:
    """Require that the derivatives of `f` at ``f(*args, **kwargs)`` are right, up to `order`.

    Forward mode is compared with differences, reverse mode with forward mode. `modes`: which of the two
    to look at. `seed`: of the random directions.

    Raises: GradientError: they are not; its message says which check failed, by which argument, and
    what the difference suggests. ArgumentError: there is nothing to differentiate by.

    >>> import numpy as np
    >>> from funcgrad.testing import check_grads
    >>> check_grads(lambda x: np.sum(np.sin(x) * x), (np.array([0.5, 2.0]),)).ok
    True
    """
    unknown = set(modes) - _MODES.keys()
    if unknown or not modes:
        raise ArgumentError(f"check_grads: modes={modes!r}; need some of {sorted(_MODES)}")
    names = [n for n in CHECKS if any(n in _MODES[m] for m in modes)]
    if order >= 2:
        names.append("second order")
    report = check_all(f, args, kwargs, only=names, seed=seed)
    if order > 2:
        report.outcomes += _higher(f, args, kwargs, order, seed)
    return report.raise_if_failed()


def _higher(
    f: Callable[..., Any], args: Sequence[Any], kwargs: Any, order: int, seed: int
) -> list[Outcome]:
    """The checks of second order, of derivatives along a direction."""
    subject = Subject(f, args, kwargs, seed=seed)
    outcomes = []
    g: Any = subject
    for k in range(3, order + 1):
        g = _along(g, subject.directions(subject.xs))
        found = check_all(g, subject.xs, only=["second order"], seed=seed + k)
        outcomes += [o._replace(name=f"order {k}") for o in found.outcomes]
    return outcomes


def _along(g: Any, ts: list[Any]) -> Any:
    return lambda *xs: jvp(g, xs, tuple(ts))[1]


def check_all(
    f: Callable[..., Any],
    args: Sequence[Any],
    kwargs: dict[str, Any] | None = None,
    *,
    only: Iterable[str] | None = None,
    expect_kink: bool = False,
    seed: int = 0,
) -> Report:
    """Every check of the derivatives of `f` at ``f(*args, **kwargs)``, as a report.

    `only`: the names of the checks to run. `expect_kink`: fail unless the point is at a kink.

    Raises: ArgumentError: there is nothing to differentiate by, no check of a name, or `args` is no
    tuple.

    >>> import numpy as np
    >>> from funcgrad.testing import check_all
    >>> report = check_all(np.sinh, (np.array([0.5, -1.0]),))
    >>> report.ok, report["transpose"].status
    (True, 'passed')
    """
    checks = all_checks()
    names = list(checks) if only is None else list(only)
    missing = [n for n in names if n not in checks]
    if missing:
        raise ArgumentError(
            f"check_all: there is no check {missing[0]!r}; there are {list(checks)}"
        )
    if not isinstance(args, tuple | list):
        raise ArgumentError(
            f"check_all: the arguments are a tuple, as in (x,); found {type(args).__name__}"
        )
    subject = Subject(f, args, kwargs, seed=seed)
    if not subject.xs:
        raise ArgumentError(
            "check_all: the arguments hold no floating or complex array to differentiate by"
        )
    with np.errstate(all="ignore"), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        subject.copied().everything()  # what the function itself raises is for the caller
        outcomes = [_outcome(FIRST, checks[FIRST], subject)]
        if outcomes[0].status == "passed":
            outcomes = [_outcome(n, checks[n], subject) for n in names]
        found = _kinks(subject)
    if expect_kink:
        at = [k for k in found if k.margin == 0]
        detail = "" if at else "no operation is at a kink here"
        outcomes.append(Outcome("at a kink", "passed" if at else "failed", detail))
    return Report(subject.name, outcomes, found)


def all_checks() -> dict[str, Check]:
    """The checks of this package, and those that installed packages bring (the Tensor layer's)."""
    return CHECKS | _of_packages()


@functools.cache
def _of_packages() -> dict[str, Check]:
    points = entry_points(group="funcgrad.testing.checks")
    return {point.name: point.load() for point in points}


def _outcome(name: str, check: Check, subject: Subject) -> Outcome:
    try:
        detail = check(subject.copied())  # a function that writes into it does no harm
    except Failure as failure:
        return Outcome(name, "failed", str(failure))
    except Skip as skip:
        return Outcome(name, "skipped", str(skip))
    except Exception as error:  # the function itself ran; so a derivative did this
        return Outcome(name, "failed", f"{type(error).__name__}: {error}")
    return Outcome(name, "passed", detail)


def _kinks(subject: Subject) -> list[Kink]:
    try:
        found = passage(subject, subject.xs).kinks
    except FuncgradError:
        return []
    near = [k for k in found if k.margin <= NEAR]
    return sorted(set(near), key=lambda k: k.margin)
