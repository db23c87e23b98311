"""Filling tensors in place with the numbers that networks start from. Nothing here is recorded.

Every function returns the tensor it was given, which stays the same object.
"""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from ..autograd import no_grad, sites, views
from ..ops.random import randperm

if TYPE_CHECKING:
    from .._tensor import Tensor


def calculate_gain(nonlinearity: str, param: Any = None) -> float:
    """By how much to scale weights before a nonlinearity, so that variances stay the same.

    1 for linear layers and the sigmoid, ``5/3`` for tanh, ``sqrt(2)`` for ReLU, ``3/4`` for SELU,
    ``sqrt(2 / (1 + slope^2))`` for leaky ReLU, where `param` is the slope (0.01).

    Raises: ValueError: the name is unknown, or the slope no number.

    >>> calculate_gain("relu")
    1.4142135623730951
    """
    gains = {"tanh": 5.0 / 3, "relu": math.sqrt(2.0), "selu": 0.75}
    if nonlinearity in gains:
        return gains[nonlinearity]
    if nonlinearity == "leaky_relu":
        slope = 0.01 if param is None else param
        if isinstance(slope, bool) or not isinstance(slope, int | float):
            raise ValueError(f"negative_slope {param} not a valid number")
        return math.sqrt(2.0 / (1 + slope**2))
    linear = ("linear", "sigmoid", *(f"conv{t}{n}d" for t in ("", "_transpose") for n in (1, 2, 3)))
    if nonlinearity in linear:
        return 1.0
    raise ValueError(f"Unsupported nonlinearity {nonlinearity}")


@no_grad()
def uniform_(tensor: Any, a: float = 0.0, b: float = 1.0, generator: Any = None) -> Tensor:
    """Uniform numbers between `a` and `b`."""
    return tensor.uniform_(a, b, generator=generator)


@no_grad()
def normal_(tensor: Any, mean: float = 0.0, std: float = 1.0, generator: Any = None) -> Tensor:
    """Normal numbers."""
    return tensor.normal_(mean, std, generator=generator)


@no_grad()
def trunc_normal_(
    tensor: Any,
    mean: float = 0.0,
    std: float = 1.0,
    a: float = -2.0,
    b: float = 2.0,
    generator: Any = None,
) -> Tensor:
    """Normal numbers, but only between `a` and `b`: the inverse of their distribution function."""
    if mean < a - 2 * std or mean > b + 2 * std:
        sites.warn(
            "mean is more than 2 std from [a, b] in nn.init.trunc_normal_. The distribution of "
            "values may be incorrect."
        )
    low, high = (math.erf((x - mean) / (std * math.sqrt(2.0))) for x in (a, b))
    tensor.uniform_(low, high, generator=generator)
    return tensor.erfinv_().mul_(std * math.sqrt(2.0)).add_(mean).clamp_(min=a, max=b)


@no_grad()
def constant_(tensor: Any, val: float) -> Tensor:
    """The number `val` everywhere.

    >>> import compat as torch
    >>> constant_(torch.zeros(2), 3.0)
    tensor([3., 3.])
    """
    views.check_writable(tensor)
    return views.assign(tensor, val, "constant_", whole=True)


def ones_(tensor: Any) -> Tensor:
    """Ones."""
    return constant_(tensor, 1.0)


def zeros_(tensor: Any) -> Tensor:
    """Zeros."""
    return constant_(tensor, 0.0)


@no_grad()
def eye_(tensor: Any) -> Tensor:
    """The identity matrix; ones on the diagonal if it is not square.

    Raises: ValueError: there are not 2 axes.
    """
    if tensor.ndim != 2:
        raise ValueError("Only tensors with 2 dimensions are supported")
    views.check_writable(tensor)
    return views.assign(tensor, np.eye(*tensor.shape), "eye_", whole=True)


@no_grad()
def dirac_(tensor: Any, groups: int = 1) -> Tensor:
    """Kernels of convolutions that hand each channel on: 1 in the middle, 0 elsewhere.

    Raises: ValueError: there are not 3, 4 or 5 axes, or `groups` does not divide the outputs.

    >>> import compat as torch
    >>> dirac_(torch.empty(1, 1, 3))
    tensor([[[0., 1., 0.]]])
    """
    if tensor.ndim not in (3, 4, 5):
        raise ValueError("Only tensors with 3, 4, or 5 dimensions are supported")
    outputs, inputs, *field = tensor.shape
    if outputs % groups != 0:
        raise ValueError("dim 0 must be divisible by groups")
    kernels = np.zeros(tensor.shape)
    each = outputs // groups
    middle = tuple(size // 2 for size in field)
    for channel in range(min(each, inputs)):
        for group in range(groups):
            kernels[(group * each + channel, channel, *middle)] = 1
    views.check_writable(tensor)
    return views.assign(tensor, kernels, "dirac_", whole=True)


def _calculate_fan_in_and_fan_out(tensor: Any) -> tuple[int, int]:
    """How many inputs and outputs a unit of a weight has.

    Raises: ValueError: there are fewer than 2 axes.
    """
    if tensor.dim() < 2:
        raise ValueError(
            "Fan in and fan out can not be computed for tensor with fewer than 2 dimensions"
        )
    field = math.prod(tensor.shape[2:])
    return tensor.shape[1] * field, tensor.shape[0] * field


def _calculate_correct_fan(tensor: Any, mode: str) -> int:
    mode = mode.lower()
    if mode not in ("fan_in", "fan_out"):
        raise ValueError(f"Mode {mode} not supported, please use one of ['fan_in', 'fan_out']")
    return _calculate_fan_in_and_fan_out(tensor)[mode == "fan_out"]


def xavier_uniform_(tensor: Any, gain: float = 1.0, generator: Any = None) -> Tensor:
    """Uniform numbers of variance ``gain^2 * 2 / (fan_in + fan_out)``.

    Source: Glorot & Bengio, "Understanding the difficulty of training deep feedforward neural
    networks", AISTATS (2010).
    """
    bound = math.sqrt(3.0) * _xavier_std(tensor, gain)
    return uniform_(tensor, -bound, bound, generator)


def xavier_normal_(tensor: Any, gain: float = 1.0, generator: Any = None) -> Tensor:
    """Normal numbers of variance ``gain^2 * 2 / (fan_in + fan_out)``."""
    return normal_(tensor, 0.0, _xavier_std(tensor, gain), generator)


def _xavier_std(tensor: Any, gain: float) -> float:
    return gain * math.sqrt(2.0 / float(sum(_calculate_fan_in_and_fan_out(tensor))))


def kaiming_uniform_(
    tensor: Any,
    a: float = 0,
    mode: str = "fan_in",
    nonlinearity: str = "leaky_relu",
    generator: Any = None,
) -> Tensor:
    """Uniform numbers of variance ``gain^2 / fan``; `a` is the slope of a leaky ReLU.

    Source: He, Zhang, Ren & Sun, "Delving deep into rectifiers", ICCV (2015).
    """
    if 0 in tensor.shape:
        return _nothing_to_do(tensor)
    bound = math.sqrt(3.0) * _kaiming_std(tensor, a, mode, nonlinearity)
    return uniform_(tensor, -bound, bound, generator)


def kaiming_normal_(
    tensor: Any,
    a: float = 0,
    mode: str = "fan_in",
    nonlinearity: str = "leaky_relu",
    generator: Any = None,
) -> Tensor:
    """Normal numbers of variance ``gain^2 / fan``; `a` is the slope of a leaky ReLU."""
    if 0 in tensor.shape:
        return _nothing_to_do(tensor)
    return normal_(tensor, 0.0, _kaiming_std(tensor, a, mode, nonlinearity), generator)


def _kaiming_std(tensor: Any, a: float, mode: str, nonlinearity: str) -> float:
    return calculate_gain(nonlinearity, a) / math.sqrt(_calculate_correct_fan(tensor, mode))


def _nothing_to_do(tensor: Any) -> Any:
    sites.warn("Initializing zero-element tensors is a no-op")
    return tensor


@no_grad()
def orthogonal_(tensor: Any, gain: float = 1, generator: Any = None) -> Tensor:
    """A random matrix with orthonormal rows or columns, times `gain`; axes but the first are one.

    Raises: ValueError: there are fewer than 2 axes.
    Source: Saxe, McClelland & Ganguli, "Exact solutions to the nonlinear dynamics of learning in
    deep linear neural networks", ICLR (2014).
    """
    if tensor.ndim < 2:
        raise ValueError("Only tensors with 2 or more dimensions are supported")
    if tensor.numel() == 0:
        return tensor
    normal_(tensor, 0.0, 1.0, generator)
    rows = tensor.shape[0]
    a = tensor._array.reshape(rows, -1)
    wide = a.shape[0] < a.shape[1]
    q, r = np.linalg.qr(a.T if wide else a)
    q = q * np.where(np.diagonal(r) < 0, -1, 1)  # so that all such matrices are equally likely
    q = (q.T if wide else q).reshape(tensor.shape)
    return views.assign(tensor, gain * q, "orthogonal_", whole=True)


@no_grad()
def sparse_(tensor: Any, sparsity: float, std: float = 0.01, generator: Any = None) -> Tensor:
    """Normal numbers, with zeros in a random part `sparsity` of each column, rounded up.

    Raises: ValueError: there are not 2 axes.
    Source: Martens, "Deep learning via Hessian-free optimization", ICML (2010).
    """
    if tensor.ndim != 2:
        raise ValueError("Only tensors with 2 dimensions are supported")
    rows, columns = tensor.shape
    zeros = math.ceil(sparsity * rows)
    normal_(tensor, 0.0, std, generator)
    for column in range(columns):
        tensor[randperm(rows, generator=generator)[:zeros], column] = 0
    return tensor


# ---------------------------------------------------------------- old names


def _old_name(f: Callable[..., Tensor]) -> Callable[..., Tensor]:
    """`f` under its name of before, without the underscore, which warns."""
    new = f.__name__
    old = new[:-1]

    def renamed(*args: Any, **kwargs: Any) -> Any:
        warnings.warn(
            f"`nn.init.{old}` is now deprecated in favor of `nn.init.{new}`.",
            FutureWarning,
            stacklevel=2,
        )
        return f(*args, **kwargs)

    renamed.__name__ = renamed.__qualname__ = old
    renamed.__doc__ = f"The old name of `{new}`."
    return renamed


uniform, normal, constant = _old_name(uniform_), _old_name(normal_), _old_name(constant_)
eye, dirac, sparse = _old_name(eye_), _old_name(dirac_), _old_name(sparse_)
orthogonal = _old_name(orthogonal_)
xavier_uniform, xavier_normal = _old_name(xavier_uniform_), _old_name(xavier_normal_)
kaiming_uniform, kaiming_normal = _old_name(kaiming_uniform_), _old_name(kaiming_normal_)
