"""`gradcheck`, `gradgradcheck`: derivatives against differences.

Layer 6. A complex element counts as two real ones: the derivative by an input is ``d/dRe + i d/dIm``,
and the real and the imaginary part of a complex output are looked at one after the other. Inputs are
perturbed in place, as functions may close over them.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np

import funcgrad
from funcgrad.algebra import concrete_namespace

from . import sites, views
from .base import TensorBase, tensor
from .forward_ad import dual_level, make_dual, unpack_dual
from .gradients import grad

Tensors = tuple[Any, ...]


class GradcheckError(RuntimeError):
    """A derivative is wrong."""


class _Check(NamedTuple):
    """A function at a point, and how exactly its derivatives must agree with differences."""

    func: Callable[..., Any]
    inputs: Tensors
    outputs: Tensors  # those that require grad
    eps: float
    atol: float
    rtol: float
    nondet_tol: float
    check_grad_dtypes: bool

    @property
    def places(self) -> list[int]:
        """The numbers of the inputs that require grad."""
        return [i for i, x in enumerate(self.inputs) if _is_live(x)]

    def values(self) -> list[np.ndarray]:
        """The differentiable outputs for the inputs as they are now."""
        found = [_host(o) for o in _tensors(self.func(*self.inputs)) if _is_live(o)]
        if [f.shape for f in found] != [tuple(o.shape) for o in self.outputs]:
            raise AssertionError(
                f"Expected `func` to return outputs with the same shape when inputs are perturbed by "
                f"{self.eps}, but got: shapes {[tuple(o.shape) for o in self.outputs]} and "
                f"{[f.shape for f in found]}."
            )
        return found


def _as_tuple(x: Any) -> Tensors:
    return tuple(x) if isinstance(x, tuple | list) else (x,)


def _tensors(x: Any) -> list[Any]:
    """The tensors among what a function returned."""
    return [o for o in _as_tuple(x) if isinstance(o, TensorBase)]


def _is_live(x: Any) -> bool:
    return isinstance(x, TensorBase) and views.edge(x) is not None


def _is_complex(x: Any) -> bool:
    return bool(x._array.dtype.kind == "c")


def _host(x: Any) -> np.ndarray:
    """A copy of the numbers, in NumPy."""
    module = concrete_namespace(x._array)
    return np.array(x._array) if module is np else module.asnumpy(x._array)


def _of(array: np.ndarray, like: Any) -> Any:
    """A tensor of `array` where `like` is, in its dtype."""
    return tensor(concrete_namespace(like._array).asarray(array, dtype=like._array.dtype))


def _units(x: Any) -> tuple[complex, ...]:
    """The directions in which one element of `x` can go."""
    return (1.0, 1.0j) if _is_complex(x) else (1.0,)


# ---------------------------------------------------------------- differences


def _moved(check: _Check, j: int, step: np.ndarray) -> list[np.ndarray]:
    """The outputs with `step` added to input `j`."""
    array = check.inputs[j]._array
    before = array.copy()
    array += _of(step, check.inputs[j])._array
    try:
        return check.values()
    finally:
        array[...] = before


def _differences(check: _Check, j: int, step: np.ndarray) -> list[np.ndarray]:
    """The derivatives of the outputs along `step` in input `j`."""
    up, down = _moved(check, j, check.eps * step), _moved(check, j, -check.eps * step)
    return [(a - b) / (2 * check.eps) for a, b in zip(up, down, strict=True)]


def _basis(x: Any, unit: complex) -> Iterator[np.ndarray]:
    """Every element of the standard basis of `x`, times `unit`."""
    shape = tuple(x.shape)
    for index in np.ndindex(shape):
        one = np.zeros(shape, np.complex128 if _is_complex(x) else np.float64)
        one[index] = unit
        yield one


def _columns(found: Sequence[Sequence[np.ndarray]], outputs: Tensors) -> list[np.ndarray]:
    """Per output, a matrix of the derivatives along every direction: a row for each."""
    return [
        np.array([row[i].reshape(-1) for row in found]).reshape((len(found), o.numel()))
        for i, o in enumerate(outputs)
    ]


def _numerical(check: _Check, j: int) -> list[list[np.ndarray]]:
    """Per direction (real, and imaginary if input `j` is complex) and output, the Jacobian."""
    x = check.inputs[j]
    return [
        _columns([_differences(check, j, one) for one in _basis(x, unit)], check.outputs)
        for unit in _units(x)
    ]


# ---------------------------------------------------------------- reverse mode


def _pulled(check: _Check, i: int, ct: np.ndarray) -> list[np.ndarray]:
    """The gradients of output `i` by every input, zeros for None, with attributes checked.

    Raises: GradcheckError: they have another shape or dtype than the input.
    """
    out = check.outputs[i]
    xs = [check.inputs[j] for j in check.places]
    grads = grad(out, xs, _of(ct, out), retain_graph=True, allow_unused=True)
    found = []
    for g, x in zip(grads, xs, strict=True):
        if g is not None and g.shape != x.shape:
            raise GradcheckError("Analytical gradient has incorrect size")
        if g is not None and check.check_grad_dtypes and g._array.dtype != x._array.dtype:
            raise GradcheckError("Gradient has dtype mismatch")
        found.append(np.zeros(tuple(x.shape), x._array.dtype) if g is None else _host(g))
    return found


def _pulled_twice(check: _Check, i: int, ct: np.ndarray) -> list[np.ndarray]:
    """As `_pulled`. Raises: GradcheckError: a second run gives something else."""
    first, second = _pulled(check, i, ct), _pulled(check, i, ct)
    if check.nondet_tol < _apart(first, second) < 1e-12 * _apart(first, [-x for x in first]):
        # A program became C in between, which rounds differently from then on.
        first, second = second, _pulled(check, i, ct)
    if _apart(first, second) > check.nondet_tol:
        raise GradcheckError(
            "Backward is not reentrant, i.e., running backward with same input and grad_output "
            "multiple times gives different values, although analytical gradient matches "
            f"numerical gradient. The tolerance for nondeterminism was {check.nondet_tol}. If the "
            "function is random on purpose, pass nondet_tol=."
        )
    return first


def _apart(xs: list[np.ndarray], ys: list[np.ndarray]) -> float:
    sizes = [float(abs(a - b).max()) for a, b in zip(xs, ys, strict=True) if a.size]
    return max(sizes, default=0.0)


def _analytical(check: _Check, i: int, unit: complex) -> list[np.ndarray]:
    """The Jacobian of a part of output `i` by every input: a row per element of the input."""
    rows = [_pulled_twice(check, i, one) for one in _basis(check.outputs[i], unit)]
    return [
        np.array([row[k].reshape(-1) for row in rows]).reshape((len(rows), x.numel())).T
        for k, x in enumerate(check.inputs[j] for j in check.places)
    ]


def _check_backward(check: _Check) -> None:
    """Every Jacobian, element by element."""
    numerical = [_numerical(check, j) for j in check.places]
    for i, out in enumerate(check.outputs):
        for unit in reversed(_units(out)):
            for k, a in enumerate(_analytical(check, i, unit)):
                parts = [by[i].imag if unit == 1j else by[i].real for by in numerical[k]]
                n = parts[0] + 1j * parts[1] if len(parts) == 2 else parts[0]
                if not _close(a, n, check.rtol, check.atol):
                    part = _part("outputs", unit, _is_complex(out))
                    raise GradcheckError(_mismatch(i, check.places[k], n, a, prefix=part))


def _part(what: str, unit: complex, is_complex: bool) -> str:
    if not is_complex:
        return ""
    name = "imaginary" if unit == 1j else "real"
    return f"While considering the {name} part of complex {what} only, "


def _mismatch(i: int, j: int, n: Any, a: Any, *, prefix: str = "", mode: str = "") -> str:
    return (
        f"{prefix}Jacobian {mode}mismatch for output {i} with respect to input {j},\n"
        f"numerical:{tensor(np.asarray(n))}\nanalytical:{tensor(np.asarray(a))}\n"
    )


def _close(a: Any, n: Any, rtol: float, atol: float) -> bool:
    return bool(np.all(np.abs(a - n) <= atol + rtol * np.abs(n)))


# ---------------------------------------------------------------- forward mode


def _duals(check: _Check, j: int, t: Any) -> list[Any]:
    """The inputs, without a graph, with the tangent `t` in input `j`."""
    xs: list[Any] = [tensor(x._array) if isinstance(x, TensorBase) else x for x in check.inputs]
    xs[j] = make_dual(xs[j], t)
    return xs


def _pushed(check: _Check, j: int, t: Any) -> list[Any]:
    """The tangents of the outputs as tensors, None where there is none."""
    with dual_level():
        outs = _tensors(check.func(*_duals(check, j, t)))
        return [unpack_dual(o).tangent for o in outs]


def _forward(check: _Check, j: int, step: np.ndarray) -> list[np.ndarray]:
    shown = _tensors(check.func(*check.inputs))
    found = _pushed(check, j, _of(step, check.inputs[j]))
    return [
        np.zeros(tuple(o.shape), o._array.dtype) if t is None else _host(t)
        for o, t in zip(shown, found, strict=True)
        if _is_live(o)
    ]


def _check_forward(check: _Check) -> None:
    """Every Jacobian by forward mode, element by element."""
    for j in check.places:
        x = check.inputs[j]
        for unit, numerical in zip(_units(x), _numerical(check, j), strict=True):
            analytical = _columns(
                [_forward(check, j, one) for one in _basis(x, unit)], check.outputs
            )
            for i, (a, n) in enumerate(zip(analytical, numerical, strict=True)):
                if not _close(a, n, check.rtol, check.atol):
                    part = _part("inputs", unit, _is_complex(x))
                    mode = "computed with forward mode "
                    raise GradcheckError(_mismatch(i, j, n, a, prefix=part, mode=mode))


# ---------------------------------------------------------------- fast mode


def _direction(rng: np.random.Generator, x: Any) -> np.ndarray:
    """A random vector of length 1."""
    v = rng.random(tuple(x.shape))
    if _is_complex(x):
        v = v + 1j * rng.random(tuple(x.shape))
    length = np.linalg.norm(v)
    return v / length if length else v


def _check_fast(check: _Check, *, forward: bool) -> None:
    """Every Jacobian along one random direction of its input and one of its output."""
    rng = np.random.default_rng(0)
    us = {j: _direction(rng, check.inputs[j]) for j in check.places}
    vs = [_direction(rng, o) for o in check.outputs]
    pulled = [] if forward else [_pulled_twice(check, i, v) for i, v in enumerate(vs)]
    for k, (j, u) in enumerate(us.items()):
        dots = _forward(check, j, u) if forward else []
        for i, d in enumerate(_differences(check, j, u)):
            n = np.sum(np.conj(vs[i]) * d).real
            if forward:
                a = np.sum(np.conj(vs[i]) * dots[i]).real
            else:
                a = np.sum(np.conj(pulled[i][k]) * u).real
            atol = check.atol * max(1.0, float(np.abs(u).sum() * np.abs(vs[i]).sum()))
            if not _close(a, n, check.rtol, atol):
                mode = "computed with forward mode " if forward else ""
                raise GradcheckError(_mismatch(i, j, n, a, mode=mode) + _FAST)


_FAST = (
    "The numbers are those of fast mode, one random direction each; fast_mode=False compares the "
    "Jacobians element by element.\n"
)

# ---------------------------------------------------------------- further checks


def _check_multiplied(check: _Check) -> None:
    """Cotangents that are zero must give gradients that are, of the inputs' types."""
    xs = [check.inputs[j] for j in check.places]
    zeros = [_of(np.zeros(tuple(o.shape)), o) for o in check.outputs]
    for g, x in zip(
        grad(check.outputs, xs, zeros, retain_graph=True, allow_unused=True), xs, strict=True
    ):
        if g is None:
            continue
        if np.any(_host(g)):
            raise GradcheckError("backward not multiplied by grad_output")
        if g._array.dtype != x._array.dtype:
            raise GradcheckError("grad is incorrect type")
        if g.shape != x.shape:
            raise GradcheckError("grad is incorrect size")


def _check_undefined(check: _Check) -> None:
    """Backward must do with some of the outputs only."""
    xs = [check.inputs[j] for j in check.places]
    for k in range(1, len(check.outputs)):
        for some in itertools.combinations(check.outputs, k):
            zeros = [_of(np.zeros(tuple(o.shape)), o) for o in some]
            try:
                found = grad(some, xs, zeros, retain_graph=True, allow_unused=True)
            except Exception as error:
                raise GradcheckError(
                    "Expected backward function to handle undefined output grads: it must work where "
                    "only some of the outputs are used."
                ) from error
            if any(g is not None and np.any(_host(g)) for g in found):
                raise GradcheckError(
                    "Expected all input grads to be undefined or zero when all output grads are "
                    "undefined or zero."
                )


_BATCHED = (
    "gradcheck or gradgradcheck failed while testing batched gradient computation: backward, or "
    "forward mode, is not the same under vmap."
)


def _check_batched(check: _Check) -> None:
    """A batch of cotangents must give what each of them gives."""
    rng = np.random.default_rng(1)
    xs = [check.inputs[j] for j in check.places]
    for i, out in enumerate(check.outputs):
        cts = [_direction(rng, out) for _ in range(2)]
        each = [_pulled(check, i, ct) for ct in cts]
        try:
            batch = _of(np.stack(cts), out)
            found = grad(out, xs, batch, True, allow_unused=True, is_grads_batched=True)
        except Exception as error:
            raise GradcheckError(
                f"While computing batched gradients, got: {error}\n\n{_BATCHED}"
            ) from error
        for k, (j, g) in enumerate(zip(check.places, found, strict=True)):
            _compare_batched(i, j, g, [row[k] for row in each])


def _check_batched_forward(check: _Check) -> None:
    """A batch of tangents must give what each of them gives."""
    rng = np.random.default_rng(2)
    for j in check.places:
        x = check.inputs[j]
        ts = [_direction(rng, x) for _ in range(2)]
        each = [_pushed(check, j, _of(t, x)) for t in ts]
        live = [i for i, t in enumerate(each[0]) if t is not None]

        def push(t: Any, j: int = j, live: list[int] = live) -> list[Any]:
            found = _pushed(check, j, tensor(t))
            return [found[i]._array for i in live]

        try:
            found = funcgrad.vmap(push)(_of(np.stack(ts), x)._array)
        except Exception as error:
            raise GradcheckError(
                f"While computing batched gradients, got: {error}\n\n{_BATCHED}"
            ) from error
        for i, out in zip(live, found, strict=True):
            _compare_batched(i, j, tensor(out), [_host(row[i]) for row in each])


def _compare_batched(i: int, j: int, found: Any, each: Sequence[np.ndarray]) -> None:
    expected = np.stack(each)
    actual = np.zeros_like(expected) if found is None else _host(found)
    if not _close(actual, expected, 1e-5, 1e-8):
        raise GradcheckError(
            f"For output {i} and input {j}:\n\n{_BATCHED}\n\nGot:\n{tensor(actual)}\n\nExpected:\n"
            f"{tensor(expected)}"
        )


def _check_inputs(xs: Tensors) -> None:
    """Raises: ValueError: no input requires grad. RuntimeError: one overlaps itself."""
    live = [(i, x) for i, x in enumerate(xs) if _is_live(x)]
    for i, x in live:
        if x._array.dtype.name not in ("float64", "complex128"):
            sites.warn(
                f"Input #{i} requires gradient and is not a double precision floating point or "
                "complex. This check will likely fail if all the inputs are not of double precision "
                "floating point or complex. "
            )
        strides = x._array.strides if x._array.size else ()  # NumPy has zeros for no elements
        if any(s == 0 and n > 1 for s, n in zip(strides, x._array.shape, strict=False)):
            raise RuntimeError(
                f"The {i}th input has a dimension with stride 0. gradcheck only supports inputs that "
                f"are non-overlapping to be able to compute the numerical gradients correctly. You "
                f"should call .contiguous on the input before passing it to gradcheck."
            )
    if not live:
        raise ValueError(
            "gradcheck expects at least one input tensor to require gradient, but none of them have "
            "requires_grad=True."
        )


# ---------------------------------------------------------------- for users


def gradcheck(
    func: Callable[..., Any],
    inputs: Any,
    *,
    eps: float = 1e-6,
    atol: float = 1e-5,
    rtol: float = 1e-3,
    raise_exception: bool = True,
    nondet_tol: float = 0.0,
    check_undefined_grad: bool = True,
    check_grad_dtypes: bool = False,
    check_batched_grad: bool = False,
    check_batched_forward_grad: bool = False,
    check_forward_ad: bool = False,
    check_backward_ad: bool = True,
    fast_mode: bool = False,
    masked: bool | None = None,
) -> bool:
    """Whether the derivatives of `func` by its inputs that require grad agree with differences.

    ``|analytical - numerical| <= atol + rtol * |numerical|`` for central differences with step `eps`;
    use float64. `fast_mode` compares along random directions only.

    Raises: GradcheckError: they do not, unless `raise_exception` is False. ValueError: no input
    requires grad.

    >>> import compat as torch
    >>> x = torch.ones(2, dtype=torch.float64, requires_grad=True)
    >>> torch.autograd.gradcheck(lambda x: (x * x).sin(), x)
    True
    """
    if not (check_forward_ad or check_backward_ad):
        raise AssertionError(
            "Expected at least one of check_forward_ad or check_backward_ad to be True"
        )
    if check_batched_grad and not check_backward_ad:
        raise AssertionError(
            "Setting check_batched_grad=True requires check_backward_ad to be True"
        )
    if check_batched_forward_grad and not check_forward_ad:
        raise AssertionError(
            "Setting check_batched_forward_grad=True requires check_forward_ad to be True"
        )
    xs = _as_tuple(inputs)
    _check_inputs(xs)
    found = _tensors(func(*xs))
    outs = tuple([o for o in found if _is_live(o)])
    check = _Check(func, xs, outs, eps, atol, rtol, nondet_tol, check_grad_dtypes)
    try:
        if not outs:
            _check_constant(check)
            return True
        if check_backward_ad:
            _check_fast(check, forward=False) if fast_mode else _check_backward(check)
        if check_forward_ad:
            _check_fast(check, forward=True) if fast_mode else _check_forward(check)
        if check_batched_forward_grad:
            _check_batched_forward(check)
        if check_backward_ad:
            if check_batched_grad:
                _check_batched(check)
            _check_multiplied(check)
            if check_undefined_grad:
                _check_undefined(check)
    except GradcheckError:
        if raise_exception:
            raise
        return False
    return True


def _check_constant(check: _Check) -> None:
    """No output requires grad: none may change with the inputs."""

    def all_values() -> list[np.ndarray]:
        return [_host(o) for o in _tensors(check.func(*check.inputs))]

    before = all_values()
    for x in [check.inputs[j] for j in check.places]:
        old = x._array.copy()
        for one in itertools.chain(*(_basis(x, unit) for unit in _units(x))):
            x._array += _of(check.eps * one, x)._array
            try:
                after = all_values()
            finally:
                x._array[...] = old
            if any(np.any(a != b) for a, b in zip(before, after, strict=True)):
                raise GradcheckError("Numerical gradient for function expected to be zero")


def gradgradcheck(
    func: Callable[..., Any],
    inputs: Any,
    grad_outputs: Any = None,
    *,
    eps: float = 1e-6,
    atol: float = 1e-5,
    rtol: float = 1e-3,
    gen_non_contig_grad_outputs: bool = False,
    raise_exception: bool = True,
    nondet_tol: float = 0.0,
    check_undefined_grad: bool = True,
    check_grad_dtypes: bool = False,
    check_batched_grad: bool = False,
    check_fwd_over_rev: bool = False,
    check_rev_over_rev: bool = True,
    fast_mode: bool = False,
    masked: bool = False,
) -> bool:
    """Whether second derivatives of `func` agree with differences: `gradcheck` of its gradients.

    The gradients are those of random cotangents, or `grad_outputs`, by which they are checked too.

    Raises: as `gradcheck`.

    >>> import compat as torch
    >>> x = torch.ones(2, dtype=torch.float64, requires_grad=True)
    >>> torch.autograd.gradgradcheck(lambda x: (x * x).sin(), x)
    True
    """
    if not (check_fwd_over_rev or check_rev_over_rev):
        raise AssertionError(
            "Expected at least one of check_fwd_over_rev or check_rev_over_rev to be True"
        )
    if not check_rev_over_rev and (check_undefined_grad or check_batched_grad):
        name = "check_undefined_grad" if check_undefined_grad else "check_batched_grad"
        raise AssertionError(f"Setting {name}=True requires check_rev_over_rev to be True")
    xs = _as_tuple(inputs)
    _check_inputs(xs)
    live = [_is_live(x) for x in xs]
    if grad_outputs is None:
        rng = np.random.default_rng(3)
        outs = [o for o in _as_tuple(func(*xs)) if _is_live(o)]
        cts = tuple([_random(rng, o, gen_non_contig_grad_outputs) for o in outs])
    else:
        cts = _as_tuple(grad_outputs)

    def gradients(*args: Any) -> Tensors:
        given = [
            x.requires_grad_() if is_live and not _is_live(x) else x
            for x, is_live in zip(args[: len(xs)], live, strict=True)
        ]
        outs = [o for o in _as_tuple(func(*given)) if _is_live(o)]
        wanted = [x for x, is_live in zip(given, live, strict=True) if is_live]
        found = grad(outs, wanted, args[len(xs) :], create_graph=True, allow_unused=True)
        return tuple([g for g in found if g is not None])

    return gradcheck(
        gradients,
        (*xs, *cts),
        eps=eps,
        atol=atol,
        rtol=rtol,
        raise_exception=raise_exception,
        nondet_tol=nondet_tol,
        check_undefined_grad=check_undefined_grad,
        check_grad_dtypes=check_grad_dtypes,
        check_batched_grad=check_batched_grad,
        check_forward_ad=check_fwd_over_rev,
        check_backward_ad=check_rev_over_rev,
        fast_mode=fast_mode,
        masked=masked,
    )


def _random(rng: np.random.Generator, like: Any, apart: bool) -> Any:
    """A random cotangent that requires grad; `apart`: its elements are not next to each other."""
    values = rng.uniform(-1, 1, (*like.shape, 2) if apart else tuple(like.shape))
    if _is_complex(like):
        values = values + 1j * rng.uniform(-1, 1, values.shape)
    out = _of(values, like)
    if apart:
        out = tensor(out._array[..., 0])
    return out.requires_grad_()


__all__ = ["GradcheckError", "gradcheck", "gradgradcheck"]
