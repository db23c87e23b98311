"""Activation functions, element by element, with the names and arguments of ``jax.nn``.

Integers count as float64, except where a docstring says that they stay. Derivatives at kinks are those
of JAX; where PyTorch has another one, the docstring says so.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np  # noqa: F401  (doctests)

from ..core import aval_of
from ..errors import ShapeError, where
from ..numpy._arguments import array_of, axis_of, operand
from ..ops import special
from ..ops.arithmetic import absolute, square
from ..ops.exponential import expit, expm1, log_expit, sqrt
from ..ops.exponential import sigmoid as sigmoid_of
from ..ops.logic import greater_equal, less, less_equal, logical_or
from ..ops.select import clip, maximum, minimum, stop_gradient
from ..ops.select import where as choose
from ..ops.trigonometric import tanh as _tanh
from ._arguments import real

SELU_ALPHA = 1.6732632423543772848170429916717
SELU_SCALE = 1.0507009873554804934193349852946
GELU_ENDS = 100.0  # what is further from 0 has the same sigmoid, and a cube that may overflow


def identity(x: Any) -> Any:
    """`x` itself.

    Shapes: ``x: (*a) -> (*a)``.   Dtypes: all, kept.
    Derivative: 1.
    Raises: ArgumentError: `x` is no array.
    Source: JAX reference, ``jax.nn.identity``.

    >>> identity(np.array([1.0, -2.0])).tolist()
    [1.0, -2.0]
    """
    return array_of(x)


# ---------------------------------------------------------------- bent at 0


def relu(x: Any) -> Any:
    """``max(x, 0)``.

    Shapes: ``x: (*a) -> (*a)``.   Dtypes: real; integers stay.
    Derivative: 1 where ``x > 0``, else 0; 0 at 0.
    Raises: ArgumentError: `x` is no array.
    Source: Nair & Hinton, "Rectified linear units improve restricted Boltzmann machines", 2010.

    >>> relu(np.array([-1.0, 2.0])).tolist()
    [0.0, 2.0]
    """
    x = array_of(x)
    return special.relu(x if aval_of(x).dtype.kind in "biu" else real("relu", x))


def between(x: Any, /, low: Any, high: Any) -> Any:
    """``min(max(x, low), high)`` whose derivative at the bounds is 0, unlike that of `clip`.

    >>> between(np.array([-1.0, 0.5]), 0.0, 1.0).tolist()
    [0.0, 0.5]
    """
    outside = logical_or(less_equal(x, low), greater_equal(x, high))
    return choose(outside, stop_gradient(clip(x, low, high)), x)


def relu6(x: Any) -> Any:
    """``min(max(x, 0), 6)``.

    Shapes: ``x: (*a) -> (*a)``.   Dtypes: real; integers give float64.
    Derivative: 1 between the bounds, 0 elsewhere and at them.
    Raises: ArgumentError: complex numbers.
    Source: JAX reference, ``jax.nn.relu6``.

    >>> relu6(np.array([-1.0, 2.0, 7.0])).tolist()
    [0.0, 2.0, 6.0]
    """
    return between(real("relu6", x), 0.0, 6.0)


def leaky_relu(x: Any, negative_slope: Any = 0.01) -> Any:
    """`x` where it is not negative, elsewhere ``negative_slope * x``.

    Shapes: broadcast.   Dtypes: real; integers give float64.
    Derivative: 1 where ``x >= 0``, else the slope; by the slope `x` there. PyTorch has the slope at 0.
    Raises: ArgumentError: complex numbers. ShapeError: the shapes do not broadcast.
    Source: JAX reference, ``jax.nn.leaky_relu``.

    >>> leaky_relu(np.array([-1.0, 2.0]), 0.5).tolist()
    [-0.5, 2.0]
    """
    x = real("leaky_relu", x)
    return choose(greater_equal(x, 0.0), x, x * operand(negative_slope))


def elu(x: Any, alpha: Any = 1.0) -> Any:
    """`x` where it is positive, elsewhere ``alpha * (exp(x) - 1)``.

    Shapes: broadcast.   Dtypes: real; integers give float64.
    Derivative: 1 where ``x > 0``, else ``alpha * exp(x)``, at 0 too; by `alpha` ``exp(x) - 1`` there.
    Raises: ArgumentError: complex numbers. ShapeError: the shapes do not broadcast.
    Source: Clevert, Unterthiner & Hochreiter, "Fast and accurate deep network learning by
    exponential linear units", 2016.

    >>> elu(np.array([-1.0, 2.0])).round(4).tolist()
    [-0.6321, 2.0]
    """
    x = real("elu", x)
    negative = less_equal(x, 0)
    return choose(negative, expm1(choose(negative, x, 0.0)) * operand(alpha), x)


def celu(x: Any, alpha: Any = 1.0) -> Any:
    """`x` where it is positive, elsewhere ``alpha * (exp(x / alpha) - 1)``.

    Shapes: broadcast.   Dtypes: real; integers give float64.
    Derivative: 1 where ``x > 0``, else ``exp(x / alpha)``; continuous.
    Raises: ArgumentError: complex numbers. ShapeError: the shapes do not broadcast.
    Source: Barron, "Continuously differentiable exponential linear units", 2017.

    >>> celu(np.array([-1.0, 2.0]), 2.0).round(4).tolist()
    [-0.7869, 2.0]
    """
    x, alpha = real("celu", x), operand(alpha)
    negative = less_equal(x, 0)
    return choose(negative, expm1(choose(negative, x, 0.0) / alpha) * alpha, x)


def selu(x: Any) -> Any:
    """``scale * elu(x, alpha)`` with the constants that keep mean 0 and variance 1.

    Shapes: ``x: (*a) -> (*a)``.   Dtypes: real; integers give float64.
    Derivative: ``scale`` where ``x > 0``, else ``scale * alpha * exp(x)``, at 0 too.
    Raises: ArgumentError: complex numbers.
    Source: Klambauer et al., "Self-normalizing neural networks", NeurIPS 2017.

    >>> selu(np.array([-1.0, 2.0])).round(4).tolist()
    [-1.1113, 2.1014]
    """
    return elu(x, SELU_ALPHA) * SELU_SCALE


# ---------------------------------------------------------------- smooth


def sigmoid(x: Any) -> Any:
    """``1 / (1 + exp(-x))``, without overflow.

    Shapes: ``x: (*a) -> (*a)``.   Dtypes: real; integers give float64.
    Derivative: ``sigmoid(x) sigmoid(-x)``; smooth everywhere.
    Raises: ArgumentError: complex numbers.
    Source: JAX reference, ``jax.nn.sigmoid``.

    >>> sigmoid(np.array([0.0, -1000.0])).tolist()
    [0.5, 0.0]
    """
    return expit(real("sigmoid", x))


def log_sigmoid(x: Any) -> Any:
    """``-log(1 + exp(-x))``, without overflow.

    Shapes: ``x: (*a) -> (*a)``.   Dtypes: real; integers give float64.
    Derivative: ``sigmoid(-x)``; smooth everywhere.
    Raises: ArgumentError: complex numbers.
    Source: JAX reference, ``jax.nn.log_sigmoid``.

    >>> log_sigmoid(np.array([0.0, -1000.0])).round(4).tolist()
    [-0.6931, -1000.0]
    """
    return log_expit(real("log_sigmoid", x))


def softplus(x: Any) -> Any:
    """``log(1 + exp(x))``, without overflow.

    Shapes: ``x: (*a) -> (*a)``.   Dtypes: real; integers give float64.
    Derivative: ``sigmoid(x)``; smooth everywhere.
    Raises: ArgumentError: complex numbers.
    Source: JAX reference, ``jax.nn.softplus``.

    >>> softplus(np.array([0.0, 1000.0])).round(4).tolist()
    [0.6931, 1000.0]
    """
    return special.softplus(real("softplus", x))


def tanh(x: Any, /) -> Any:
    """The hyperbolic tangent of `x`.

    Shapes: ``x: (*a) -> (*a)``.   Dtypes: floating, complex; integers give float64.
    Derivative: ``1 - y^2``; smooth everywhere.
    Raises: ArgumentError: `x` is no array.
    Source: JAX reference, ``jax.nn.tanh``.

    >>> tanh(np.array([0.0, 1.0])).round(4).tolist()
    [0.0, 0.7616]
    """
    return _tanh(array_of(x))


def soft_sign(x: Any) -> Any:
    """``x / (1 + |x|)``.

    Shapes: ``x: (*a) -> (*a)``.   Dtypes: floating, complex; integers give float64.
    Derivative: ``1 / (1 + |x|)^2``; continuous.
    Raises: ArgumentError: `x` is no array.
    Source: JAX reference, ``jax.nn.soft_sign``.

    >>> soft_sign(np.array([-1.0, 3.0])).tolist()
    [-0.5, 0.75]
    """
    x = array_of(x)
    return x / (absolute(x) + 1.0)


def silu(x: Any) -> Any:
    """``x / (1 + exp(-x))``, also known as swish; NaN at minus infinity, as in JAX.

    Shapes: ``x: (*a) -> (*a)``.   Dtypes: real; integers give float64.
    Derivative: ``s (1 + x (1 - s))`` with ``s = sigmoid(x)``; smooth everywhere.
    Raises: ArgumentError: complex numbers.
    Source: Hendrycks & Gimpel, "Gaussian error linear units", 2016.

    >>> silu(np.array([-1.0, 2.0])).round(4).tolist()
    [-0.2689, 1.7616]
    """
    x = real("silu", x)
    return x * sigmoid_of(x)


swish = silu


def gelu(x: Any, approximate: bool = True) -> Any:
    """``x`` times the normal distribution function of it, or near it
    ``x * sigmoid(sqrt(8 / pi) (x + 0.044715 x^3))``; NaN at minus infinity, as in JAX.

    Shapes: ``x: (*a) -> (*a)``.   Dtypes: real; integers give float64.
    Derivative: that of the formula; smooth everywhere.
    Raises: ArgumentError: complex numbers.
    Source: Hendrycks & Gimpel, "Gaussian error linear units", 2016.

    >>> gelu(np.array([-1.0, 2.0])).round(4).tolist()
    [-0.1588, 1.9546]
    >>> gelu(np.array([-1.0, 2.0]), approximate=False).round(4).tolist()
    [-0.1587, 1.9545]
    """
    x = real("gelu", x)
    if not approximate:
        return x * special.ndtr(x)
    # (1 + tanh(u)) / 2 is sigmoid(2 u), which does not cancel
    near = clip(x, -GELU_ENDS, GELU_ENDS)
    return x * sigmoid_of((square(near) * 0.044715 + 1.0) * near * math.sqrt(8.0 / math.pi))


def mish(x: Any) -> Any:
    """``x * tanh(log(1 + exp(x)))``; NaN at minus infinity, as in JAX.

    Shapes: ``x: (*a) -> (*a)``.   Dtypes: real; integers give float64.
    Derivative: that of the formula; smooth everywhere.
    Raises: ArgumentError: complex numbers.
    Source: Misra, "Mish: a self regularized non-monotonic activation function", 2019.

    >>> mish(np.array([-1.0, 2.0])).round(4).tolist()
    [-0.3034, 1.944]
    """
    x = real("mish", x)
    return x * _tanh(special.softplus(x))


def squareplus(x: Any, b: Any = 4) -> Any:
    """``(x + sqrt(x^2 + b)) / 2``, without cancellation; for b = 4 the slope at 0 is 1/2, the value 1.

    Shapes: broadcast.   Dtypes: real; integers give float64.
    Derivative: ``(1 + x / sqrt(x^2 + b)) / 2`` and ``1 / (4 sqrt(x^2 + b))``; infinite or NaN where
    both are 0.
    Raises: ArgumentError: complex numbers. ShapeError: the shapes do not broadcast.
    Source: Barron, "Squareplus: a softplus-like algebraic rectifier", 2021.

    >>> squareplus(np.array([0.0, -1e8])).tolist()
    [1.0, 1e-08]
    """
    x, b = real("squareplus", x), operand(b)
    root = sqrt(square(x) + b)
    negative = less(x, 0.0)
    below = choose(negative, root - x, 1.0)
    return choose(negative, b / below, x + root) * 0.5


def glu(x: Any, axis: int = -1) -> Any:
    """``a * sigmoid(b)`` of the two halves of `x` along `axis`.

    Shapes: ``x: (*a, 2 n, *b) -> (*a, n, *b)``.   Dtypes: real; integers give float64.
    Derivative: that of the formula; smooth everywhere.
    Raises: ShapeError: the length is odd, or there is no such axis. ArgumentError: complex numbers.
    Source: Dauphin et al., "Language modeling with gated convolutional networks", ICML 2017.

    >>> glu(np.array([1.0, 2.0, 0.0, 0.0])).tolist()
    [0.5, 1.0]
    """
    x = real("glu", x)
    shape = aval_of(x).shape
    axis = axis_of("nn.glu", axis, len(shape))
    half, odd = divmod(shape[axis], 2)
    if odd:
        raise ShapeError(
            f"nn.glu: axis {axis} has length {shape[axis]}; need an even length{where()}"
        )
    front = (slice(None),) * axis
    return x[(*front, slice(None, half))] * sigmoid_of(x[(*front, slice(half, None))])


# ---------------------------------------------------------------- with constant parts


def hard_tanh(x: Any) -> Any:
    """``min(max(x, -1), 1)``.

    Shapes: ``x: (*a) -> (*a)``.   Dtypes: real; integers give float64.
    Derivative: 1 between the bounds and at them, 0 outside. PyTorch has 0 at the bounds.
    Raises: ArgumentError: complex numbers.
    Source: JAX reference, ``jax.nn.hard_tanh``.

    >>> hard_tanh(np.array([-2.0, 0.5])).tolist()
    [-1.0, 0.5]
    """
    return clip(real("hard_tanh", x), -1.0, 1.0)


def hard_sigmoid(x: Any) -> Any:
    """``min(max(x / 6 + 1 / 2, 0), 1)``.

    Shapes: ``x: (*a) -> (*a)``.   Dtypes: real; integers give float64.
    Derivative: 1/6 between -3 and 3, 0 elsewhere and at the bounds.
    Raises: ArgumentError: complex numbers.
    Source: JAX reference, ``jax.nn.hard_sigmoid``.

    >>> hard_sigmoid(np.array([-4.0, 0.0, 1.5])).tolist()
    [0.0, 0.5, 0.75]
    """
    x = real("hard_sigmoid", x)
    inner = choose(greater_equal(x, 3.0), 1.0, (x + 3.0) / 6.0)
    return choose(less_equal(x, -3.0), 0.0, inner)


def hard_silu(x: Any) -> Any:
    """``x * hard_sigmoid(x)``, also known as hard swish; 0 at minus infinity.

    Shapes: ``x: (*a) -> (*a)``.   Dtypes: real; integers give float64.
    Derivative: ``(2 x + 3) / 6`` between -3 and 3, 0 below, 1 above; 0 at -3 and 1 at 3.
    Raises: ArgumentError: complex numbers.
    Source: JAX reference, ``jax.nn.hard_silu``.

    >>> hard_silu(np.array([1.0, 4.0])).round(4).tolist()
    [0.6667, 4.0]
    """
    x = real("hard_silu", x)
    low, high = less_equal(x, -3.0), greater_equal(x, 3.0)
    inner = choose(logical_or(low, high), 0.0, x)
    return choose(low, 0.0, choose(high, x, inner * (inner + 3.0) / 6.0))


hard_swish = hard_silu


def sparse_plus(x: Any) -> Any:
    """0 up to -1, ``(x + 1)^2 / 4`` up to 1, `x` beyond.

    Shapes: ``x: (*a) -> (*a)``.   Dtypes: real; integers give float64.
    Derivative: ``sparse_sigmoid(x)``; continuous.
    Raises: ArgumentError: complex numbers.
    Source: JAX reference, ``jax.nn.sparse_plus``.

    >>> sparse_plus(np.array([-2.0, 0.0, 3.0])).tolist()
    [0.0, 0.25, 3.0]
    """
    x = real("sparse_plus", x)
    high, low = greater_equal(x, 1.0), less_equal(x, -1.0)
    inner = choose(logical_or(low, high), 0.0, x)
    return choose(low, 0.0, choose(high, x, square(inner + 1.0) * 0.25))


def sparse_sigmoid(x: Any) -> Any:
    """``min(max((x + 1) / 2, 0), 1)``, the derivative of `sparse_plus`.

    Shapes: ``x: (*a) -> (*a)``.   Dtypes: real; integers give float64.
    Derivative: 1/2 between -1 and 1, 0 outside, 1/4 at the bounds.
    Raises: ArgumentError: complex numbers.
    Source: JAX reference, ``jax.nn.sparse_sigmoid``.

    >>> sparse_sigmoid(np.array([-2.0, 0.0, 0.5])).tolist()
    [0.0, 0.5, 0.75]
    """
    return minimum(maximum((real("sparse_sigmoid", x) + 1.0) * 0.5, 0.0), 1.0)


def log1mexp(x: Any) -> Any:
    """``log(1 - exp(-x))`` for x > 0, without cancellation; -inf at 0, NaN below.

    Shapes: ``x: (*a) -> (*a)``.   Dtypes: real; integers give float64.
    Derivative: ``1 / (exp(x) - 1)``; infinite at 0.
    Raises: ArgumentError: complex numbers.
    Source: Maechler, "Accurately computing log(1 - exp(-|a|))", 2012.

    >>> log1mexp(np.array([0.5, 1.0, 50.0])).round(4).tolist()
    [-0.9328, -0.4587, -0.0]
    """
    return special.log1mexp(real("log1mexp", x))
