"""Layers: convolutions, pools, batch normalization, a gated recurrent unit."""

from __future__ import annotations

from numbers import Integral
from typing import Any

import numpy as np

from funcgrad import nn
from funcgrad.ops.conv import conv as _conv

from .._function import Function
from .._graph import TensorCore, apply, array_of

__all__ = ["batchnorm", "conv_nd", "gru", "max_pool"]


def _sizes(what: str, given: Any, count: int, least: int) -> tuple[int, ...]:
    """A number for each of `count` axes, of which one may be given for all.

    Raises: ValueError: there are others, or one is below `least`.
    """
    found: Any = (given,) * count if isinstance(given, Integral) else tuple(given)
    if len(found) != count or not all(isinstance(i, Integral) and int(i) >= least for i in found):
        raise ValueError(f"`{what}`: need {count} integers from {least} on, or one, got {given}")
    return tuple(int(i) for i in found)


def _require_fit(sizes: Any, windows: Any, strides: Any, extra: str = "") -> None:
    """Whether windows cover axes without a rest.

    Raises: ValueError: they do not.
    """
    if any(n < w or (n - w) % s for n, w, s in zip(sizes, windows, strides, strict=True)):
        raise ValueError(
            f"windows of {tuple(windows)} in steps of {tuple(strides)} leave a rest of axes of "
            f"{tuple(sizes)}; need n = window + k stride on each{extra}"
        )


# ---------------------------------------------------------------- windows


def _convolved(x: Any, w: Any, strides: Any, pads: Any, dilations: Any) -> Any:
    return _conv(
        x,
        w,
        strides=strides,
        padding=tuple((p, p) for p in pads),
        lhs_dilation=(1,) * len(strides),
        rhs_dilation=dilations,
        groups=1,
    )


_convolve = Function("conv_nd", _convolved, operands="x w")
_pool = Function("max_pool", lambda x, pool, strides: nn.max_pool(x, pool, stride=strides))


def conv_nd(
    x: Any,
    filter_bank: Any,
    *,
    stride: Any,
    padding: Any = 0,
    dilation: Any = 1,
    constant: bool | None = None,
) -> Any:
    """``y[n, o, p] = sum_{c,k} x[n, c, p * stride + k * dilation - padding] * w[o, c, k]``.

    Raises: ValueError: channels or numbers of axes do not fit, or the windows leave a rest.

    >>> import numpy as np
    >>> from compat.mygrad.nnet.layers import conv_nd
    >>> conv_nd(np.arange(4.0).reshape(1, 1, 4), np.array([[[1.0, 10.0]]]), stride=1)
    Tensor([[[10., 21., 32.]]])
    """
    shape, kernel = array_of(x).shape, array_of(filter_bank).shape
    if len(shape) < 3:
        raise ValueError(f"conv_nd: x has the shape {shape}; need (N, C, ...), three axes or more")
    if len(shape) != len(kernel):
        raise ValueError(
            f"conv_nd: x has {len(shape)} axes and filter_bank {len(kernel)}; need as many"
        )
    if shape[1] != kernel[1]:
        raise ValueError(
            f"conv_nd: x has {shape[1]} channels and filter_bank {kernel[1]}; need as many"
        )
    count = len(shape) - 2
    strides = _sizes("stride", stride, count, 1)
    pads = _sizes("padding", padding, count, 0)
    dilations = _sizes("dilation", dilation, count, 1)
    padded = [n + 2 * p for n, p in zip(shape[2:], pads, strict=True)]
    windows = [(w - 1) * d + 1 for w, d in zip(kernel[2:], dilations, strict=True)]
    rest = f" (with padding {pads} and dilation {dilations})"
    _require_fit(padded, windows, strides, rest)
    return apply(_convolve, (x, filter_bank), (strides, pads, dilations), constant=constant)


def max_pool(x: Any, pool: Any, stride: Any, *, constant: bool | None = None) -> Any:
    """The largest elements of windows over the last axes, as many as `pool` has lengths.

    Derivative: that of the largest element; the first of equal ones takes all.
    Raises: ValueError: the windows leave a rest, or there are too many lengths.

    >>> import numpy as np
    >>> from compat.mygrad.nnet.layers import max_pool
    >>> max_pool(np.array([1.0, 3.0, 2.0, 5.0]), (2,), 2)
    Tensor([3., 5.])
    """
    window = _sizes("pool", tuple(np.asarray(pool).tolist()), len(pool), 1)
    shape = array_of(x).shape
    if len(window) > len(shape):
        raise ValueError(
            f"`pool`: {len(window)} lengths for {len(shape)} axes; need as many or fewer"
        )
    strides = _sizes("stride", stride, len(window), 1)
    _require_fit(shape[len(shape) - len(window) :], window, strides)
    return apply(_pool, (x,), (window, strides), constant=constant)


# ---------------------------------------------------------------- batch normalization


def _normalized(x: Any, *rest: Any) -> Any:
    *parameters, has_gamma, has_beta, eps = rest
    axes = tuple(i for i in range(x.ndim) if i != 1)
    along = tuple(-1 if i == 1 else 1 for i in range(x.ndim))
    y = (x - np.mean(x, axes, keepdims=True)) / np.sqrt(np.var(x, axes, keepdims=True) + eps)
    if has_gamma:
        y = y * np.reshape(parameters[0], along)
    return y + np.reshape(parameters[-1], along) if has_beta else y


_normalize = Function("batchnorm", _normalized)


def batchnorm(
    x: Any, *, gamma: Any = None, beta: Any = None, eps: float, constant: bool | None = None
) -> Any:
    """``gamma (x - mean) / sqrt(var + eps) + beta``, with mean and variance over all axes but 1."""
    given = [p for p in (gamma, beta) if p is not None]
    flags = gamma is not None, beta is not None
    return apply(_normalize, (x, *given), (*flags, eps), constant=constant)


# ---------------------------------------------------------------- recurrent


def _unrolled(
    x: Any,
    uz: Any,
    wz: Any,
    bz: Any,
    ur: Any,
    wr: Any,
    br: Any,
    uh: Any,
    wh: Any,
    bh: Any,
    *more: Any,
) -> Any:
    s, drop_u, drop_w = more
    parts = [np.matmul(x, u) for u in (uz, ur, uh)]
    weights = [wz, wr, wh]
    if drop_u is not None:
        parts = [p * d for p, d in zip(parts, drop_u, strict=True)]
        weights = [w * d for w, d in zip(weights, drop_w, strict=True)]
    zs, rs, hs = (p + b for p, b in zip(parts, (bz, br, bh), strict=True))
    path = [s]
    for t in range(x.shape[0]):
        z = nn.sigmoid(zs[t] + np.matmul(s, weights[0]))
        r = nn.sigmoid(rs[t] + np.matmul(s, weights[1]))
        h = np.tanh(hs[t] + np.matmul(r * s, weights[2]))
        s = (1 - z) * h + z * s
        path.append(s)
    return np.stack(path)


_gru = Function("gru", _unrolled)


def gru(
    X: Any,
    Uz: Any,
    Wz: Any,
    bz: Any,
    Ur: Any,
    Wr: Any,
    br: Any,
    Uh: Any,
    Wh: Any,
    bh: Any,
    s0: Any = None,
    bp_lim: int | None = None,
    dropout: float = 0.0,
    constant: bool | None = None,
) -> Any:
    """The states of a gated recurrent unit, from the first on: ``(T, N, C) -> (T + 1, N, D)``.

    ``z = sigmoid(x Uz + s Wz + bz)``, ``r = sigmoid(x Ur + s Wr + br)``,
    ``h = tanh(x Uh + (r s) Wh + bh)``, ``s' = (1 - z) h + z s``. `dropout`: the share of the weights
    from state to state, and of the parts of the inputs, that are 0 in this call.

    Raises: ValueError: `s0` is no constant, or `dropout` no share. NotImplementedError: `bp_lim`.
    Source: Cho et al., "Learning phrase representations using RNN encoder-decoder", EMNLP (2014).
    """
    fixed = isinstance(s0, np.ndarray) or (
        isinstance(s0, TensorCore) and (constant or s0._constant)
    )
    if s0 is not None and not fixed:
        raise ValueError("gru: s0 has no gradient here; need an array, or a constant tensor")
    if not 0.0 <= dropout < 1.0:
        raise ValueError(f"`dropout`: need a share from 0 to below 1, got {dropout}")
    steps, count, _ = array_of(X).shape
    if bp_lim is not None and bp_lim < steps - 1:
        raise NotImplementedError(
            f"gru: bp_lim={bp_lim} would cut gradients after that many of {steps} steps; run the "
            "steps in groups, each from a constant s0"
        )
    operands = (X, Uz, Wz, bz, Ur, Wr, br, Uh, Wh, bh)
    dtype = max(array_of(a).dtype for a in operands)
    (width,) = array_of(bz).shape
    state = np.zeros((count, width), dtype)
    if s0 is not None:
        state[...] = array_of(s0)
    drops: tuple[Any, Any] = (None, None)
    if dropout:
        kept = 1 - dropout
        drop_u = np.random.binomial(1, kept, (3, 1, count, width)) / kept
        drop_w = np.random.binomial(1, kept, (3, width, width)) / kept
        drops = drop_u.astype(dtype), drop_w.astype(dtype)
    return apply(_gru, operands, (state, *drops), constant=constant)
