"""The checks: each looks at a subject in two ways that must agree.

Layer 5. Algebra comes first and is the sharpest: forward and reverse mode are transposes of each
other to rounding. Differences come second, with their own error. A check returns a detail for the
report, or raises `Failure` or `Skip`.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from .. import jaxpr as programs
from ..compile.config import config
from ..compile.jit import jit
from ..core import aval_of
from ..errors import FuncgradError
from ..transforms.checkpoint import checkpoint
from ..transforms.trace import trace_to_jaxpr
from ..transforms.vjp import vjp
from ..transforms.vmap import vmap
from . import kinks, numerical
from .agreement import Failure, Skip, backward, floor_of, forward, leaf_name, outputs, same
from .explain import suggestion
from .subject import Arrays, Subject, largest, pair

Check = Callable[[Subject], str]


# ---------------------------------------------------------------- values


def differentiable(s: Subject) -> str:
    """The function can be differentiated at all."""
    try:
        forward(s, s.xs, s.directions(s.xs))
        backward(s, s.xs, s.directions(s(*s.xs)))
    except FuncgradError as error:
        raise Failure(f"{type(error).__name__}: {error}") from None
    if s(*s.xs):
        return ""
    if any(hasattr(y, "dtype") for y in s.everything(*s.xs)):
        raise Skip("the results are integers or flags")
    raise Failure("the results hold no floating or complex array; is a return missing?")


def deterministic(s: Subject) -> str:
    """Two runs give the same, and leave the arguments as they were."""
    before = [np.array(x, copy=True) if isinstance(x, np.ndarray) else x for x in s.leaves]
    first, second = s.everything(*s.xs), s.everything(*s.xs)
    for a, b in zip(first, second, strict=True):
        if not np.array_equal(a, b, equal_nan=np.asarray(a).dtype.kind in "fc"):
            raise Failure("two runs with the same arguments give different results")
    for x, old, path in zip(s.leaves, before, s.all_paths, strict=True):
        if isinstance(x, np.ndarray) and x.tobytes() != old.tobytes():
            raise Failure(f"the argument {path} is changed by the function")
    if not s.xs:
        raise Skip("no floating arguments")
    return ""


def own_memory(s: Subject) -> str:
    """Derivatives share no memory with arguments, with what was given, or with one another."""
    xs = s.xs
    outs = s(*xs)
    cts, ts = s.directions(outs), s.directions(xs)
    _, pull = vjp(s, *xs)
    found = [*pull(list(cts)), *pull(list(cts)), *forward(s, xs, ts)[1]]
    before = [np.array(a, copy=True) for a in (*cts, *ts)]
    arrays = [a for a in (*xs, *cts, *ts) if isinstance(a, np.ndarray)]
    for i, a in enumerate(found):
        if not isinstance(a, np.ndarray) or not a.flags.writeable:
            continue
        if any(np.may_share_memory(a, b) for b in (*arrays, *found[:i]) if b is not None):
            raise Failure("a derivative shares memory with an argument or another derivative")
    for a, old in zip((*cts, *ts), before, strict=True):
        if np.asarray(a).tobytes() != old.tobytes():
            raise Failure("a direction that was passed in is changed")
    return ""


def finite(s: Subject) -> str:
    """Finite results have finite derivatives."""
    xs = s.xs
    outs = s(*xs)
    if not all(np.all(np.isfinite(a)) for a in (*xs, *outs)):
        raise Skip("the results are not finite")
    for mode, found, paths in (
        ("forward", forward(s, xs, s.directions(xs))[1], outputs(s)),
        ("reverse", backward(s, xs, s.directions(outs)), s.paths),
    ):
        for i, a in enumerate(found):
            if not np.all(np.isfinite(a)):
                raise Failure(
                    f"the {mode} derivative {leaf_name(paths, i)} is not finite although the results "
                    f"are; see funcgrad.testing.find_nonfinite"
                )
    return ""


# ---------------------------------------------------------------- first derivatives


def types(s: Subject) -> str:
    """A derivative has the dtype and the shape of what it belongs to."""
    xs = s.xs
    outs, tangents = forward(s, xs, s.directions(xs))
    found = backward(s, xs, s.directions(outs))
    for what, paths, made, likes in (
        ("the tangent", outputs(s), tangents, outs),
        ("the gradient", s.paths, found, xs),
    ):
        for i, (a, b) in enumerate(zip(made, likes, strict=True)):
            a, b = aval_of(a), aval_of(b)
            if (a.shape, a.dtype) != (b.shape, b.dtype):
                differ = a.shape != b.shape
                hint = suggestion(np.zeros(a.shape), np.zeros(b.shape)) if differ else ""
                raise Failure(
                    f"{what} {leaf_name(paths, i)} is {a}, need {b}{'; ' if hint else ''}{hint}"
                )
    return ""


def transpose(s: Subject) -> str:
    """``<u, J v> = <J^T u, v>``: forward and reverse mode are one linear map."""
    xs = s.xs
    for _ in range(2):
        ts = s.directions(xs)
        outs, tangents = forward(s, xs, ts)
        cts = s.directions(outs)
        found = backward(s, xs, cts)
        (a, scale_a), (b, scale_b) = pair(cts, tangents), pair(found, ts)
        rtol, floor = s.rtol(*outs), floor_of(xs, outs, 1)
        if abs(a - b) > rtol * (scale_a + scale_b + floor) or np.isnan(a) != np.isnan(b):
            expected = _gradient_by_columns(s, xs, cts)
            same(found, expected, s.paths, rtol, "the gradient", "J^T u", floor)
            raise Failure(f"<u, J v> is {a:.8g}, <J^T u, v> is {b:.8g}{_which_is_right(s, xs)}")
    return ""


def _gradient_by_columns(s: Subject, xs: Arrays, cts: Arrays) -> Arrays:
    """``J^T u`` from forward mode, element by element."""
    out = []
    for i, x in enumerate(xs):
        gradient = np.zeros(np.shape(x), aval_of(x).dtype)
        for place in itertools.islice(np.ndindex(np.shape(x)), 200):
            for unit in (1.0, 1.0j) if gradient.dtype.kind == "c" else (1.0,):
                ts = [np.zeros(np.shape(y), aval_of(y).dtype) for y in xs]
                ts[i][place] = unit
                part = pair(cts, forward(s, xs, ts)[1])[0]
                gradient[place] += part if unit == 1.0 else -1j * part
        out.append(gradient)
    return out


def _which_is_right(s: Subject, xs: Arrays) -> str:
    try:
        directional(s)
    except Failure:
        return "; the differences do not confirm forward mode"
    return "; the differences confirm forward mode, so reverse mode is wrong"


def linear(s: Subject) -> str:
    """Forward and reverse derivatives are linear in their directions."""
    xs = s.xs
    outs = s(*xs)
    for what, paths, f, like in (
        ("the tangent", outputs(s), lambda ts: forward(s, xs, ts)[1], xs),
        ("the gradient", s.paths, lambda cts: backward(s, xs, cts), outs),
    ):
        a, b = s.directions(like), s.directions(like)
        mixed = [np.asarray(2 * p - 3 * q, aval_of(p).dtype) for p, q in zip(a, b, strict=True)]
        expected = [2 * p - 3 * q for p, q in zip(f(a), f(b), strict=True)]
        than = "2 f(a) - 3 f(b): it is not linear"
        same(f(mixed), expected, paths, 4 * s.rtol(*outs), what, than, floor_of(xs, outs, 1))
    return ""


def directional(s: Subject) -> str:
    """Forward mode against differences; at a kink, membership in the subdifferential."""
    ts = s.directions(s.xs)
    try:
        return _along(s, ts)
    except Failure as error:
        for i, path in enumerate(s.paths if len(s.paths) > 1 else ()):
            alone = [t if i == j else np.zeros_like(t) for j, t in enumerate(ts)]
            try:
                _along(s, alone)
            except Failure as failure:
                raise Failure(f"along {path} alone, {failure}{_one_triangle(s, ts)}") from None
        raise Failure(f"{error}{_one_triangle(s, ts)}") from None


def _one_triangle(s: Subject, ts: Arrays) -> str:
    """A hint if symmetric matrices have right derivatives along symmetric directions."""

    def flipped(a: Any) -> Any:
        return np.conj(np.swapaxes(a, -1, -2))

    square = [np.ndim(x) > 1 and x.shape[-1] == x.shape[-2] > 1 for x in s.xs]
    if not any(q and np.array_equal(x, flipped(x)) for x, q in zip(s.xs, square, strict=True)):
        return ""
    try:
        _along(s, [t + flipped(t) if q else t for t, q in zip(ts, square, strict=True)])
    except (Failure, Skip):
        return ""
    return (
        "; along symmetric directions it is right, so one triangle of a symmetric matrix is read: "
        "differentiate by a with (a + a.T) / 2 inside"
    )


def _along(s: Subject, ts: Arrays) -> str:
    xs = s.xs
    outs, tangents = forward(s, xs, ts)
    rtol = s.rtol(*outs)
    if _at_kink(s, xs):
        return _inside_subdifferential(s, xs, ts, tangents, rtol)
    found = numerical.derivative(s, xs, ts)
    scale = max(largest(found.values), largest(tangents), 1e-300)
    exact = found.error <= 1e-5 * scale
    if not exact or _apart(tangents, found.values) > found.error + rtol * scale:
        smooth = _smooth_step(s, xs, ts)
        if smooth == 0.0:
            return _inside_subdifferential(s, xs, ts, tangents, rtol)
        if smooth is not None and smooth < found.step:
            found = numerical.derivative(s, xs, ts, smooth)
    if not largest(found.values) and not largest(tangents):
        return "both are zero"
    if not np.isfinite(found.error) or found.error > 0.1 * max(scale, largest(found.values)):
        raise Skip("differences are too inexact here")
    same(
        tangents,
        found.values,
        outputs(s),
        rtol,
        "the tangent",
        "the differences (the numerical side)",
        floor_of(xs, outs, 1),
        found.error,
        [n for x in xs for n in (*np.shape(x), np.size(x))],
    )
    return f"differences are exact to {found.error / scale:.0e}"


def _apart(a: Sequence[Any], b: Sequence[Any]) -> float:
    if any(np.shape(x) != np.shape(y) for x, y in zip(a, b, strict=True)):
        return np.inf
    found = largest([np.asarray(x) - y for x, y in zip(a, b, strict=True)])
    return found if np.isfinite(found) else np.inf


def _smooth_step(s: Subject, xs: Arrays, ts: Arrays) -> float | None:
    """How far one may go both ways and stay on one smooth piece; 0 at a kink, None if unknown."""
    here = _decisions(s, xs)
    if here is None:
        return None
    for k in range(4, 40):
        h = 2.0**-k
        if all(_decisions(s, _moved(xs, ts, sign * h)) == here for sign in (1, -1)):
            return h
    return 0.0


def _at_kink(s: Subject, xs: Arrays) -> bool:
    try:
        return any(kink.margin == 0 for kink in kinks.passage(s, xs).kinks)
    except FuncgradError:
        return False


def _moved(xs: Arrays, ts: Arrays, h: float) -> Arrays:
    return [numerical.wide(x) + h * numerical.wide(t) for x, t in zip(xs, ts, strict=True)]


def _decisions(s: Subject, xs: Arrays) -> Any:
    try:
        return kinks.passage(s, list(map(numerical.wide, xs))).decisions
    except Exception:  # ours, or what the user's function raises outside of its domain
        return None


def _inside_subdifferential(
    s: Subject, xs: Arrays, ts: Arrays, tangents: Arrays, rtol: float
) -> str:
    """At a kink: between the slopes on its two sides."""
    backwards = [-np.asarray(t) for t in ts]
    h = 2.0**-12
    right = numerical.one_sided(s, xs, ts, h)
    left = numerical.one_sided(s, xs, backwards, h)
    error = right.error + left.error
    if not np.isfinite(error):
        raise Skip("at a singular point")
    for i, (a, r, m) in enumerate(zip(tangents, right.values, left.values, strict=True)):
        slopes = np.stack([np.real(r), -np.real(m)])
        scale = float(np.max(np.abs(slopes), initial=0.0))
        slack = error + rtol * scale
        low, high = slopes.min(0) - slack, slopes.max(0) + slack
        if not np.all((np.real(a) >= low) & (np.real(a) <= high)):
            raise Failure(
                f"at a kink, the tangent {leaf_name(outputs(s), i)} is {np.real(a)}, which is not "
                f"between the slopes of the two sides, {low} and {high}"
            )
    return "at a kink: between the slopes of its two sides"


# ---------------------------------------------------------------- second derivatives


def second(s: Subject) -> str:
    """``H v`` three ways and by differences, and the symmetry of ``H``."""
    xs = s.xs
    outs = s(*xs)
    cts, ts, us = s.directions(outs), s.directions(xs), s.directions(xs)
    likely = s.rtol(*outs) ** 0.75
    floor = floor_of(xs, outs, 2)

    def gradient(*xs: Any) -> Any:
        return backward(s, list(xs), cts)

    def along(*xs: Any) -> Any:
        return forward(s, list(xs), ts)[1]

    found = forward(gradient, xs, ts)[1]
    same(
        backward(along, xs, cts),
        found,
        s.paths,
        likely,
        "the second derivative, reverse over forward,",
        "forward over reverse",
        floor,
    )
    same(
        backward(gradient, xs, ts),
        found,
        s.paths,
        likely,
        "the second derivative, reverse over reverse,",
        "forward over reverse",
        floor,
    )
    (a, scale_a), (b, scale_b) = pair(found, us), pair(forward(gradient, xs, us)[1], ts)
    if abs(a - b) > likely * max(scale_a + scale_b, floor, 1e-300):
        raise Failure(f"the second derivative is not symmetric: {a:.8g} against {b:.8g}")
    return _second_by_differences(s, gradient, xs, ts, found, floor)


def _second_by_differences(
    s: Subject, gradient: Any, xs: Arrays, ts: Arrays, found: Arrays, floor: float
) -> str:
    step = _smooth_step(s, xs, ts)
    if step == 0.0:
        return "at a kink: not compared with differences"
    start = numerical.FIRST_STEP if step is None else min(step, numerical.FIRST_STEP)
    expected = numerical.central(gradient, xs, ts, start)
    scale = max(largest(expected.values), largest(found))
    if not expected.error <= 1e-3 * scale:
        return ""
    same(
        found,
        expected.values,
        s.paths,
        s.rtol() ** 0.75,
        "the second derivative",
        "differences of the gradient (the numerical side)",
        floor,
        expected.error,
    )
    return f"differences are exact to {expected.error / max(scale, 1e-300):.0e}"


# ---------------------------------------------------------------- other transforms


def batched(s: Subject) -> str:
    """`vmap` of the function and of its derivatives is the stacked loop."""
    xs = s.xs
    outs = s(*xs)
    size = 3
    runs = [[_variant(x, k) for k in range(size)] for x in xs]
    cts, ts = s.directions(outs), s.directions(xs)

    def value(*xs: Any) -> Any:
        return s(*xs)

    def reverse(*xs: Any) -> Any:
        return backward(s, list(xs), cts)

    def tangent(*xs: Any) -> Any:
        return forward(s, list(xs), ts)[1]

    for axes in _batch_axes(len(xs)):
        inputs = [
            row[0] if a is None else np.stack(row, axis=a)
            for row, a in zip(runs, axes, strict=True)
        ]
        examples = [
            [row[0] if a is None else row[k] for row, a in zip(runs, axes, strict=True)]
            for k in range(size)
        ]
        for what, f in (("value", value), ("gradient", reverse), ("tangent", tangent)):
            try:
                found = vmap(f, in_axes=axes)(*inputs)
            except FuncgradError as error:
                raise Skip(f"it cannot be mapped: {str(error).splitlines()[0]}") from None
            columns = zip(*[f(*example) for example in examples], strict=True)
            expected = [np.stack(column) for column in columns]
            where = f"the {what} under vmap(in_axes={axes})"
            floor = floor_of(xs, outs, 1)
            same(list(found), expected, [], s.rtol(*outs), where, "the stacked loop", floor)
    return ""


def _batch_axes(count: int) -> list[tuple[int | None, ...]]:
    """All operands along the first axis, along the last one, and every operand alone."""
    alone = [tuple(0 if i == j else None for i in range(count)) for j in range(count)]
    return [(0,) * count, (-1,) * count, *(alone[:4] if count > 1 else [])]


def _variant(x: Any, k: int) -> Any:
    """The `k`-th of several operands near `x`, of the same signs."""
    return np.asarray(x * (1.0, 0.95, 0.97)[k], aval_of(x).dtype)


def program(s: Subject) -> str:
    """The jaxpr is well typed, and running it gives the same."""
    xs = s.xs
    try:
        found = trace_to_jaxpr(s, [aval_of(x) for x in xs])
    except FuncgradError as error:
        raise Skip(f"it cannot be traced: {str(error).splitlines()[0]}") from None
    programs.check_jaxpr(found)
    same(
        programs.eval_jaxpr(found, *xs), s(*xs), [], s.rtol(), "the jaxpr's value", "the function's"
    )
    return ""


def compiled(s: Subject) -> str:
    """`jit` of the function and of its gradient gives the same."""
    xs = s.xs
    outs = s(*xs)
    cts = s.directions(outs)
    with config("numpy"):
        try:
            found = jit(s)(*xs)
        except FuncgradError as error:
            raise Skip(f"it cannot be traced: {str(error).splitlines()[0]}") from None
        gradient = jit(lambda xs, cts: backward(s, xs, cts))(xs, cts)
    same(list(found), outs, [], s.rtol(), "the compiled value", "the function's")
    floor = floor_of(xs, outs, 1)
    expected = backward(s, xs, cts)
    same(
        gradient, expected, s.paths, s.rtol(*outs), "the compiled gradient", "the plain one", floor
    )
    return ""


def recomputed(s: Subject) -> str:
    """`checkpoint` changes no derivative."""
    xs = s.xs
    cts = s.directions(s(*xs))
    found = backward(checkpoint(s), xs, cts)
    same(
        found, backward(s, xs, cts), s.paths, s.rtol(), "the checkpointed gradient", "the plain one"
    )
    return ""


def repeatable(s: Subject) -> str:
    """A pullback gives the same again, also after the function ran elsewhere."""
    xs = s.xs
    outs, pull = vjp(s, *xs)
    cts = s.directions(list(outs))
    first = list(pull(list(cts)))
    elsewhere = [_variant(x, 1) for x in xs]
    backward(s, elsewhere, cts)
    second = list(pull(list(cts)))
    fresh = backward(s, xs, cts)
    for found in (second, fresh):
        same(found, first, s.paths, s.rtol() / 8, "the gradient of a second call", "the first's")
    return ""


# ---------------------------------------------------------------- other sizes


def empty(s: Subject) -> str:
    """If the function takes arrays of no elements, so do its derivatives."""
    xs = s.xs
    lengths = {np.shape(x)[0] for x in xs if np.ndim(x)}
    if len(lengths) != 1 or not all(np.ndim(x) for x in xs):
        raise Skip("the operands have no first axis in common")
    return _same_types_at(s, [np.asarray(x)[:0] for x in xs])


def scalar(s: Subject) -> str:
    """If the function takes 0-d arrays, so do its derivatives."""
    xs = s.xs
    if not any(np.ndim(x) for x in xs) or not all(np.size(x) for x in xs):
        raise Skip("the operands are 0-d, or empty")
    return _same_types_at(s, [np.asarray(x).reshape(-1)[0] for x in xs], ndim=0)


def _same_types_at(s: Subject, xs: Arrays, ndim: int | None = None) -> str:
    try:
        outs = s(*xs)
    except Exception as error:  # the user's function need not take such operands
        raise Skip(f"the function refuses them: {type(error).__name__}") from None
    if not outs:
        raise Skip("no floating results")
    there = s.at(*xs)
    try:
        typed = trace_to_jaxpr(there, [aval_of(x) for x in xs]).out_avals
        if [a.shape for a in typed] != [np.shape(y) for y in outs] or (
            ndim is not None and any(np.ndim(y) != ndim for y in outs)
        ):
            raise Skip("the function is not made for other sizes")
        types(there)
        if all(np.all(np.isfinite(y)) for y in (*outs, *forward(there, xs, s.directions(xs))[1])):
            transpose(there)
    except (FuncgradError, LookupError, ValueError) as error:
        raise Skip(f"the function is not made for them: {type(error).__name__}") from None
    return ""


CHECKS: dict[str, Check] = {
    "deterministic": deterministic,
    "differentiable": differentiable,
    "types": types,
    "finite": finite,
    "transpose": transpose,
    "linear": linear,
    "numerical": directional,
    "own memory": own_memory,
    "repeatable": repeatable,
    "program": program,
    "jit": compiled,
    "checkpoint": recomputed,
    "vmap": batched,
    "empty": empty,
    "0-d": scalar,
    "second order": second,
}
