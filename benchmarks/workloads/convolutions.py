"""Convolutional networks: value and gradients of LeNet-5."""

from __future__ import annotations

from typing import Any

import numpy as np

from .base import Function, Workload, gradient

BATCH = 64
KERNELS = ((6, 1, 5, 5), (16, 6, 5, 5))
LAYERS = ((400, 120), (120, 84), (84, 10))
Parameters = list[tuple[Any, Any]]


def lenet_arguments() -> tuple[Any, ...]:
    """The weights with their biases, images, and classes as one-hot rows."""
    rng = np.random.default_rng(0)
    shapes = [(s, s[0], s[1] * s[2] * s[3]) for s in KERNELS]
    shapes += [(s, s[1], s[0]) for s in LAYERS]
    params = [
        (
            (rng.normal(size=shape) / np.sqrt(inner)).astype(np.float32),
            rng.normal(scale=0.1, size=outer).astype(np.float32),
        )
        for shape, outer, inner in shapes
    ]
    x = rng.random((BATCH, 1, 28, 28), np.float32)
    return params, x, np.eye(10, dtype=np.float32)[rng.integers(0, 10, BATCH)]


def layers_of(xp: Any) -> tuple[Function, Function]:
    """A convolution ``(x, w, padding)``, and the maxima of windows of 2 x 2."""
    if xp.__name__ == "torch":
        functional = xp.nn.functional
        return (
            lambda x, w, pad: functional.conv2d(x, w, padding=pad),
            lambda x: functional.max_pool2d(x, 2),
        )
    if xp.__name__ == "jax.numpy":
        from jax import lax

        return (
            lambda x, w, pad: lax.conv_general_dilated(x, w, (1, 1), [(pad, pad)] * 2),
            lambda x: lax.reduce_window(x, -xp.inf, lax.max, (1, 1, 2, 2), (1, 1, 2, 2), "VALID"),
        )
    from funcgrad import nn

    return (
        lambda x, w, pad: nn.conv(x, w, padding=pad),
        lambda x: nn.max_pool(x, (2, 2)),
    )


def lenet(xp: Any) -> Function:
    """Two convolutions and three dense layers, all rectified; the cross-entropy of the classes."""
    is_torch = xp.__name__ == "torch"
    conv, pool = layers_of(xp)

    def rectified(x: Any) -> Any:
        return xp.relu(x) if is_torch else xp.maximum(x, 0)

    def log_softmax(x: Any) -> Any:
        if is_torch:
            return xp.log_softmax(x, -1)
        x = x - xp.max(x, -1, keepdims=True)
        return x - xp.log(xp.sum(xp.exp(x), -1, keepdims=True))

    def loss(params: Parameters, x: Any, target: Any) -> Any:
        for (w, b), pad in zip(params[:2], (2, 0), strict=True):
            x = pool(rectified(conv(x, w, pad) + b[:, None, None]))
        x = x.reshape(x.shape[0], -1)
        for w, b in params[2:-1]:
            x = rectified(x @ w + b)
        w, b = params[-1]
        return -xp.sum(log_softmax(x @ w + b) * target) / x.shape[0]

    return loss


WORKLOADS = (
    Workload("LeNet-5, gradient", lenet_arguments, rtol=1e-3, **gradient(lenet) | {"hips": None}),
)
