"""Layers as pairs of functions: ``jax.example_libraries.stax``.

A layer is ``(init, apply)``: ``init(key, input_shape) -> (output_shape, params)`` and
``apply(params, inputs, rng=None) -> outputs``. A length of -1 in a shape is one that is not known.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ... import lax, nn, random
from ... import numpy as fnp
from ...errors import ArgumentError, where
from ...nn.initializers import glorot_normal, normal, ones, zeros
from ...transforms.trace import ShapeDtypeStruct, eval_shape

Layer = tuple[Callable[..., Any], Callable[..., Any]]
_WEIGHTS, _BIASES, _SMALL = glorot_normal(), normal(), normal(1e-6)


def _without_params(apply: Callable[..., Any]) -> Layer:
    """A layer of a function of its inputs."""

    def init(rng: Any, input_shape: Any) -> Any:
        return _shape_after(lambda x: apply((), x), input_shape), ()

    return init, apply


def _shape_after(f: Callable[[Any], Any], shape: Any) -> tuple[int, ...]:
    """The shape of f's result, whose first length is unknown if that of the input is."""
    out = eval_shape(f, ShapeDtypeStruct([abs(n) for n in shape], "float64")).shape
    return (shape[0], *out[1:]) if shape[0] < 0 else out


def Dense(out_dim: int, W_init: Any = _WEIGHTS, b_init: Any = _BIASES) -> Layer:
    """``x @ W + b``.

    >>> init, apply = Dense(2)
    >>> shape, (W, b) = init(random.key(0), (-1, 3))
    >>> shape, W.shape, apply((W, b), np.ones((5, 3))).shape
    ((-1, 2), (3, 2), (5, 2))
    """

    def init(rng: Any, input_shape: Any) -> Any:
        first, second = random.split(rng)
        W, b = W_init(first, (input_shape[-1], out_dim)), b_init(second, (out_dim,))
        return (*input_shape[:-1], out_dim), (W, b)

    def apply(params: Any, inputs: Any, **kwargs: Any) -> Any:
        W, b = params
        return fnp.dot(inputs, W) + b

    return init, apply


def _convolution(
    convolve: Callable[..., Any],
    dimension_numbers: tuple[str, str, str],
    out_chan: int,
    filter_shape: Sequence[int],
    strides: Any = None,
    padding: Any = "VALID",
    W_init: Any = None,
    b_init: Any = _SMALL,
) -> Layer:
    """A convolution and a bias for each channel; `dimension_numbers` name the axes.

    >>> init, apply = Conv(4, (3, 3), padding="SAME")
    >>> shape, params = init(random.key(0), (-1, 8, 8, 1))
    >>> shape, apply(params, np.ones((2, 8, 8, 1))).shape
    ((-1, 8, 8, 4), (2, 8, 8, 4))
    """
    inputs, kernel, outputs = dimension_numbers
    steps = strides or (1,) * len(filter_shape)
    weights = W_init or glorot_normal(kernel.index("I"), kernel.index("O"))

    def apply(params: Any, x: Any, **kwargs: Any) -> Any:
        W, b = params
        return convolve(x, W, steps, padding, dimension_numbers=dimension_numbers) + b

    def init(rng: Any, input_shape: Any) -> Any:
        lengths = iter(filter_shape)
        known = {"O": out_chan, "I": input_shape[inputs.index("C")]}
        shape = [known[c] if c in known else next(lengths) for c in kernel]
        first, second = random.split(rng)
        W = weights(first, shape)
        b = b_init(second, [out_chan if c == "C" else 1 for c in outputs])
        return _shape_after(lambda x: apply((W, b), x), input_shape), (W, b)

    return init, apply


GeneralConv = functools.partial(_convolution, lax.conv_general_dilated)
GeneralConvTranspose = functools.partial(_convolution, lax.conv_transpose)
Conv = functools.partial(GeneralConv, ("NHWC", "HWIO", "NHWC"))
Conv1DTranspose = functools.partial(GeneralConvTranspose, ("NHC", "HIO", "NHC"))
ConvTranspose = functools.partial(GeneralConvTranspose, ("NHWC", "HWIO", "NHWC"))


def BatchNorm(
    axis: Any = (0, 1, 2),
    epsilon: float = 1e-5,
    center: bool = True,
    scale: bool = True,
    beta_init: Any = zeros,
    gamma_init: Any = ones,
) -> Layer:
    """Inputs with mean 0 and variance 1 along `axis`, times and plus parameters.

    >>> init, apply = BatchNorm(axis=0)
    >>> apply(init(random.key(0), (2, 1))[1], np.array([[1.0], [3.0]])).round(3).tolist()
    [[-1.0], [1.0]]
    """
    over = (axis,) if isinstance(axis, int) else tuple(axis)

    def init(rng: Any, input_shape: Any) -> Any:
        shape = tuple(n for i, n in enumerate(input_shape) if i not in over)
        first, second = random.split(rng)
        beta = beta_init(first, shape) if center else ()
        return input_shape, (beta, gamma_init(second, shape) if scale else ())

    def apply(params: Any, x: Any, **kwargs: Any) -> Any:
        beta, gamma = params
        y = nn.standardize(x, over, epsilon=epsilon)
        y = fnp.expand_dims(gamma, over) * y if scale else y
        return y + fnp.expand_dims(beta, over) if center else y

    return init, apply


def _same_shape(rng: Any, input_shape: Any) -> Any:
    return input_shape, ()


def elementwise(fun: Callable[..., Any], **fun_kwargs: Any) -> Layer:
    """A function of each element.

    >>> Relu[1]((), np.array([-1.0, 2.0])).tolist()
    [0.0, 2.0]
    """
    return _same_shape, lambda params, inputs, **kwargs: fun(inputs, **fun_kwargs)


Tanh = elementwise(fnp.tanh)
Relu = elementwise(nn.relu)
Exp = elementwise(fnp.exp)
LogSoftmax = elementwise(nn.log_softmax, axis=-1)
Softmax = elementwise(nn.softmax, axis=-1)
Softplus = elementwise(nn.softplus)
Sigmoid = elementwise(nn.sigmoid)
Elu = elementwise(nn.elu)
LeakyRelu = elementwise(nn.leaky_relu)
Selu = elementwise(nn.selu)
Gelu = elementwise(nn.gelu)
Identity: Layer = _same_shape, lambda params, inputs, **kwargs: inputs


def _pooling(
    reducer: Callable[..., Any],
    start: float,
    mean: bool,
    window_shape: Sequence[int],
    strides: Any = None,
    padding: Any = "VALID",
    spec: str | None = None,
) -> Layer:
    """What windows of inputs amount to; `spec` names the axes: "NHWC".

    >>> AvgPool((2,))[1]((), np.array([[[1.0], [3.0], [5.0]]])).tolist()
    [[[2.0], [4.0]]]
    """
    steps = tuple(strides or (1,) * len(window_shape))
    alone = sorted(
        (0, len(window_shape) + 1) if spec is None else (spec.index("N"), spec.index("C"))
    )
    window = tuple(window_shape)
    for i in alone:
        window, steps = (*window[:i], 1, *window[i:]), (*steps[:i], 1, *steps[i:])

    def apply(params: Any, x: Any, **kwargs: Any) -> Any:
        out = lax.reduce_window(x, start, reducer, window, steps, padding)
        if not mean:
            return out
        shape = [1 if i in alone else n for i, n in enumerate(x.shape)]
        return out / lax.reduce_window(
            np.ones(shape, x.dtype), start, reducer, window, steps, padding
        )

    return _without_params(apply)


MaxPool = functools.partial(_pooling, lax.max, -math.inf, False)
SumPool = functools.partial(_pooling, lax.add, 0.0, False)
AvgPool = functools.partial(_pooling, lax.add, 0.0, True)


def _flat(params: Any, x: Any, **kwargs: Any) -> Any:
    return fnp.reshape(x, (x.shape[0], -1))


Flatten = _without_params(_flat)


def FanOut(num: int) -> Layer:
    """The inputs `num` times."""
    return (
        (lambda rng, input_shape: ([input_shape] * num, ())),
        lambda params, inputs, **kwargs: [inputs] * num,
    )


FanInSum: Layer = (
    (lambda rng, input_shape: (input_shape[0], ())),
    lambda params, inputs, **kwargs: sum(inputs),
)


def FanInConcat(axis: int = -1) -> Layer:
    """Several inputs, joined.

    >>> FanInConcat()[0](None, [(5, 2), (5, 3)])
    ((5, 5), ())
    """

    def init(rng: Any, input_shape: Any) -> Any:
        first = list(input_shape[0])
        first[axis] = sum(shape[axis] for shape in input_shape)
        return tuple(first), ()

    return init, lambda params, inputs, **kwargs: fnp.concatenate(inputs, axis)


def Dropout(rate: float, mode: str = "train") -> Layer:
    """Each element over `rate` with probability `rate`, or else 0; outside of training the inputs.

    Raises: ArgumentError: `apply` is given no `rng`.
    """

    def apply(params: Any, inputs: Any, rng: Any = None, **kwargs: Any) -> Any:
        if rng is None:
            raise ArgumentError(
                f"Dropout: apply takes a key, apply(params, inputs, rng=key){where()}"
            )
        if mode != "train":
            return inputs
        return fnp.where(random.bernoulli(rng, rate, inputs.shape), inputs / rate, 0)

    return _same_shape, apply


def _keys(rng: Any, count: int) -> Any:
    return [None] * count if rng is None else random.split(rng, count)


def serial(*layers: Layer) -> Layer:
    """Layers one after another.

    >>> init, apply = serial(Dense(4), Relu, Dense(2))
    >>> shape, params = init(random.key(0), (3, 5))
    >>> shape, apply(params, np.ones((3, 5))).shape
    ((3, 2), (3, 2))
    """

    def init(rng: Any, input_shape: Any) -> Any:
        params = []
        for begin, _ in layers:
            rng, own = random.split(rng)
            input_shape, found = begin(own, input_shape)
            params.append(found)
        return input_shape, params

    def apply(params: Any, inputs: Any, rng: Any = None, **kwargs: Any) -> Any:
        keys = _keys(rng, len(layers))
        for (_, of_layer), own, key in zip(layers, params, keys, strict=True):
            inputs = of_layer(own, inputs, rng=key, **kwargs)
        return inputs

    return init, apply


def parallel(*layers: Layer) -> Layer:
    """Layers side by side: of a list of inputs a list of outputs.

    >>> init, apply = serial(FanOut(2), parallel(Dense(4), Identity), FanInConcat())
    >>> init(random.key(0), (3, 5))[0]
    (3, 9)
    """

    def init(rng: Any, input_shape: Any) -> Any:
        keys = random.split(rng, len(layers))
        made = [
            begin(key, shape)
            for (begin, _), key, shape in zip(layers, keys, input_shape, strict=True)
        ]
        return [shape for shape, _ in made], [params for _, params in made]

    def apply(params: Any, inputs: Any, rng: Any = None, **kwargs: Any) -> Any:
        keys = _keys(rng, len(layers))
        each = zip(layers, params, inputs, keys, strict=True)
        return [of_layer(own, x, rng=key, **kwargs) for (_, of_layer), own, x, key in each]

    return init, apply


def shape_dependent(make_layer: Callable[[Any], Layer]) -> Layer:
    """The layer that `make_layer` gives for a shape of inputs."""

    def init(rng: Any, input_shape: Any) -> Any:
        return make_layer(input_shape)[0](rng, input_shape)

    def apply(params: Any, inputs: Any, **kwargs: Any) -> Any:
        return make_layer(inputs.shape)[1](params, inputs, **kwargs)

    return init, apply
