"""The primitives of random programs in JAX and in PyTorch, and an interpreter of programs for both.

A table's entry is the dotted name of the library's function, if that takes our operands and our
parameters as they are, or a function of the library and these. A counterpart is the library's own
function where there is one, so that its derivative is the library's; else the definition, written
with the library's functions.
"""

from __future__ import annotations

import math
import operator
import string
import types
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from funcgrad.ops.index import as_index
from funcgrad.ops.index_layout import ArrayIndex
from funcgrad.testing.programs import Program

Table = dict[str, str | Callable[..., Any]]


def evaluate(table: Table, library: Any, constant: Any, p: Program, xs: Sequence[Any]) -> list[Any]:
    """The program's results for the library's arrays `xs`.

    `constant` makes the library's arrays of the program's numbers; index arrays remain NumPy's.
    """
    values = dict(zip(p.inputs, xs, strict=True))
    for step in p.steps:
        operands = [
            values[a] if a.__class__ is int else a if _is_index(a) else constant(a)
            for a in step.operands
        ]
        found = table[step.primitive]
        if isinstance(found, str):
            out = operator.attrgetter(found)(library)(*operands, **step.params)
        else:
            out = found(library, *operands, **step.params)
        values.update(enumerate(out if isinstance(out, tuple) else (out,), step.place))
    return [values[k] for k in p.outs]


def _is_index(a: Any) -> bool:
    return isinstance(a, np.ndarray) and a.dtype.kind in "iu"


def _named(prefix: str, names: str) -> Table:
    return {name: prefix + name for name in names.split()}


# ---------------------------------------------------------------- places in flat arrays


def places(shape: tuple[int, ...], index: tuple[Any, ...], *arrays: Any) -> Any:
    """For every element of ``x[index]`` its place in the flat `x`, as NumPy counts."""
    found = [arrays[i.position] if isinstance(i, ArrayIndex) else i for i in as_index(index)]
    return np.arange(math.prod(shape)).reshape(shape)[tuple(found)]


def last_writes(where: Any) -> tuple[Any, Any]:
    """Of flat places written to in order: those places, each once, and the last writer of each."""
    last = {place: k for k, place in enumerate(where.ravel().tolist())}
    return np.array(list(last), int), np.array(list(last.values()), int)


def is_last_write(where: Any) -> Any:
    return np.isin(np.arange(where.size), last_writes(where)[1]).reshape(where.shape)


def recurrence(stack: Any, a: Any, b: Any, *, axis: int, reverse: bool) -> Any:
    """The definition, one element after the other."""
    n, at = b.shape[axis], (slice(None),) * axis
    order = range(n)[::-1] if reverse else range(n)
    s = [b[(*at, order[0])]]
    for i in order[1:]:
        s.append(a[(*at, i if reverse else i - 1)] * s[-1] + b[(*at, i)])
    return stack(s[::-1] if reverse else s, axis)


# ---------------------------------------------------------------- JAX


def _jax_written(out: Any, new: Any, where: Any) -> Any:
    """`out` with `new` written at the flat places; the last write wins."""
    at, writer = last_writes(where)
    return out.ravel().at[at].set(new.ravel()[writer]).reshape(out.shape)


def _jax_scatter_set(jax: Any, base: Any, new: Any, i: Any, *, index: Any) -> Any:
    where = places(base.shape, index, i)
    return _jax_written(base, jax.numpy.broadcast_to(new, where.shape), where)


def _jax_scatter_add(jax: Any, ct: Any, i: Any, *, shape: Any, index: Any) -> Any:
    flat = jax.numpy.zeros(math.prod(shape), ct.dtype)
    return flat.at[places(shape, index, i).ravel()].add(ct.ravel()).reshape(shape)


def _jax_dot_general(jax: Any, x: Any, y: Any, *, contracting: Any, batch: Any) -> Any:
    dtype = jax.numpy.result_type(x, y)
    return jax.lax.dot_general(x.astype(dtype), y.astype(dtype), (contracting, batch))


def _jax_fft(jax: Any, x: Any, *, axis: Any, inverse: bool, norm: str) -> Any:
    x = x + 0j
    for a in axis:  # fftn takes three axes at most
        x = (jax.numpy.fft.ifft if inverse else jax.numpy.fft.fft)(x, axis=a, norm=norm)
    return x


def _adjugate_along(det: Any, inverse: Any, e: Any) -> Any:
    """Of a regular matrix: the derivative of ``det(x) x^-1`` along `e`."""
    adjugate = det[..., None, None] * inverse
    trace = (inverse * e.swapaxes(-1, -2)).sum((-2, -1))[..., None, None]
    return trace * adjugate - inverse @ e @ adjugate


def _jax_triangular_solve(jax: Any, a: Any, b: Any, *, lower: bool, unit_diagonal: bool) -> Any:
    return jax.lax.linalg.triangular_solve(
        a, b, left_side=True, lower=lower, unit_diagonal=unit_diagonal
    )


JAX: Table = {
    **_named("numpy.", "negative positive add subtract multiply divide reciprocal square power"),
    **_named("numpy.", "sin cos tan arcsin arccos arctan sinh cosh tanh arcsinh arccosh arctanh"),
    **_named("numpy.", "exp exp2 expm1 log log2 log10 log1p sqrt cbrt logaddexp logaddexp2"),
    **_named("numpy.", "float_power arctan2 copysign sinc deg2rad rad2deg absolute sign"),
    **_named("numpy.", "conjugate real imag maximum minimum fmax fmin where clip matmul"),
    **_named("numpy.", "less less_equal greater greater_equal sum mean prod max min sort"),
    **_named("numpy.", "reshape transpose squeeze expand_dims broadcast_to flip roll tril triu"),
    **_named("numpy.", "diagonal"),
    **_named("numpy.linalg.", "inv det slogdet cholesky"),
    **_named("scipy.special.", "expit erf erfc ndtr log_ndtr i0 i1 i0e i1e erfinv logit ndtri"),
    **_named("scipy.special.", "entr gammaln digamma gamma xlogy xlog1py rel_entr logsumexp"),
    **_named("numpy.", "nan_to_num"),
    "expit_slope": lambda jax, x: jax.nn.sigmoid(x) * jax.nn.sigmoid(-x),
    "log_ndtr_slope": lambda jax, x: jax.scipy.stats.norm.pdf(x) / jax.scipy.stats.norm.cdf(x),
    "ndtri_exp": lambda jax, x: jax.scipy.special.ndtri(jax.numpy.exp(x)),
    **_named("nn.", "relu softmax log_softmax"),
    **_named("lax.", "cumsum cumprod cummax cummin"),
    "log_expit": "nn.log_sigmoid",
    "sigmoid": "nn.sigmoid",
    "logcumsumexp": "lax.cumlogsumexp",
    "zero_preserving_multiply": "numpy.multiply",
    # JAX's own has a wrong second derivative where the operands are equal.
    "hypot": lambda jax, x, y: jax.numpy.sqrt(x * x + y * y),
    "erfcx": lambda jax, x: jax.numpy.exp(x * x) * jax.scipy.special.erfc(x),
    "one_less_square": lambda jax, x: (1 - x) * (1 + x),
    "log_peak": lambda jax, a: a * jax.numpy.log(a) - a - jax.scipy.special.gammaln(a),
    "log_ratio": lambda jax, x, a: jax.numpy.log(x) - jax.numpy.log(a),
    "fallen_from": lambda jax, a, x: x - a - a * (jax.numpy.log(x) - jax.numpy.log(a)),
    "polygamma": lambda jax, x, *, n: jax.scipy.special.polygamma(n, x),
    "complex_from": lambda jax, x, y: x + 1j * y,
    "cast": lambda jax, x, *, dtype: x.astype(dtype),
    "var": lambda jax, x, *, axis, correction: jax.numpy.var(x, axis, ddof=correction),
    "std": lambda jax, x, *, axis, correction: jax.numpy.std(x, axis, ddof=correction),
    "norm2": lambda jax, x, *, axis: jax.numpy.sqrt((x * x.conj()).real.sum(axis)),
    "recurrence": lambda jax, a, b, **params: recurrence(jax.numpy.stack, a, b, **params),
    "diagonal_embed": lambda jax, x, *, shape, **params: (
        jax.numpy.zeros(math.prod(shape), x.dtype)
        .at[np.diagonal(np.arange(math.prod(shape)).reshape(shape), *params.values())]
        .set(x)
        .reshape(shape)
    ),
    "getitem": lambda jax, x, *, index: x[as_index(index)],
    "embed": lambda jax, x, *, shape, index: (
        jax.numpy.zeros(shape, x.dtype).at[as_index(index)].set(x)
    ),
    "repeat": lambda jax, x, *, repeats, axis: jax.numpy.repeat(x, np.array(repeats), axis),
    "concatenate": lambda jax, *xs, axis: jax.numpy.concatenate(xs, axis),
    "stack_arrays": lambda jax, *xs, axis: jax.numpy.stack(xs, axis),
    "gather": lambda jax, x, i, *, index: x.ravel()[places(x.shape, index, i)],
    "gather_last": lambda jax, x, i, *, index: (
        x.ravel()[places(x.shape, index, i)] * is_last_write(places(x.shape, index, i))
    ),
    "scatter_add": _jax_scatter_add,
    "scatter_last": lambda jax, ct, i, *, shape, index: _jax_written(
        jax.numpy.zeros(shape, ct.dtype), ct, places(shape, index, i)
    ),
    "scatter_set": _jax_scatter_set,
    "dot_general": _jax_dot_general,
    "matrix_solve": "numpy.linalg.solve",
    "triangular_solve": _jax_triangular_solve,
    "cofactor": lambda jax, x: (
        jax.numpy.linalg.det(x)[..., None, None] * jax.numpy.linalg.inv(x).swapaxes(-1, -2)
    ),
    "adjugate_along": lambda jax, x, e: _adjugate_along(
        jax.numpy.linalg.det(x), jax.numpy.linalg.inv(x), e
    ),
    "qr": lambda jax, x: tuple(jax.numpy.linalg.qr(x)),
    "pinv": lambda jax, x, *, rcond: jax.numpy.linalg.pinv(x, rcond),
    "fft": _jax_fft,
    "rfft": lambda jax, x, *, axis, norm: jax.numpy.fft.rfft(x, axis=axis, norm=norm),
    "irfft": lambda jax, x, *, axis, n, norm: jax.numpy.fft.irfft(x, n, axis=axis, norm=norm),
}


def jax_derivatives(
    jax: types.ModuleType, p: Program, weights: Sequence[Any], directions: Sequence[Any]
) -> dict[str, list[Any]]:
    """Values, the gradient of their weighted sum, and derivatives of both in a direction."""

    def f(*xs: Any) -> list[Any]:
        return evaluate(JAX, jax, lambda a: a, p, xs)

    def gradient(*xs: Any) -> Any:
        ys, back = jax.vjp(f, *xs)
        return ys, back(list(weights))

    (ys, grads), (tangents, turns) = jax.jvp(gradient, p.args, tuple(directions))
    found = {"value": ys, "gradient": grads, "tangent": tangents, "second": turns}
    return {key: [np.asarray(a) for a in arrays] for key, arrays in found.items()}


# ---------------------------------------------------------------- PyTorch


def _promoted(torch: Any, *xs: Any) -> list[Any]:
    """The tensors in their common dtype: most of PyTorch's functions ask for one."""
    dtype = torch.complex128 if any(x.is_complex() for x in xs) else torch.float64
    return [x.to(dtype) for x in xs]


def _joined(name: str) -> Callable[..., Any]:
    return lambda torch, *xs, axis: getattr(torch, name)(_promoted(torch, *xs), axis)


def _paired(name: str) -> Callable[..., Any]:
    return lambda torch, x, y: operator.attrgetter(name)(torch)(*_promoted(torch, x, y))


def _along(name: str, **renamed: str) -> Callable[..., Any]:
    """With `axis` as `dim`, and other parameters renamed."""
    names = {"axis": "dim", **renamed}
    found = operator.attrgetter(name)
    return lambda torch, x, **params: found(torch)(x, **{names[k]: v for k, v in params.items()})


def _running(name: str) -> Callable[..., Any]:
    """A running sum, product or extreme, from either end."""

    def run(torch: Any, x: Any, *, axis: int, reverse: bool) -> Any:
        y = getattr(torch, name)(x.flip(axis) if reverse else x, axis)
        y = y if torch.is_tensor(y) else y.values
        return y.flip(axis) if reverse else y

    return run


def _torch_logcumsumexp(torch: Any, x: Any, *, axis: int, reverse: bool) -> Any:
    """The definition: PyTorch's own loses a part of second derivatives where a gradient is 0."""
    return _running("cumsum")(torch, x.exp(), axis=axis, reverse=reverse).log()


def _read(torch: Any, x: Any, where: Any) -> Any:
    """The elements at flat places: PyTorch's slices have no negative steps."""
    return x.reshape(-1)[torch.from_numpy(np.array(where))]


def _written(torch: Any, out: Any, new: Any, where: Any) -> Any:
    """`out` with `new` written at the flat places; the last write wins."""
    at, writer = map(torch.from_numpy, last_writes(np.array(where)))
    return out.reshape(-1).index_put((at,), new.reshape(-1)[writer]).reshape(out.shape)


def _torch_scatter_set(torch: Any, base: Any, new: Any, i: Any, *, index: Any) -> Any:
    where = places(tuple(base.shape), index, i)
    return _written(torch, base, new.broadcast_to(where.shape), where)


def _torch_scatter_add(torch: Any, ct: Any, i: Any, *, shape: Any, index: Any) -> Any:
    at = torch.from_numpy(places(shape, index, i).ravel())
    flat = ct.new_zeros(math.prod(shape))
    return flat.index_put((at,), ct.reshape(-1), accumulate=True).reshape(shape)


def _torch_gather_last(torch: Any, x: Any, i: Any, *, index: Any) -> Any:
    where = places(tuple(x.shape), index, i)
    return _read(torch, x, where) * torch.from_numpy(is_last_write(where))


def _torch_prod(torch: Any, x: Any, *, axis: Any) -> Any:
    for a in sorted(axis, reverse=True):
        x = x.prod(a)
    return x


def _torch_expand_dims(torch: Any, x: Any, *, axis: Any) -> Any:
    for a in sorted(axis):
        x = x.unsqueeze(a)
    return x


def _torch_log_softmax(torch: Any, x: Any, *, axis: Any) -> Any:
    return x - x.logsumexp(axis, keepdim=True)


def _torch_repeat(torch: Any, x: Any, *, repeats: Any, axis: int) -> Any:
    return x.repeat_interleave(torch.tensor(repeats), axis)


def _torch_dot_general(torch: Any, x: Any, y: Any, *, contracting: Any, batch: Any) -> Any:
    """As an einsum: batch axes, free axes of `x`, free axes of `y`."""
    letters = iter(string.ascii_letters)
    ours, theirs = ([""] * x.ndim, [""] * y.ndim)
    for a, b in zip([*batch[0], *contracting[0]], [*batch[1], *contracting[1]], strict=True):
        ours[a] = theirs[b] = next(letters)
    free = [[a for a, c in enumerate(side) if not c] for side in (ours, theirs)]
    for side, rest in zip((ours, theirs), free, strict=True):
        for a in rest:
            side[a] = next(letters)
    out = [ours[a] for a in (*batch[0], *free[0])] + [theirs[a] for a in free[1]]
    spec = f"{''.join(ours)},{''.join(theirs)}->{''.join(out)}"
    return torch.einsum(spec, *_promoted(torch, x, y))


def _torch_where(torch: Any, condition: Any, x: Any, y: Any) -> Any:
    """Of one dtype: the second derivative raises where PyTorch is left to promote."""
    return torch.where(condition, *_promoted(torch, x, y))


def _torch_sinc(torch: Any, x: Any) -> Any:
    """As Euler's product: PyTorch's second derivative is wrong near 0."""
    product, t = 1.0, x * math.pi
    for _ in range(8):
        t = t / 2
        product = product * torch.cos(t)
    q = t * t
    return product * (1 - q / 6 * (1 - q / 20 * (1 - q / 42 * (1 - q / 72))))


def _torch_det(torch: Any, x: Any) -> Any:
    """Of regular matrices: the second derivative of PyTorch's own is NaN at equal singular values."""
    sign, log = torch.linalg.slogdet(x)
    return sign * log.exp()


def _torch_cofactor(torch: Any, x: Any) -> Any:
    return _torch_det(torch, x)[..., None, None] * torch.linalg.inv(x).mT


def _torch_triangular_solve(torch: Any, a: Any, b: Any, *, lower: bool, unit_diagonal: bool) -> Any:
    return torch.linalg.solve_triangular(a, b, upper=not lower, unitriangular=unit_diagonal)


def _torch_log_peak(torch: Any, a: Any) -> Any:
    """By Stirling's formula ten steps farther: PyTorch's trigamma has 9 digits."""
    x = a + 10.0
    tail = 1 / (12 * x) - 1 / (360 * x**3) + 1 / (1260 * x**5) - 1 / (1680 * x**7)
    log_gamma = (x - 0.5) * torch.log(x) - x + 0.5 * math.log(2.0 * math.pi) + tail
    return a * torch.log(a) - a - log_gamma + sum(torch.log(a + k) for k in range(10))


TORCH: Table = {
    **_named("", "negative positive add subtract multiply divide reciprocal square sqrt absolute"),
    **_named("", "sin cos tan arcsin arccos arctan sinh cosh tanh arcsinh arccosh arctanh"),
    **_named("", "exp expm1 log log2 log10 log1p logaddexp logaddexp2 float_power hypot"),
    **_named("", "arctan2 copysign deg2rad rad2deg sign relu maximum minimum fmax fmin clip"),
    **_named("", "less less_equal greater greater_equal reshape"),
    **_named("special.", "expit erf erfc erfcx erfinv ndtr log_ndtr ndtri logit i0 i1 i0e i1e"),
    **_named("special.", "entr gammaln digamma xlogy xlog1py"),
    "nan_to_num": "nan_to_num",
    "expit_slope": lambda torch, x: torch.sigmoid(x) * torch.sigmoid(-x),
    "log_ndtr_slope": lambda torch, x: (
        torch.exp(-x * x / 2) / math.sqrt(2 * math.pi) / torch.special.ndtr(x)
    ),
    "ndtri_exp": lambda torch, x: torch.special.ndtri(torch.exp(x)),
    **_named("linalg.", "inv qr"),
    "power": "pow",
    "where": _torch_where,
    "conjugate": lambda torch, x: x.conj().resolve_conj(),
    "real": lambda torch, x: x.real if x.is_complex() else x,
    "imag": lambda torch, x: x.imag if x.is_complex() else x * 0,
    "exp2": lambda torch, x: torch.pow(2.0, x),
    "log_expit": "nn.functional.logsigmoid",
    "sigmoid": "sigmoid",
    "zero_preserving_multiply": "multiply",
    "gamma": lambda torch, x: torch.lgamma(x).exp(),  # of positive numbers
    "one_less_square": lambda torch, x: (1 - x) * (1 + x),
    "log_peak": _torch_log_peak,
    "log_ratio": lambda torch, x, a: torch.log(x) - torch.log(a),
    "fallen_from": lambda torch, a, x: x - a - a * (torch.log(x) - torch.log(a)),
    "polygamma": lambda torch, x, *, n: torch.polygamma(n, x),
    "cbrt": lambda torch, x: x ** (1 / 3),  # of positive numbers
    "rel_entr": lambda torch, x, y: torch.xlogy(x, x) - torch.xlogy(x, y),
    "complex_from": lambda torch, x, y: torch.complex(*torch.broadcast_tensors(x, y)),
    "cast": lambda torch, x, *, dtype: x.to(getattr(torch, dtype.name)),
    **{name: _along(name) for name in ["sum", "mean", "logsumexp"]},
    **{name: _along(name, correction="correction") for name in ("var", "std")},
    "norm2": _along("linalg.vector_norm"),
    "prod": _torch_prod,
    "max": _along("amax"),
    "min": _along("amin"),
    "log_softmax": _torch_log_softmax,
    "softmax": lambda torch, x, *, axis: _torch_log_softmax(torch, x, axis=axis).exp(),
    **{name: _running(name) for name in ["cumsum", "cumprod", "cummax", "cummin"]},
    "logcumsumexp": _torch_logcumsumexp,
    "sort": lambda torch, x, *, axis: torch.sort(x, dim=axis).values,
    "recurrence": lambda torch, a, b, **params: recurrence(torch.stack, a, b, **params),
    "flip": _along("flip", axis="dims"),
    "transpose": _along("permute", axes="dims"),
    "squeeze": _along("squeeze"),
    "expand_dims": _torch_expand_dims,
    "broadcast_to": lambda torch, x, *, shape: x.broadcast_to(shape),
    "diagonal": _along("diagonal", offset="offset", axis1="dim1", axis2="dim2"),
    "diagonal_embed": lambda torch, x, *, shape, offset, axis1, axis2: torch.diag_embed(
        x, offset, axis1, axis2
    ),
    "tril": lambda torch, x, *, k: x.tril(k),
    "triu": lambda torch, x, *, k: x.triu(k),
    "getitem": lambda torch, x, *, index: _read(torch, x, places(tuple(x.shape), index)),
    "embed": lambda torch, x, *, shape, index: _written(
        torch, x.new_zeros(shape), x, places(shape, index)
    ),
    "repeat": _torch_repeat,
    "roll": _along("roll", shift="shifts", axis="dims"),
    "concatenate": _joined("cat"),
    "stack_arrays": _joined("stack"),
    "gather": lambda torch, x, i, *, index: _read(torch, x, places(tuple(x.shape), index, i)),
    "gather_last": _torch_gather_last,
    "scatter_add": _torch_scatter_add,
    "scatter_last": lambda torch, ct, i, *, shape, index: _written(
        torch, ct.new_zeros(shape), ct, places(shape, index, i)
    ),
    "scatter_set": _torch_scatter_set,
    "matmul": _paired("matmul"),
    "dot_general": _torch_dot_general,
    "matrix_solve": _paired("linalg.solve"),
    "triangular_solve": _torch_triangular_solve,
    "slogdet": lambda torch, x: tuple(torch.linalg.slogdet(x)),
    "cholesky": lambda torch, x: torch.linalg.cholesky((x + x.mH) / 2),
    "det": _torch_det,
    "cofactor": _torch_cofactor,
    "adjugate_along": lambda torch, x, e: _adjugate_along(
        _torch_det(torch, x), torch.linalg.inv(x), e
    ),
    "sinc": _torch_sinc,
    "pinv": lambda torch, x, *, rcond: torch.linalg.pinv(x, rtol=rcond),
    "fft": lambda torch, x, *, axis, inverse, norm: (
        torch.fft.ifftn if inverse else torch.fft.fftn
    )(x, dim=axis, norm=norm),
    "rfft": _along("fft.rfft", norm="norm"),
    "irfft": _along("fft.irfft", n="n", norm="norm"),
}


# PyTorch's second derivative of log(gamma) is right to 5e-10, and programs enlarge that.
TORCH_ROUGH = {"gammaln", "digamma", "gamma", "polygamma"}


def torch_derivatives(
    torch: types.ModuleType, p: Program, weights: Sequence[Any], directions: Sequence[Any]
) -> dict[str, list[Any]]:
    """What `jax_derivatives` gives. PyTorch's gradients of complex numbers are the conjugates."""

    def constant(a: Any) -> Any:
        return torch.from_numpy(np.array(a))

    def f(*xs: Any) -> tuple[Any, ...]:
        return tuple(evaluate(TORCH, torch, constant, p, xs))

    def gradient(*xs: Any) -> Any:
        ys, back = torch.func.vjp(f, *xs)
        return ys, back(tuple(w.conj() for w in ws))

    xs, ws, ts = ([constant(a) for a in arrays] for arrays in (p.args, weights, directions))
    (ys, grads), (tangents, turns) = torch.func.jvp(gradient, tuple(xs), tuple(ts))
    conjugates = {"gradient": [g.conj() for g in grads], "second": [g.conj() for g in turns]}
    found = {"value": ys, "tangent": tangents, **conjugates}
    return {key: [a.numpy(force=True) for a in arrays] for key, arrays in found.items()}
