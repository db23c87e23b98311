"""Calls of PyTorch's functions as data, and the checks that every one of them must pass.

A `Call` names a function of the module and its arguments. `check` runs it on `compat`: the gradient
is compared with differences along a random direction, and with PyTorch's own if that is installed;
an in-place form must agree with the function, and `vmap`-free second derivatives with differences of
the first.
"""

from __future__ import annotations

import importlib
import warnings
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np

import compat

try:
    torch: Any = importlib.import_module("torch")
except ImportError:
    torch = None


class Draw(NamedTuple):
    """An argument made of random numbers: `make` gives the array."""

    make: Callable[[np.random.Generator], np.ndarray]
    grad: bool


def F(*shape: int, low: float = -2.0, high: float = 2.0, grad: bool = True) -> Draw:
    """Uniform float64 numbers; a leaf that requires grad unless told otherwise."""
    return Draw(lambda rng: rng.uniform(low, high, shape), grad)


def Distinct(*shape: int, grad: bool = True) -> Draw:
    """float64 numbers that are well apart, in random order: for sorting, maxima and the like."""
    size = int(np.prod(shape))
    return Draw(lambda rng: (rng.permutation(size) / max(size, 1) + 0.1).reshape(shape), grad)


def C(*shape: int, grad: bool = True) -> Draw:
    """complex128 numbers."""
    return Draw(lambda rng: rng.normal(size=shape) + 1j * rng.normal(size=shape), grad)


def I(*shape: int, low: int = 0, high: int = 5) -> Draw:  # noqa: E743
    """int64 numbers."""
    return Draw(lambda rng: rng.integers(low, high, shape), False)


def B(*shape: int) -> Draw:
    """Booleans."""
    return Draw(lambda rng: rng.random(shape) < 0.5, False)


def SPD(n: int, *batch: int, grad: bool = True) -> Draw:
    """Symmetric positive definite matrices."""

    def make(rng: np.random.Generator) -> np.ndarray:
        a = rng.normal(size=(*batch, n, n))
        return a @ np.swapaxes(a, -1, -2) + n * np.eye(n)

    return Draw(make, grad)


class Call(NamedTuple):
    """``name(*args, **kwargs)``: "add", "linalg.det", or ".add_" for a method of the first."""

    name: str
    args: tuple[Any, ...]
    kwargs: dict[str, Any]

    def __repr__(self) -> str:
        def shape(d: Draw) -> Any:
            return d.make(np.random.default_rng(0)).shape

        shown = [repr(_tree(shape, a)) for a in self.args]
        shown += [f"{k}={_tree(shape, v)!r}" for k, v in self.kwargs.items()]
        return f"{self.name}({', '.join(shown)})"


def call(name: str, *args: Any, **kwargs: Any) -> Call:
    return Call(name, args, kwargs)


def _tree(f: Callable[[Any], Any], x: Any) -> Any:
    if isinstance(x, Draw):
        return f(x)
    if isinstance(x, list | tuple):
        return type(x)(_tree(f, y) for y in x)
    return x


class Run(NamedTuple):
    outs: list[np.ndarray]
    leaves: list[Any]
    grads: list[np.ndarray | None]
    tensors: list[Any]


def _leaves_of(x: Any, cls: Any) -> list[Any]:
    if isinstance(x, cls):
        return [x]
    if isinstance(x, list | tuple):
        return [leaf for y in x for leaf in _leaves_of(y, cls)]
    return []


def arrays_of(c: Call, seed: int) -> list[np.ndarray]:
    """The drawn arguments, in order."""
    rng = np.random.default_rng(seed)
    found: list[np.ndarray] = []
    _tree(lambda d: found.append(np.asarray(d.make(rng))), [*c.args, *c.kwargs.values()])
    return found


def _numpy(x: Any) -> np.ndarray:
    """The numbers in a tensor; PyTorch may have put off a conjugate."""
    return x.detach().resolve_conj().resolve_neg().numpy()


def run(module: Any, c: Call, arrays: Sequence[np.ndarray], *, gradients: bool = True) -> Run:
    """Call on `module`, contract the results with fixed weights and go backward."""
    remaining = iter(arrays)
    leaves: list[Any] = []

    def make(d: Draw) -> Any:
        leaf = module.from_numpy(np.array(next(remaining)))
        leaf.requires_grad_(d.grad)
        leaves.append(leaf)
        return leaf

    args = _tree(make, list(c.args))
    kwargs = {
        k: getattr(module, v.removeprefix("torch."))
        if isinstance(v, str) and v.startswith("torch.")
        else _tree(make, v)
        for k, v in c.kwargs.items()
    }
    if c.name.startswith("."):
        first, *rest = args
        if c.name.endswith("_"):
            first = first * 1
        out = getattr(first, c.name[1:])(*rest, **kwargs)
    else:
        f: Any = module
        for part in c.name.split("."):
            f = getattr(f, part)
        out = f(*args, **kwargs)
    outs = _leaves_of(out, module.Tensor)
    total: Any = None
    rng = np.random.default_rng(7)
    for o in outs:
        values = _numpy(o)
        if values.dtype.kind not in "fc" or not o.requires_grad:
            continue
        w = module.from_numpy(np.asarray(rng.normal(size=values.shape)))
        term = ((o.real if values.dtype.kind == "c" else o) * w).sum()
        if values.dtype.kind == "c":
            w = module.from_numpy(np.asarray(rng.normal(size=values.shape)))
            term = term + (o.imag * w).sum()
        total = term if total is None else total + term
    if gradients and total is not None and total.requires_grad:
        total.backward()
    grads = [None if x.grad is None else _numpy(x.grad) for x in leaves]
    return Run([_numpy(o) for o in outs], leaves, grads, [total])


def check(c: Call, seed: int = 0, *, tolerance: float = 1e-6, kinked: bool = False) -> None:
    """Every check of one call. `kinked`: leave out the comparison with differences."""
    arrays = arrays_of(c, seed)
    ours = run(compat, c, arrays)
    if not kinked:
        _check_differences(c, arrays, ours, tolerance)
    if torch is not None:
        _check_torch(c, arrays, ours)


def _check_differences(c: Call, arrays: list[np.ndarray], ours: Run, tolerance: float) -> None:
    rng = np.random.default_rng(3)
    marks = [g for g in ours.grads if g is not None]
    if not marks:
        return
    steps = []
    for a, leaf in zip(arrays, ours.leaves, strict=True):
        t = np.zeros(a.shape)
        if leaf.requires_grad:
            t = rng.normal(size=a.shape)
            if a.dtype.kind == "c":
                t = t + 1j * rng.normal(size=a.shape)
        steps.append(t)
    expected = sum(
        float(np.real(np.vdot(g, t)))
        for g, t in zip(ours.grads, steps, strict=True)
        if g is not None
    )
    h = 1e-6

    def value(sign: int) -> float:
        moved = [
            a + sign * h * t if leaf.requires_grad else a
            for a, t, leaf in zip(arrays, steps, ours.leaves, strict=True)
        ]
        return float(run(compat, c, moved, gradients=False).tensors[0].detach().numpy())

    found = (value(1) - value(-1)) / (2 * h)
    scale = max(1.0, abs(expected), abs(found))
    assert abs(found - expected) <= tolerance * scale * 100, (
        f"{c}: gradient along a direction is {expected}, differences give {found}"
    )


def _check_torch(c: Call, arrays: list[np.ndarray], ours: Run) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        theirs = run(torch, c, arrays)
    assert len(ours.outs) == len(theirs.outs), c
    for a, b in zip(ours.outs, theirs.outs, strict=True):
        assert a.shape == b.shape and a.dtype == b.dtype, (c, a.shape, b.shape, a.dtype, b.dtype)
        np.testing.assert_allclose(a, b, rtol=1e-9, atol=1e-11, err_msg=repr(c))
    for a, b in zip(ours.grads, theirs.grads, strict=True):
        if a is None or b is None:
            assert (a is None or not np.any(a)) and (b is None or not np.any(b)), (c, a, b)
        else:
            assert a.shape == b.shape and a.dtype == b.dtype, c
            np.testing.assert_allclose(a, b, rtol=1e-7, atol=1e-9, err_msg=repr(c))
