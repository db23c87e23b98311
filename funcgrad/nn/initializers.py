"""Numbers that weights of networks start from, with the names and arguments of ``jax.nn.initializers``.

`zeros` and `ones` are functions of a key, a shape and a dtype; the others make such functions. The
numbers are those of JAX, up to rounding (see `funcgrad.random`).

>>> import numpy as np
>>> init = he_normal()
>>> init(np.zeros(2, np.uint32), (3, 2)).shape
(3, 2)
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from .. import numpy as fnp
from .. import random
from ..errors import ShapeError, where
from ..numpy._arguments import axes_of, axis_of
from ..ops.index import embed
from ..ops.index_layout import FULL
from ._arguments import require

Axes = int | Sequence[int]
Initializer = Callable[..., Any]
_DEVIATION = 0.87962566103423978  # of a standard normal variable between -2 and 2


def zeros(key: Any, shape: Sequence[int], dtype: Any = None) -> Any:
    """Zeros; `key` is not used.

    Shapes: `shape`.   Dtypes: `dtype`, by default float64.
    Derivative: none.
    Raises: nothing of its own.
    Source: JAX reference, ``jax.nn.initializers.zeros``.

    >>> zeros(None, (2,)).tolist()
    [0.0, 0.0]
    """
    return fnp.zeros(tuple(shape), np.float64 if dtype is None else dtype)


def ones(key: Any, shape: Sequence[int], dtype: Any = None) -> Any:
    """Ones; `key` is not used.

    Shapes: `shape`.   Dtypes: `dtype`, by default float64.
    Derivative: none.
    Raises: nothing of its own.
    Source: JAX reference, ``jax.nn.initializers.ones``.

    >>> ones(None, (2,)).tolist()
    [1.0, 1.0]
    """
    return fnp.ones(tuple(shape), np.float64 if dtype is None else dtype)


def _made(draw: Callable[[Any, tuple[int, ...], Any], Any], dtype: Any) -> Initializer:
    """The function of a key, a shape and a dtype, which is `dtype` by default, or float64."""
    default = np.float64 if dtype is None else dtype

    def init(key: Any, shape: Sequence[int], dtype: Any = None) -> Any:
        return draw(key, tuple(shape), np.dtype(default if dtype is None else dtype))

    return init


def _times(x: Any, factor: Any) -> Any:
    """The product in the dtype of `x`."""
    if isinstance(factor, int | float | np.generic):
        return x * float(factor)
    return fnp.multiply(x, fnp.astype(factor, x.dtype))


def constant(value: Any, dtype: Any = None) -> Initializer:
    """Makes `value` in every place.

    Shapes: `value` broadcasts to the shape.   Dtypes: `dtype`, by default float64.
    Derivative: linear in `value`.
    Raises: ShapeError: `value` does not broadcast.
    Source: JAX reference, ``jax.nn.initializers.constant``.

    >>> constant(3.0)(None, (2,)).tolist()
    [3.0, 3.0]
    """
    return _made(lambda key, shape, dtype: fnp.full(shape, value, dtype), dtype)


def normal(stddev: Any = 1e-2, dtype: Any = None) -> Initializer:
    """Makes normal numbers of mean 0 and deviation `stddev`.

    Shapes: any.   Dtypes: `dtype`, by default float64.
    Derivative: linear in `stddev`.
    Raises: ArgumentError: `key` is no key, or `dtype` not floating.
    Source: JAX reference, ``jax.nn.initializers.normal``.

    >>> normal()(random.PRNGKey(0), (2,)).round(6).tolist()
    [-0.002058, -0.007848]
    """
    return _made(lambda key, shape, dtype: _times(random.normal(key, shape, dtype), stddev), dtype)


def uniform(scale: Any = 1e-2, dtype: Any = None) -> Initializer:
    """Makes numbers in [0, scale), evenly distributed.

    Shapes: any.   Dtypes: `dtype`, by default float64.
    Derivative: linear in `scale`.
    Raises: ArgumentError: `key` is no key, or `dtype` not floating.
    Source: JAX reference, ``jax.nn.initializers.uniform``.

    >>> uniform()(random.PRNGKey(0), (2,)).round(6).tolist()
    [0.004185, 0.002163]
    """
    return _made(lambda key, shape, dtype: _times(random.uniform(key, shape, dtype), scale), dtype)


def truncated_normal(
    stddev: Any = 1e-2, dtype: Any = None, lower: Any = -2.0, upper: Any = 2.0
) -> Initializer:
    """Makes `stddev` times normal numbers of mean 0 and deviation 1 between `lower` and `upper`.

    Shapes: any.   Dtypes: `dtype`, by default float64.
    Derivative: linear in `stddev`; by the bounds that of the inverse distribution function.
    Raises: ArgumentError: `key` is no key, or `dtype` not floating.
    Source: JAX reference, ``jax.nn.initializers.truncated_normal``.

    >>> bool(abs(truncated_normal(1.0)(random.PRNGKey(0), (9,))).max() < 2)
    True
    """

    def draw(key: Any, shape: tuple[int, ...], dtype: Any) -> Any:
        return _times(random.truncated_normal(key, lower, upper, shape, dtype), stddev)

    return _made(draw, dtype)


# ---------------------------------------------------------------- by the number of inputs


def _fans(shape: tuple[int, ...], in_axis: Axes, out_axis: Axes, batch_axis: Axes) -> Any:
    """How many inputs and outputs a unit has."""
    if len(shape) < 2:
        raise ShapeError(
            f"nn.initializers: shape {list(shape)} has no inputs and outputs; need two axes{where()}"
        )

    def size(axes: Axes) -> int:
        return math.prod(shape[i] for i in axes_of("initializers", axes, len(shape)))

    ins, outs = size(in_axis), size(out_axis)
    field = math.prod(shape) / max(ins * outs * size(batch_axis), 1)
    return ins * field, outs * field


def variance_scaling(
    scale: Any,
    mode: str,
    distribution: str,
    in_axis: Axes = -2,
    out_axis: Axes = -1,
    batch_axis: Axes = (),
    dtype: Any = None,
) -> Initializer:
    """Makes numbers of mean 0 and variance ``scale / n``.

    By `mode`, n is the number of inputs of a unit, "fan_in", of its outputs, "fan_out", their mean,
    "fan_avg", or their geometric mean, "fan_geo_avg"; axes that are none of the three are the field
    that a unit sees. `distribution`: "truncated_normal" within two deviations, "normal", "uniform".

    Shapes: two axes or more.   Dtypes: `dtype`, by default float64.
    Derivative: by `scale`, infinite at 0.
    Raises: ArgumentError: an unknown mode or distribution, or `key` is no key, or `dtype` not
    floating. ShapeError: fewer than two axes, or there is no such axis.
    Source: JAX reference, ``jax.nn.initializers.variance_scaling``.

    >>> w = variance_scaling(2.0, "fan_in", "uniform")(random.PRNGKey(0), (300, 2))
    >>> bool(abs(w.var() * 300 - 2) < 0.2)
    True
    """
    means: dict[str, Callable[[float, float], float]] = {
        "fan_in": lambda ins, outs: ins,
        "fan_out": lambda ins, outs: outs,
        "fan_avg": lambda ins, outs: (ins + outs) / 2,
        "fan_geo_avg": lambda ins, outs: math.sqrt(ins * outs),
    }
    draws: dict[str, Callable[..., Any]] = {
        "truncated_normal": lambda key, shape, dtype: (
            random.truncated_normal(key, -2.0, 2.0, shape, dtype) * (1 / _DEVIATION)
        ),
        "normal": random.normal,
        "uniform": lambda key, shape, dtype: (
            random.uniform(key, shape, dtype, -1.0) * math.sqrt(3.0)
        ),
    }
    name = "initializers.variance_scaling"
    require(mode in means, name, "mode", repr(mode), f"one of {list(means)}")
    require(distribution in draws, name, "distribution", repr(distribution), str(list(draws)))

    def draw(key: Any, shape: tuple[int, ...], dtype: Any) -> Any:
        size = means[mode](*_fans(shape, in_axis, out_axis, batch_axis))
        return _times(draws[distribution](key, shape, dtype), fnp.sqrt(scale / (size or 1.0)))

    return _made(draw, dtype)


def glorot_uniform(
    in_axis: Axes = -2, out_axis: Axes = -1, batch_axis: Axes = (), dtype: Any = None
) -> Initializer:
    """Makes numbers of mean 0 and variance ``2 / (inputs + outputs)``, evenly distributed.

    Shapes: two axes or more.   Dtypes: `dtype`, by default float64.
    Derivative: none.
    Raises: ArgumentError: `key` is no key, or `dtype` not floating. ShapeError: fewer than two axes,
    or there is no such axis.
    Source: Glorot & Bengio, "Understanding the difficulty of training deep feedforward neural
    networks", AISTATS 2010.

    >>> glorot_uniform()(random.PRNGKey(0), (2, 3)).shape
    (2, 3)
    """
    return variance_scaling(1.0, "fan_avg", "uniform", in_axis, out_axis, batch_axis, dtype)


def glorot_normal(
    in_axis: Axes = -2, out_axis: Axes = -1, batch_axis: Axes = (), dtype: Any = None
) -> Initializer:
    """Makes numbers of mean 0 and variance ``2 / (inputs + outputs)``, normal within two deviations.

    Shapes: two axes or more.   Dtypes: `dtype`, by default float64.
    Derivative: none.
    Raises: ArgumentError: `key` is no key, or `dtype` not floating. ShapeError: fewer than two axes,
    or there is no such axis.
    Source: Glorot & Bengio, "Understanding the difficulty of training deep feedforward neural
    networks", AISTATS 2010.

    >>> glorot_normal()(random.PRNGKey(0), (2, 3)).shape
    (2, 3)
    """
    return variance_scaling(
        1.0, "fan_avg", "truncated_normal", in_axis, out_axis, batch_axis, dtype
    )


def lecun_uniform(
    in_axis: Axes = -2, out_axis: Axes = -1, batch_axis: Axes = (), dtype: Any = None
) -> Initializer:
    """Makes numbers of mean 0 and variance ``1 / inputs``, evenly distributed.

    Shapes: two axes or more.   Dtypes: `dtype`, by default float64.
    Derivative: none.
    Raises: ArgumentError: `key` is no key, or `dtype` not floating. ShapeError: fewer than two axes,
    or there is no such axis.
    Source: LeCun et al., "Efficient backprop", 1998.

    >>> lecun_uniform()(random.PRNGKey(0), (2, 3)).shape
    (2, 3)
    """
    return variance_scaling(1.0, "fan_in", "uniform", in_axis, out_axis, batch_axis, dtype)


def lecun_normal(
    in_axis: Axes = -2, out_axis: Axes = -1, batch_axis: Axes = (), dtype: Any = None
) -> Initializer:
    """Makes numbers of mean 0 and variance ``1 / inputs``, normal within two deviations.

    Shapes: two axes or more.   Dtypes: `dtype`, by default float64.
    Derivative: none.
    Raises: ArgumentError: `key` is no key, or `dtype` not floating. ShapeError: fewer than two axes,
    or there is no such axis.
    Source: LeCun et al., "Efficient backprop", 1998.

    >>> lecun_normal()(random.PRNGKey(0), (2, 3)).shape
    (2, 3)
    """
    return variance_scaling(1.0, "fan_in", "truncated_normal", in_axis, out_axis, batch_axis, dtype)


def he_uniform(
    in_axis: Axes = -2, out_axis: Axes = -1, batch_axis: Axes = (), dtype: Any = None
) -> Initializer:
    """Makes numbers of mean 0 and variance ``2 / inputs``, evenly distributed.

    Shapes: two axes or more.   Dtypes: `dtype`, by default float64.
    Derivative: none.
    Raises: ArgumentError: `key` is no key, or `dtype` not floating. ShapeError: fewer than two axes,
    or there is no such axis.
    Source: He et al., "Delving deep into rectifiers", ICCV 2015.

    >>> he_uniform()(random.PRNGKey(0), (2, 3)).shape
    (2, 3)
    """
    return variance_scaling(2.0, "fan_in", "uniform", in_axis, out_axis, batch_axis, dtype)


def he_normal(
    in_axis: Axes = -2, out_axis: Axes = -1, batch_axis: Axes = (), dtype: Any = None
) -> Initializer:
    """Makes numbers of mean 0 and variance ``2 / inputs``, normal within two deviations.

    Shapes: two axes or more.   Dtypes: `dtype`, by default float64.
    Derivative: none.
    Raises: ArgumentError: `key` is no key, or `dtype` not floating. ShapeError: fewer than two axes,
    or there is no such axis.
    Source: He et al., "Delving deep into rectifiers", ICCV 2015.

    >>> he_normal()(random.PRNGKey(0), (2, 3)).shape
    (2, 3)
    """
    return variance_scaling(2.0, "fan_in", "truncated_normal", in_axis, out_axis, batch_axis, dtype)


xavier_uniform, xavier_normal = glorot_uniform, glorot_normal
kaiming_uniform, kaiming_normal = he_uniform, he_normal


# ---------------------------------------------------------------- matrices


def orthogonal(scale: Any = 1.0, column_axis: int = -1, dtype: Any = None) -> Initializer:
    """Makes `scale` times a random matrix with orthonormal columns, or rows if there are fewer.

    The columns are counted by `column_axis`, the rows by all other axes together.

    Shapes: two axes or more.   Dtypes: `dtype`, by default float64.
    Derivative: linear in `scale`.
    Raises: ArgumentError: `key` is no key, or `dtype` not floating. ShapeError: fewer than two axes,
    or there is no such axis.
    Source: Saxe, McClelland & Ganguli, "Exact solutions to the nonlinear dynamics of learning in
    deep linear neural networks", ICLR 2014.

    >>> w = orthogonal()(random.PRNGKey(0), (3, 2))
    >>> np.abs(w.T @ w).round(6).tolist()
    [[1.0, 0.0], [0.0, 1.0]]
    """

    def draw(key: Any, shape: tuple[int, ...], dtype: Any) -> Any:
        if len(shape) < 2:
            raise ShapeError(
                f"nn.initializers.orthogonal: shape {list(shape)} is no matrix{where()}"
            )
        axis = axis_of("initializers.orthogonal", column_axis, len(shape))
        columns = shape[axis]
        rows = math.prod(shape[:axis] + shape[axis + 1 :])
        tall = random.normal(key, (max(rows, columns), min(rows, columns)), dtype)
        q, r = fnp.linalg.qr(tall)
        q = q * fnp.sign(fnp.diagonal(r))  # so that all such matrices are equally likely
        q = q.T if rows < columns else q
        q = fnp.reshape(q, (*shape[:axis], *shape[axis + 1 :], columns))
        return _times(fnp.moveaxis(q, -1, axis), scale)

    return _made(draw, dtype)


def delta_orthogonal(scale: Any = 1.0, column_axis: int = -1, dtype: Any = None) -> Initializer:
    """Makes a kernel of a convolution that is `orthogonal` in the middle and 0 elsewhere.

    Signals keep their length: with enough channels the convolution is an isometry.

    Shapes: ``(*window, in, out)``, one to three axes of the window and ``in <= out``.
    Dtypes: `dtype`, by default float64.
    Derivative: linear in `scale`.
    Raises: ArgumentError: `key` is no key, or `dtype` not floating. ShapeError: the shape is another.
    Source: Xiao, Bahri, Sohl-Dickstein, Schoenholz & Pennington, "Dynamical isometry and a mean field
    theory of CNNs", ICML 2018.

    >>> w = delta_orthogonal()(random.PRNGKey(0), (3, 1, 1))
    >>> np.abs(w).ravel().round(6).tolist()
    [0.0, 1.0, 0.0]
    """
    matrix = orthogonal(scale, column_axis)

    def draw(key: Any, shape: tuple[int, ...], dtype: Any) -> Any:
        if not 3 <= len(shape) <= 5 or shape[-2] > shape[-1] or 0 in shape[:-2]:
            raise ShapeError(
                f"nn.initializers.delta_orthogonal: shape {list(shape)}; need one to three axes of a "
                f"window, and then no more channels in than out{where()}"
            )
        middle = tuple((n - 1) // 2 for n in shape[:-2])
        return embed(matrix(key, shape[-2:], dtype), shape=shape, index=(*middle, FULL, FULL))

    return _made(draw, dtype)
