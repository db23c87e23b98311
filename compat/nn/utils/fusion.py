"""Batch normalisation in evaluation as a part of the layer in front of it."""

from __future__ import annotations

import copy
from typing import Any

from ...ops.like import ones_like, zeros_like
from ...ops.power import rsqrt
from ...parameter import Parameter


def _check(layer: Any, bn: Any) -> None:
    """Raises: AssertionError: one of the two is in training, or there are no statistics."""
    if layer.training or bn.training:
        raise AssertionError("Fusion only for eval!")
    if bn.running_mean is None or bn.running_var is None:
        raise AssertionError("bn.running_mean and bn.running_var must not be None")


def fuse_conv_bn_eval(conv: Any, bn: Any, transpose: bool = False) -> Any:
    """A copy of `conv` that does what ``bn(conv(x))`` does; `transpose`: it is transposed.

    Raises: AssertionError: one of the two is in training, or there are no statistics.

    >>> import compat as torch
    >>> conv, bn = torch.nn.Conv1d(2, 3, 1).eval(), torch.nn.BatchNorm1d(3).eval()
    >>> x = torch.ones(1, 2, 4)
    >>> torch.allclose(fuse_conv_bn_eval(conv, bn)(x), bn(conv(x)), atol=1e-6)
    True
    """
    _check(conv, bn)
    fused = copy.deepcopy(conv)
    statistics = bn.running_mean, bn.running_var, bn.eps
    fused.weight, fused.bias = fuse_conv_bn_weights(
        fused.weight, fused.bias, *statistics, bn.weight, bn.bias, transpose
    )
    return fused


def fuse_conv_bn_weights(
    conv_w: Any,
    conv_b: Any,
    bn_rm: Any,
    bn_rv: Any,
    bn_eps: float,
    bn_w: Any,
    bn_b: Any,
    transpose: bool = False,
) -> tuple[Any, Any]:
    """Weight and bias of the fused convolution; None stands for no bias, scale or shift."""
    bn_w = ones_like(bn_rm) if bn_w is None else bn_w
    bn_b = zeros_like(bn_rm) if bn_b is None else bn_b
    shape = [1] * conv_w.dim()
    shape[1 if transpose else 0] = -1
    return _fused(conv_w, conv_b, bn_rm, bn_rv, bn_eps, bn_w, bn_b, shape)


def fuse_linear_bn_eval(linear: Any, bn: Any) -> Any:
    """A copy of `linear` that does what ``bn(linear(x))`` does.

    Raises: AssertionError: one of the two is in training, there are no statistics, or the numbers
    of features do not fit.

    >>> import compat as torch
    >>> linear, bn = torch.nn.Linear(2, 3).eval(), torch.nn.BatchNorm1d(3).eval()
    >>> x = torch.ones(4, 2)
    >>> torch.allclose(fuse_linear_bn_eval(linear, bn)(x), bn(linear(x)), atol=1e-6)
    True
    """
    _check(linear, bn)
    if bn.num_features not in (linear.out_features, 1):
        raise AssertionError(
            "To fuse, linear.out_features == bn.num_features or bn.num_features == 1, got "
            f"linear.out_features={linear.out_features} and bn.num_features={bn.num_features}"
        )
    fused = copy.deepcopy(linear)
    statistics = bn.running_mean, bn.running_var, bn.eps
    fused.weight, fused.bias = fuse_linear_bn_weights(
        fused.weight, fused.bias, *statistics, bn.weight, bn.bias
    )
    return fused


def fuse_linear_bn_weights(
    linear_w: Any, linear_b: Any, bn_rm: Any, bn_rv: Any, bn_eps: float, bn_w: Any, bn_b: Any
) -> tuple[Any, Any]:
    """Weight and bias of the fused layer; None stands for no bias."""
    return _fused(linear_w, linear_b, bn_rm, bn_rv, bn_eps, bn_w, bn_b, [-1, 1])


def _fused(
    w: Any, b: Any, mean: Any, var: Any, eps: float, scale: Any, shift: Any, shape: list[int]
) -> tuple[Any, Any]:
    bias = zeros_like(mean, dtype=w.dtype) if b is None else b
    factor = scale * rsqrt(var + eps)
    found = (bias - mean) * factor + shift
    return (
        Parameter((w * factor.reshape(shape)).to(w.dtype), w.requires_grad),
        Parameter(found.to(bias.dtype), bias.requires_grad),
    )


__all__ = [
    "fuse_conv_bn_eval",
    "fuse_conv_bn_weights",
    "fuse_linear_bn_eval",
    "fuse_linear_bn_weights",
]
