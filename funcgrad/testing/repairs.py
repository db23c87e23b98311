"""What to write instead: a suggestion for an equation that makes numbers which are not finite.

Layer 5. A table by primitive. A *pattern* knows what stands around the equation, and names the
function that computes the same stably; a *remark* knows only the equation and its operands.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from .culprit import Run, Spot, Step, literal

Pattern = Callable[[Run, Step], str]
Remark = Callable[[Spot], str]

GUARD = (
    "the branch of `where` that is not taken is differentiated too, and zero times infinity is nan; "
    "give it a harmless operand as well, np.where(ok, f(np.where(ok, x, safe)), other)"
)
_LENGTH = "a length by hand: np.linalg.norm(x), whose slope is 0 at the origin"
_UNUSED = "its result counts for nothing here (the cotangent is 0), but zero times infinity is nan"


def repair(run: Run, spot: Spot, meets: Spot | None, strong: bool) -> str:
    """A suggestion. `meets`: see `Run.of_gradient`; `strong`: strong zeros make the gradient finite."""
    step = spot.step
    pattern = _PATTERNS.get(step.name)
    text = pattern(run, step) if pattern is not None else ""
    ct = (spot if meets is None else meets).cotangent
    unused = ct is not None and not isinstance(ct, tuple) and not np.any(ct)
    if unused and not text:
        text = GUARD if "where" in run.all_uses(step) else f"{_UNUSED}; {_remark(spot)}"
        return f"{text}; or differentiate with strong_zeros=True" if strong else text
    return text or _remark(spot)


def _remark(spot: Spot) -> str:
    remark = _REMARKS.get(spot.step.name)
    return _general(spot) if remark is None else remark(spot)


# ---------------------------------------------------------------- patterns


def _named(step: Step | None, *names: str) -> bool:
    return step is not None and step.name in names


def _plus_one(run: Run, step: Step | None) -> Step | None:
    """What made ``t`` in ``1 + t``, if that is what `step` computes."""
    if step is not None and step.name == "add":
        for i in (0, 1):
            if literal(step, i, 1):
                return run.maker(step, 1 - i)
    return None


def _is_softmax(run: Run, step: Step | None) -> bool:
    """Whether `step` is ``exp(x) / sum(exp(x))``, or softmax itself."""
    if step is None or step.name != "divide":
        return _named(step, "softmax")
    return _named(run.maker(step, 0), "exp") and _sums_exp(run, run.maker(step, 1))


def _sums_exp(run: Run, step: Step | None) -> bool:
    return step is not None and step.name == "sum" and _named(run.maker(step), "exp")


def _is_expit(run: Run, step: Step | None) -> bool:
    """Whether `step` is ``1 / (1 + exp(-x))`` or ``exp(x) / (1 + exp(x))``, or expit itself."""
    if step is None or step.name not in ("divide", "reciprocal"):
        return _named(step, "expit", "sigmoid")
    below = run.maker(step, 1 if step.name == "divide" else 0)
    return _named(_plus_one(run, below), "exp")


def _logarithm(run: Run, step: Step) -> str:
    of = run.maker(step)
    if of is None:
        return _entropy(run, step)
    if _is_softmax(run, of):
        return (
            "a softmax that underflows to 0 has no logarithm: funcgrad.scipy.special.log_softmax(x), "
            "or x - logsumexp(x)"
        )
    if _is_expit(run, of):
        return "np.log(expit(x)) is funcgrad.scipy.special.log_expit(x), or -np.logaddexp(0, -x)"
    if _sums_exp(run, of):
        return "np.log(np.sum(np.exp(x))) is funcgrad.scipy.special.logsumexp(x)"
    if _named(_plus_one(run, of), "exp"):
        return "np.log(1 + np.exp(x)) is np.logaddexp(0, x)"
    if of.name == "add" and all(_named(run.maker(of, i), "exp") for i in (0, 1)):
        return "np.log(np.exp(x) + np.exp(y)) is np.logaddexp(x, y)"
    if of.name == "add" and any(literal(of, i, 1) for i in (0, 1)):
        return "np.log(1 + x) is np.log1p(x), and x must stay above -1"
    if of.name == "subtract" and literal(of, 0, 1):
        return _log_of_complement(run, of)
    return _entropy(run, step)


def _log_of_complement(run: Run, of: Step) -> str:
    inner = run.maker(of, 1)
    if _is_expit(run, inner):
        return "np.log(1 - expit(x)) is funcgrad.scipy.special.log_expit(-x)"
    if _named(inner, "exp"):
        return "np.log(1 - np.exp(x)) is np.log(-np.expm1(x)), and x must stay below 0"
    return "np.log(1 - x) is np.log1p(-x), and x must stay below 1, as np.minimum(x, 1 - eps) does"


def _entropy(run: Run, step: Step) -> str:
    """``x * log(x)``."""
    own = run.root(step, 0)
    for user in run.uses(step):
        if user.name == "multiply" and any(run.root(user, i) == own for i in (0, 1)):
            return (
                "x * np.log(x) has the value 0 at 0 by funcgrad.scipy.special.xlogy(x, x); its slope "
                "there is infinite all the same: keep x away from 0 for the logarithm, "
                "x * np.log(np.where(x > 0, x, 1.0))"
            )
    return ""


def _square_of(run: Run, step: Step | None) -> tuple[Step, int] | None:
    """Where ``d`` is an operand, if `step` computes ``d * d`` in one of the ways to write it."""
    if step is None:
        return None
    is_power = step.name == "power" and literal(step, 1, 2)
    is_product = step.name == "multiply" and run.root(step, 0) == run.root(step, 1)
    return (step, 0) if step.name == "square" or is_power or is_product else None


def _root(run: Run, step: Step) -> str:
    """A length or a standard deviation, written by hand."""
    of = run.maker(step)
    if of is None or (step.name != "sqrt" and not literal(step, 1, 0.5)):
        return ""
    if _square_of(run, of):
        return "np.sqrt(x**2) is np.abs(x), whose slope is 0 at 0"
    if of.name in ("matmul", "dot_general") and run.root(of, 0) == run.root(of, 1):
        return _LENGTH
    if of.name == "divide":
        inner = run.maker(of, 0)
        of = inner if inner is not None and inner.name == "sum" else of
    if of.name == "var":
        return "np.sqrt(np.var(x)) is np.std(x), whose slope is 0 where all elements are equal"
    if of.name == "add" and all(_square_of(run, run.maker(of, i)) for i in (0, 1)):
        return "np.sqrt(x**2 + y**2) is np.hypot(x, y), whose slope is 0 at the origin"
    square = _square_of(run, run.maker(of)) if of.name in ("sum", "mean") else None
    if square is None:
        return ""
    difference = run.maker(*square)
    if _named(difference, "subtract") and any(
        _is_mean(run, run.maker(difference, i)) for i in (0, 1) if difference
    ):
        return "a standard deviation by hand: np.std(x), whose slope is 0 where all are equal"
    if of.name == "mean":
        return (
            "a length by hand: np.linalg.norm(x) / np.sqrt(x.size), whose slope is 0 at the origin"
        )
    return _LENGTH


def _is_mean(run: Run, step: Step | None) -> bool:
    return _named(step, "mean") or (
        step is not None and step.name == "divide" and _named(run.maker(step), "sum")
    )


def _exponential(run: Run, step: Step) -> str:
    """Which stable function this exponential is a part of."""
    for user in run.uses(step):
        after = run.uses(user)
        names = {u.name for u in after}
        if user.name in ("add", "sum"):
            if "log" in names:
                stable = "np.logaddexp(0, x)" if _plus_one(run, user) else "np.logaddexp(x, y)"
                return f"{_by_hand(user, stable)}, which cannot overflow"
            if user.name == "sum" and "divide" in names:
                return "a softmax by hand: funcgrad.scipy.special.softmax(x), which cannot overflow"
            if any(_is_expit(run, u) for u in after):
                return "a sigmoid by hand: funcgrad.scipy.special.expit(x), which cannot overflow"
        if user.name in ("add", "subtract") and _is_tanh(run, after):
            return "a hyperbolic tangent by hand: np.tanh(x), which cannot overflow"
        if user.name == "subtract" and literal(user, 1, 1):
            return "np.exp(x) - 1 is np.expm1(x); keep x small, or divide by np.exp(x) throughout"
    return ""


def _by_hand(user: Step, stable: str) -> str:
    if user.name == "sum":
        return "funcgrad.scipy.special.logsumexp(x)"
    return f"the logarithm of a sum of exponentials: {stable}"


def _is_tanh(run: Run, after: list[Step]) -> bool:
    return any(
        u.name == "divide" and all(_named(run.maker(u, i), "add", "subtract") for i in (0, 1))
        for u in after
    )


def _quotient(run: Run, step: Step) -> str:
    if _is_softmax(run, step):
        return "a softmax by hand: funcgrad.scipy.special.softmax(x)"
    if _is_expit(run, step):
        return "a sigmoid by hand: funcgrad.scipy.special.expit(x)"
    below = run.maker(step, 1)
    inner = run.maker(below) if _named(below, "sqrt") else below
    if _named(inner, "var", "std", "mean") and not np.all(step.operands[1]):
        return "equal elements have no deviation to divide by: np.sqrt(np.var(x) + eps)"
    if _named(below, "norm2", "sqrt") and not np.all(step.operands[1]):
        return "a vector of length 0 has no direction: x / np.maximum(length, eps), or guard it"
    large = np.max(np.abs(step.operands[1]), initial=0.0) > 1e100
    if _named(below, "add") and below is not None and large:
        own = run.root(step, 0)
        if any(run.root(below, i) == own for i in (0, 1)):
            return "x / (x + y) overflows where the sum does: 1 / (1 + y / x)"
    return ""


_PATTERNS: dict[str, Pattern] = {
    **dict.fromkeys(["log", "log2", "log10"], _logarithm),
    **dict.fromkeys(["sqrt", "power", "float_power"], _root),
    **dict.fromkeys(["exp", "exp2"], _exponential),
    "divide": _quotient,
}


# ---------------------------------------------------------------- remarks


def _real(spot: Spot, i: int = 0) -> float:
    """The `i`-th operand at the element, for comparisons."""
    x = np.asarray(spot.operands[i])
    return float(np.real(x)) if x.ndim == 0 else float("nan")


def _of_log(spot: Spot) -> str:
    if _real(spot) < 0:
        return "the logarithm of a negative number is nan: make the operand positive"
    return (
        "the logarithm is infinite at 0, and so is its slope: keep the operand away from 0, "
        "np.log(x + eps) or np.log(np.maximum(x, eps))"
    )


def _of_root(spot: Spot) -> str:
    if _real(spot) < 0:
        return "the root of a negative number is nan: np.sqrt(np.maximum(x, 0.0) + eps)"
    return "the slope of a root is infinite at 0: add a small number inside, np.sqrt(x + eps)"


def _of_cube_root(_: Spot) -> str:
    return "the slope of a cube root is infinite at 0: keep the operand away from 0"


def _of_power(spot: Spot) -> str:
    x, y = _real(spot), _real(spot, 1)
    if x == 0 and y < 0:
        return (
            "a negative power of 0 is a division by zero: (x + eps)**y, or guard it with np.where"
        )
    if x == 0:
        return f"x**{y:g} has an infinite slope at 0: (x + eps)**{y:g}, or guard it with a double where"
    if x < 0:
        return "a negative number has no fractional power: np.abs(x)**y, np.sign(x) times that, np.cbrt"
    return "the power overflows: compute with logarithms, y * np.log(x), or scale x"


def _of_divide(spot: Spot) -> str:
    below = spot.operands[-1]
    if np.ndim(below) == 0 and abs(below) < 1:
        return (
            "a division by zero, or by almost zero: guard the divisor too, "
            "np.where(y != 0, x / np.where(y != 0, y, 1.0), other), or add eps to it"
        )
    return "the quotient overflows: divide numerator and denominator by the larger one first"


def _of_exp(spot: Spot) -> str:
    dtype: Any = np.asarray(spot.result).dtype
    limit = float(np.log(np.finfo(dtype).max))
    return (
        f"np.exp overflows above {limit:.4g} in {dtype}: subtract the largest exponent first, or stay "
        "in logarithms (np.logaddexp, logsumexp, np.expm1)"
    )


def _of_arcs(spot: Spot) -> str:
    if abs(_real(spot)) > 1:
        return (
            "outside of [-1, 1] there is no angle, also by rounding: np.clip(x, -1 + eps, 1 - eps)"
        )
    return (
        "the slope is infinite at -1 and 1: np.clip(x, -1 + eps, 1 - eps), or "
        "np.arctan2(sine, cosine), which is smooth"
    )


def _of_arctanh(_: Spot) -> str:
    return "the value and the slope are infinite at -1 and 1: np.clip(x, -1 + eps, 1 - eps)"


def _of_logit(_: Spot) -> str:
    return "the value and the slope are infinite at 0 and 1: np.clip(x, eps, 1 - eps)"


def _of_log1p(_: Spot) -> str:
    return "the logarithm is infinite at -1: keep the operand above, np.maximum(x, -1 + eps)"


def _of_product(spot: Spot) -> str:
    if len(spot.operands) == 2 and any(np.ndim(x) == 0 and x == 0 for x in spot.operands):
        return "zero times infinity is nan: choose with np.where instead of multiplying by a mask"
    return "the product overflows: scale the operands first, or add logarithms instead"


def _of_solver(_: Spot) -> str:
    return "the matrix is singular: add a small multiple of the identity, a + eps * np.eye(n)"


def _of_spectrum(_: Spot) -> str:
    return "vectors of equal eigenvalues or singular values have no derivative: separate the values"


def _general(spot: Spot) -> str:
    if spot.cotangent is None:
        return "the value overflows or is not defined here: keep the operand away from it"
    return "the slope is not finite here: keep the operand away, or guard it with a double where"


_REMARKS: dict[str, Remark] = {
    **dict.fromkeys(["log", "log2", "log10"], _of_log),
    **dict.fromkeys(["power", "float_power"], _of_power),
    **dict.fromkeys(["divide", "reciprocal"], _of_divide),
    **dict.fromkeys(["exp", "exp2", "expm1", "sinh", "cosh"], _of_exp),
    **dict.fromkeys(["arcsin", "arccos"], _of_arcs),
    **dict.fromkeys(
        ["multiply", "square", "prod", "cumprod", "matmul", "dot_general"], _of_product
    ),
    **dict.fromkeys(["inv", "matrix_solve", "triangular_solve", "cholesky", "pinv"], _of_solver),
    **dict.fromkeys(["det", "slogdet"], _of_solver),
    **dict.fromkeys(["eigh", "svd", "gap_divide"], _of_spectrum),
    "arctanh": _of_arctanh,
    "cbrt": _of_cube_root,
    "log1p": _of_log1p,
    "logit": _of_logit,
    "sqrt": _of_root,
}
