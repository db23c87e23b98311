"""Attention: sums of values, weighted by how well their keys fit a query.

A mask is added to the scores, 0 where a key may be looked at and -inf where not; where no key may be,
the result is 0 (`softmax_or_zero`), as in PyTorch.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from .. import numpy as fnp
from ..core import aval_of
from ..errors import ArgumentError, ShapeError, where
from ..ops.contract import dot_general
from ..ops.select import stop_gradient
from ..ops.select import where as choose
from ..ops.softmax import at_least_half, exp_below, softmax

Shape = tuple[int, ...]


def softmax_or_zero(x: Any, axis: tuple[int, ...] = (-1,)) -> Any:
    """The softmax along the axes, and 0 instead of NaN where everything is -inf.

    >>> softmax_or_zero(np.array([[0.0, 0.0], [-np.inf, -np.inf]])).tolist()
    [[0.5, 0.5], [0.0, 0.0]]
    """
    weights = exp_below(x, fnp.max(stop_gradient(x), axis=axis, keepdims=True))
    return weights / at_least_half(fnp.sum(weights, axis=axis, keepdims=True))


def _batched(x: Any, lead: Shape) -> Any:
    """`x` with these axes before its matrices."""
    shape = aval_of(x).shape
    return x if shape[:-2] == lead else fnp.broadcast_to(x, lead + shape[-2:])


def _scores(q: Any, k: Any) -> Any:
    """``q @ k.T`` of matrices along the last two axes, whose other axes are the same."""
    n = aval_of(q).ndim - 2
    return dot_general(q, k, contracting=((n + 1,), (n + 1,)), batch=(tuple(range(n)),) * 2)


def _weighted(weights: Any, v: Any) -> Any:
    """``weights @ v`` of such matrices."""
    n = aval_of(v).ndim - 2
    return dot_general(weights, v, contracting=((n + 1,), (n,)), batch=(tuple(range(n)),) * 2)


def _penalty(mask: Any, dtype: Any, *, hidden: bool) -> Any:
    """What is added to scores: the mask, or -inf where a boolean one is `hidden`."""
    if aval_of(mask).dtype.kind != "b":
        return mask
    zero, low = np.zeros((), dtype), np.full((), -math.inf, dtype)
    return choose(mask, low, zero) if hidden else choose(mask, zero, low)


def scaled_dot_product_attention(
    query: Any,
    key: Any,
    value: Any,
    mask: Any = None,
    keep: Any = None,
    *,
    causal: bool = False,
    scale: float | None = None,
    grouped: bool = False,
) -> Any:
    """``softmax(query @ key.T * scale + mask) @ value``.

    `mask`: numbers that are added, or booleans, True where a key may be looked at. `causal`: query i
    sees the keys up to i only. `keep`: factors of the weights, for dropout. `scale` is by default
    ``1 / sqrt(e)``. With `grouped` there may be fewer heads, the third axis from the end, of keys and
    values than of queries: each serves several in a row. Leading axes broadcast.

    Shapes: ``(*a, l, e), (*a, s, e), (*a, s, v) -> (*a, l, v)``; `mask` and `keep` broadcast to
    ``(*a, l, s)``.
    Dtypes: floating.
    Derivative: that of the composition; 0 where no key may be looked at.
    Raises: ShapeError: the shapes do not fit.
    Source: Vaswani et al., "Attention is all you need", NeurIPS 2017.

    >>> q = np.zeros((2, 1))
    >>> scaled_dot_product_attention(q, q, np.array([[2.0], [4.0]]), causal=True).tolist()
    [[2.0], [3.0]]
    """
    if grouped:
        key, value = _repeated(query, key), _repeated(query, value)
    avals = [aval_of(x) for x in (query, key, value)]
    lead = np.broadcast_shapes(*[a.shape[:-2] for a in avals])
    q, k, v = (_batched(x, lead) for x in (query, key, value))
    width = avals[0].shape[-1]
    if scale is None:
        scale = 1 / math.sqrt(width) if width else 1.0
    scores = _scores(q * scale, k)
    if causal:
        future = np.triu(np.ones(aval_of(scores).shape[-2:], bool), 1)
        scores = scores + np.where(future, -math.inf, 0.0).astype(avals[0].dtype)
    if mask is None:
        weights = softmax(scores, axis=(aval_of(scores).ndim - 1,))
    else:
        weights = softmax_or_zero(scores + _penalty(mask, avals[0].dtype, hidden=False))
    return _weighted(weights if keep is None else weights * keep, v)


def _repeated(query: Any, x: Any) -> Any:
    """Each head as often as there are queries for it.

    Raises: ShapeError: the heads of the queries are no multiple.
    """
    many, few = aval_of(query).shape[-3], aval_of(x).shape[-3]
    if few == many:
        return x
    if not few or many % few:
        raise ShapeError(
            f"scaled_dot_product_attention: {many} heads of queries for {few} of keys and values; "
            f"need a multiple{where()}"
        )
    return fnp.repeat(x, many // few, axis=-3)


# ---------------------------------------------------------------- several heads


def multi_head_attention(
    query: Any,
    key: Any,
    value: Any,
    w_in: Any,
    w_q: Any,
    w_k: Any,
    w_v: Any,
    b_in: Any,
    bias_k: Any,
    bias_v: Any,
    w_out: Any,
    b_out: Any,
    mask: Any,
    padding: Any,
    keep: Any,
    *,
    heads: int,
    zero: bool = False,
    weights: str = "none",
) -> Any:
    """Attention between projections, `heads` times side by side; what is not there is None.

    `key` None is the query, `value` None the key. The projections are the rows of `w_in`, or `w_q`,
    `w_k` and `w_v`; their biases those of `b_in`. `bias_k` and `bias_v` are one more key and value for
    all, `zero` one of zeros. `mask`, for all or ``(n * heads, l, s)``, and `padding`, of the keys, are
    True where a key must not be looked at, or numbers that are added. `keep`: factors of the weights,
    for dropout. `weights` that are returned too: "none", "each" head's, or their "mean"; then a row
    that looks at nothing is NaN.

    Shapes: ``query: (l, n, e), key: (s, n, ek), value: (s, n, ev) -> (l, n, e)``, and weights
    ``(n, heads, l, s)`` or ``(n, l, s)``.
    Dtypes: floating.
    Derivative: that of the composition.
    Raises: ArgumentError: `weights` is something else. ShapeError: the shapes do not fit.
    Source: Vaswani et al., "Attention is all you need", NeurIPS 2017.

    >>> one, none = np.ones((1, 1)), (None,)
    >>> x = np.array([[[1.0]], [[2.0]]])
    >>> multi_head_attention(
    ...     x, None, None, 0 * np.ones((3, 1)) + [[0], [0], [1]], *none * 6, one, *none * 4, heads=1
    ... ).ravel().tolist()
    [1.5, 1.5]
    """
    if weights not in ("none", "each", "mean"):
        raise ArgumentError(
            f'multi_head_attention: weights={weights!r}; need "none", "each", "mean"'
        )
    length, batch, width = aval_of(query).shape
    dtype = aval_of(query).dtype
    size = width // heads
    q, k, v = _projected(query, key, value, (w_in, w_q, w_k, w_v), b_in)
    if bias_k is not None:
        k, v = (_one_more(x, y, batch) for x, y in ((k, bias_k), (v, bias_v)))
    if zero:
        nothing = np.zeros((1, 1, width), dtype)
        k, v = (_one_more(x, nothing, batch) for x in (k, v))
    q, k, v = (
        x.reshape((aval_of(x).shape[0], batch, heads, size)).transpose((1, 2, 0, 3))
        for x in (q, k, v)
    )
    scores = _scores(q * (1 / math.sqrt(size)), k)
    extra = (bias_k is not None) + zero
    is_masked = mask is not None or padding is not None
    if mask is not None:
        shape = aval_of(mask).shape
        mask = mask if len(shape) == 2 else mask.reshape((batch, heads, *shape[1:]))
        scores = scores + _with_extra(_penalty(mask, dtype, hidden=True), extra)
    if padding is not None:
        row = _with_extra(_penalty(padding, dtype, hidden=True), extra)
        scores = scores + row.reshape((batch, 1, 1, aval_of(row).shape[1]))
    shares = (
        softmax_or_zero(scores) if is_masked and weights == "none" else softmax(scores, axis=(3,))
    )
    shares = shares if keep is None else shares * keep
    y = _weighted(shares, v).transpose((2, 0, 1, 3)).reshape((length * batch, width))
    y = _linear(y, w_out, b_out).reshape((length, batch, aval_of(w_out).shape[0]))
    if weights == "none":
        return y
    return y, shares if weights == "each" else fnp.mean(shares, axis=1)


def _linear(x: Any, w: Any, b: Any) -> Any:
    """``x @ w.T + b`` along the last axis."""
    shape = aval_of(x).shape
    y = dot_general(
        x.reshape((math.prod(shape[:-1]), shape[-1])), w, contracting=((1,), (1,)), batch=((), ())
    )
    y = y if b is None else y + b
    return y.reshape((*shape[:-1], aval_of(w).shape[0]))


def _projected(
    query: Any, key: Any, value: Any, weights: tuple[Any, ...], bias: Any
) -> tuple[Any, Any, Any]:
    """Queries, keys and values; those of the same input by one product."""
    w_in, *apart = weights
    width = aval_of(query).shape[2]
    rows = [slice(i * width, (i + 1) * width) for i in range(3)]
    if w_in is None:
        ws, whole = apart, False
    else:
        ws, whole = [w_in[r] for r in rows], key is None and value is None
    if whole:
        y = _linear(query, w_in, bias)
        return y[..., rows[0]], y[..., rows[1]], y[..., rows[2]]
    bs = [None if bias is None else bias[r] for r in rows]
    key = query if key is None else key
    value = key if value is None else value
    q, k, v = (_linear(x, w, b) for x, w, b in zip((query, key, value), ws, bs, strict=True))
    return q, k, v


def _one_more(x: Any, row: Any, batch: int) -> Any:
    """`x` with one more step, the same for the whole batch."""
    return fnp.concatenate([x, fnp.broadcast_to(row, (1, batch, aval_of(x).shape[2]))], axis=0)


def _with_extra(penalty: Any, count: int) -> Any:
    """A penalty of keys that does not concern the last `count` ones."""
    if not count:
        return penalty
    aval = aval_of(penalty)
    return fnp.concatenate([penalty, np.zeros((*aval.shape[:-1], count), aval.dtype)], axis=-1)


__all__ = ["multi_head_attention", "scaled_dot_product_attention", "softmax_or_zero"]
