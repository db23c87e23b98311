"""Attention with the arguments of ``jax.nn.dot_product_attention``: heads are the last axis but one."""

from __future__ import annotations

from typing import Any

import numpy as np

from .. import numpy as fnp
from ..core import aval_of
from ..errors import ArgumentError, ShapeError, where
from ..numpy._arguments import beside
from ..ops.logic import greater_equal, less, less_equal, logical_and
from ..ops.select import where as choose
from ._arguments import integers, real, require
from .attention import scaled_dot_product_attention


def dot_product_attention(
    query: Any,
    key: Any,
    value: Any,
    bias: Any = None,
    mask: Any = None,
    *,
    scale: float | None = None,
    is_causal: bool = False,
    query_seq_lengths: Any = None,
    key_value_seq_lengths: Any = None,
    local_window_size: int | tuple[int, int] | None = None,
    implementation: str | None = None,
    return_residual: bool = False,
) -> Any:
    """``softmax(query @ key.T * scale + bias) @ value`` for each of n heads, where `mask` holds.

    There may be k heads of keys and values, of which each serves ``n / k`` of the queries in a row.
    `is_causal`: query i sees the keys up to i only; `local_window_size`: as many keys before and
    after i. Keys beyond `key_value_seq_lengths` are not seen, and queries beyond `query_seq_lengths`
    give 0. So does a query that sees no key; JAX gives the mean of all values there.

    Shapes: ``query: (b, t, n, e), key: (b, s, k, e), value: (b, s, k, v) -> (b, t, n, v)``, or without
    b; `bias` and `mask` broadcast to ``(b, n, t, s)``, lengths: ``(b,)``.
    Dtypes: real; integers give float64; `mask` booleans.
    Derivative: that of the formula; 0 where nothing is seen.
    Raises: ShapeError: the shapes do not fit. ArgumentError: complex numbers, a mask that is not
    boolean, another implementation than "xla", or return_residual.
    Source: JAX reference, ``jax.nn.dot_product_attention``.

    >>> q = np.zeros((2, 1, 1))
    >>> dot_product_attention(q, q, np.array([[[2.0]], [[4.0]]]), is_causal=True).ravel().tolist()
    [2.0, 3.0]
    """
    name = "dot_product_attention"
    require(implementation in (None, "xla"), name, "implementation", implementation, '"xla"')
    require(not return_residual, name, "return_residual", return_residual, "False")
    q, k, v = (real(name, x) for x in (query, key, value))
    ndim = aval_of(q).ndim
    if ndim not in (3, 4) or not ndim == aval_of(k).ndim == aval_of(v).ndim:
        found = ", ".join(str(aval_of(x)) for x in (q, k, v))
        raise ShapeError(f"nn.{name}: found {found}; need 4 axes each, or 3 each{where()}")
    if ndim == 3:
        q, k, v = (x[None] for x in (q, k, v))
    (batch, times, _, _), keys = aval_of(q).shape, aval_of(k).shape[1]
    seen = _seen(q, times, keys, mask, is_causal, key_value_seq_lengths, local_window_size)
    q, k, v = (fnp.swapaxes(x, 1, 2) for x in (q, k, v))
    y = scaled_dot_product_attention(
        q,
        k,
        v,
        mask=_as_one(seen, bias, q),
        scale=scale,
        grouped=True,
    )
    y = fnp.swapaxes(y, 1, 2)
    if query_seq_lengths is not None:
        lengths = _lengths("query_seq_lengths", query_seq_lengths, batch)
        y = choose(less(beside(q, np.arange(times)[:, None, None]), lengths), y, 0.0)
    return y[0] if ndim == 3 else y


def _seen(q: Any, times: int, keys: int, mask: Any, causal: bool, lengths: Any, window: Any) -> Any:
    """Which query sees which key: booleans that broadcast to (b, n, t, s); None: each sees all."""
    rows, columns = beside(q, np.arange(times)[:, None]), beside(q, np.arange(keys))
    parts = []
    if mask is not None:
        if aval_of(mask).dtype.kind != "b":
            raise ArgumentError(
                f"nn.dot_product_attention: mask is {aval_of(mask)}; need booleans, or bias={where()}"
            )
        parts.append(mask)
    if causal:
        parts.append(columns <= rows)
    if lengths is not None:
        parts.append(less(columns, _lengths("key_value_seq_lengths", lengths, aval_of(q).shape[0])))
    if window is not None:
        before, after = window if isinstance(window, tuple) else (window, window)
        inside = greater_equal(columns, rows - before), less_equal(columns, rows + after)
        parts.append(logical_and(*inside))
    seen = None
    for part in parts:
        seen = part if seen is None else logical_and(seen, part)
    return seen


def _lengths(what: str, given: Any, batch: int) -> Any:
    """The lengths as (b, 1, 1, 1). Raises: ArgumentError: no integers. ShapeError: not b of them."""
    lengths = integers("dot_product_attention", what, given)
    if aval_of(lengths).shape != (batch,):
        raise ShapeError(
            f"nn.dot_product_attention: {what} is {aval_of(lengths)}; need shape [{batch}]{where()}"
        )
    return fnp.reshape(lengths, (batch, 1, 1, 1))


def _as_one(seen: Any, bias: Any, q: Any) -> Any:
    """What is added to scores: the bias where a key is seen, -inf elsewhere."""
    bias = bias if bias is None else real("dot_product_attention", bias)
    if seen is None:
        return bias
    low, zero = (beside(q, np.full((), y, aval_of(q).dtype)) for y in (-np.inf, 0.0))
    return choose(seen, zero if bias is None else bias, low)
