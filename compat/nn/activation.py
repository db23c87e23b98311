"""Activations as modules."""

from __future__ import annotations

import inspect
import warnings
from collections.abc import Callable
from typing import Any

from ..ops.create import empty
from ..parameter import Parameter
from . import functional as F
from . import init as start
from .module import Module


class _Activation(Module):
    """A function whose options are the arguments of the constructor, kept under their names.

    ``class X(_Activation, of=f)`` calls ``f(input, **options)`` and shows the options. A last option
    `inplace` is shown if it is true.
    """

    _function: Callable[..., Any]
    _options: tuple[str, ...] = ()

    def __init_subclass__(cls, of: Callable[..., Any] | None = None, **given: Any) -> None:
        super().__init_subclass__(**given)
        if of is not None:
            cls._function = staticmethod(of)
            if "__init__" in cls.__dict__ and "_options" not in cls.__dict__:
                cls._options = tuple(inspect.signature(cls).parameters)
            if not cls._options and "forward" not in cls.__dict__:
                # With nothing to look up: a small network calls this as often as anything else.
                cls.forward = lambda self, input: of(input)  # type: ignore[method-assign]

    def forward(self, input: Any) -> Any:
        return self._function(input, **{name: getattr(self, name) for name in self._options})

    def extra_repr(self) -> str:
        shown = [f"{k}={getattr(self, k)}" for k in self._options if k != "inplace"]
        if "inplace" in self._options and self.inplace:
            shown.append("inplace=True")
        return ", ".join(shown)


# ---------------------------------------------------------------- bent at 0


class ReLU(_Activation, of=F.relu):
    """``max(x, 0)``.

    >>> import compat as torch
    >>> torch.nn.ReLU()(torch.tensor([-1.0, 2.0]))
    tensor([0., 2.])
    """

    def __init__(self, inplace: bool = False) -> None:
        super().__init__()
        self.inplace = inplace


class LeakyReLU(_Activation, of=F.leaky_relu):
    """``x`` where it is positive, elsewhere `negative_slope` times it.

    >>> LeakyReLU(0.2)
    LeakyReLU(negative_slope=0.2)
    """

    def __init__(self, negative_slope: float = 1e-2, inplace: bool = False) -> None:
        super().__init__()
        self.negative_slope = negative_slope
        self.inplace = inplace


class RReLU(_Activation, of=F.rrelu):
    """`LeakyReLU` with slopes drawn between `lower` and `upper`; in evaluation their middle."""

    def __init__(
        self, lower: float = 1.0 / 8, upper: float = 1.0 / 3, inplace: bool = False
    ) -> None:
        super().__init__()
        self.lower = lower
        self.upper = upper
        self.inplace = inplace

    def forward(self, input: Any) -> Any:
        return F.rrelu(input, self.lower, self.upper, self.training, self.inplace)


class PReLU(Module):
    """`LeakyReLU` whose slope is a parameter, which starts as `init`: one, or one per channel.

    >>> import compat as torch
    >>> PReLU()(torch.tensor([-1.0, 2.0]))
    tensor([-0.2500,  2.0000], grad_fn=<PreluKernelBackward0>)
    """

    def __init__(
        self, num_parameters: int = 1, init: float = 0.25, device: Any = None, dtype: Any = None
    ) -> None:
        super().__init__()
        self.num_parameters = num_parameters
        self.init = init
        self.weight = Parameter(empty((num_parameters,), dtype=dtype, device=device))
        self.reset_parameters()

    def reset_parameters(self) -> None:
        """Make all slopes `init`."""
        start.constant_(self.weight, self.init)

    def forward(self, input: Any) -> Any:
        return F.prelu(input, self.weight)

    def extra_repr(self) -> str:
        return f"num_parameters={self.num_parameters}"


class ELU(_Activation, of=F.elu):
    """``x`` where it is positive, elsewhere ``alpha * (exp(x) - 1)``."""

    def __init__(self, alpha: float = 1.0, inplace: bool = False) -> None:
        super().__init__()
        self.alpha = alpha
        self.inplace = inplace


class CELU(_Activation, of=F.celu):
    """``x`` where it is positive, elsewhere ``alpha * (exp(x / alpha) - 1)``."""

    def __init__(self, alpha: float = 1.0, inplace: bool = False) -> None:
        super().__init__()
        self.alpha = alpha
        self.inplace = inplace


class SELU(_Activation, of=F.selu):
    """`ELU`, scaled so that mean 0 and variance 1 are kept."""

    def __init__(self, inplace: bool = False) -> None:
        super().__init__()
        self.inplace = inplace


# ---------------------------------------------------------------- smooth


class Tanh(_Activation, of=F.tanh):
    """``tanh(x)``."""


class Sigmoid(_Activation, of=F.sigmoid):
    """``1 / (1 + exp(-x))``."""


class LogSigmoid(_Activation, of=F.logsigmoid):
    """``-log(1 + exp(-x))``."""


class Softsign(_Activation, of=F.softsign):
    """``x / (1 + |x|)``."""


class Tanhshrink(_Activation, of=F.tanhshrink):
    """``x - tanh(x)``."""


class SiLU(_Activation, of=F.silu):
    """``x / (1 + exp(-x))``, also known as swish."""

    def __init__(self, inplace: bool = False) -> None:
        super().__init__()
        self.inplace = inplace


class Mish(_Activation, of=F.mish):
    """``x * tanh(log(1 + exp(x)))``."""

    def __init__(self, inplace: bool = False) -> None:
        super().__init__()
        self.inplace = inplace


class GELU(_Activation, of=F.gelu):
    """``x`` times the normal distribution function of it; "tanh" is an approximation.

    >>> GELU("tanh")
    GELU(approximate='tanh')
    """

    def __init__(self, approximate: str = "none") -> None:
        super().__init__()
        self.approximate = approximate

    def extra_repr(self) -> str:
        return f"approximate={self.approximate!r}"


class Softplus(_Activation, of=F.softplus):
    """``log(1 + exp(beta * x)) / beta``; ``x`` itself where ``beta * x > threshold``."""

    def __init__(self, beta: float = 1.0, threshold: float = 20.0) -> None:
        super().__init__()
        self.beta = beta
        self.threshold = threshold


class GLU(_Activation, of=F.glu):
    """``a * sigmoid(b)`` of the two halves of ``x`` along `dim`."""

    def __init__(self, dim: int = -1) -> None:
        super().__init__()
        self.dim = dim


# ---------------------------------------------------------------- with constant parts


class Hardtanh(_Activation, of=F.hardtanh):
    """``min(max(x, min_val), max_val)``; `min_value` and `max_value` are the old names.

    Raises: AssertionError: there is nothing between the bounds.
    """

    _options = ("min_val", "max_val", "inplace")

    def __init__(
        self,
        min_val: float = -1.0,
        max_val: float = 1.0,
        inplace: bool = False,
        min_value: float | None = None,
        max_value: float | None = None,
    ) -> None:
        super().__init__()
        if min_value is not None or max_value is not None:
            said = "`min_value` and `max_value` are deprecated: use `min_val` and `max_val`"
            warnings.warn(said, FutureWarning, stacklevel=2)
            min_val = min_val if min_value is None else min_value
            max_val = max_val if max_value is None else max_value
        if max_val <= min_val:
            raise AssertionError(f"max_val ({max_val}) must be greater than min_val ({min_val})")
        self.min_val = min_val
        self.max_val = max_val
        self.inplace = inplace


class ReLU6(Hardtanh):
    """``min(max(x, 0), 6)``."""

    def __init__(self, inplace: bool = False) -> None:
        super().__init__(0.0, 6.0, inplace)

    def extra_repr(self) -> str:
        return "inplace=True" if self.inplace else ""


class Hardsigmoid(_Activation, of=F.hardsigmoid):
    """``min(max(x / 6 + 1 / 2, 0), 1)``."""

    def __init__(self, inplace: bool = False) -> None:
        super().__init__()
        self.inplace = inplace

    def extra_repr(self) -> str:
        return ""


class Hardswish(_Activation, of=F.hardswish):
    """``x * min(max(x + 3, 0), 6) / 6``."""

    def __init__(self, inplace: bool = False) -> None:
        super().__init__()
        self.inplace = inplace

    def extra_repr(self) -> str:
        return ""


class Hardshrink(_Activation, of=F.hardshrink):
    """``x``, but 0 where ``|x| <= lambd``."""

    def __init__(self, lambd: float = 0.5) -> None:
        super().__init__()
        self.lambd = lambd

    def extra_repr(self) -> str:
        return f"{self.lambd}"


class Softshrink(_Activation, of=F.softshrink):
    """``x`` brought nearer to 0 by `lambd`; 0 where ``|x| <= lambd``."""

    def __init__(self, lambd: float = 0.5) -> None:
        super().__init__()
        self.lambd = lambd

    def extra_repr(self) -> str:
        return f"{self.lambd}"


class Threshold(_Activation, of=F.threshold):
    """``x`` where it is greater than `threshold`, elsewhere `value`."""

    def __init__(self, threshold: float, value: float, inplace: bool = False) -> None:
        super().__init__()
        self.threshold = threshold
        self.value = value
        self.inplace = inplace


# ---------------------------------------------------------------- that sum to 1


class Softmax(_Activation, of=F.softmax):
    """``exp(x_i) / sum_j exp(x_j)`` along `dim`.

    >>> import compat as torch
    >>> torch.nn.Softmax(dim=0)(torch.zeros(2))
    tensor([0.5000, 0.5000])
    """

    def __init__(self, dim: int | None = None) -> None:
        super().__init__()
        self.dim = dim


class Softmin(_Activation, of=F.softmin):
    """`Softmax` of ``-x``."""

    def __init__(self, dim: int | None = None) -> None:
        super().__init__()
        self.dim = dim


class LogSoftmax(_Activation, of=F.log_softmax):
    """``x_i - log sum_j exp(x_j)`` along `dim`."""

    def __init__(self, dim: int | None = None) -> None:
        super().__init__()
        self.dim = dim


class Softmax2d(Module):
    """`Softmax` over the channels of images.

    Shapes: ``(N, C, H, W)`` or ``(C, H, W)``.
    Raises: ValueError: the input has another number of axes.
    """

    def forward(self, input: Any) -> Any:
        if input.dim() not in (3, 4):
            raise ValueError(
                f"Softmax2d: expected input to be 3D or 4D, got {input.dim()}D instead"
            )
        return F.softmax(input, -3)


__all__ = [
    "CELU",
    "ELU",
    "GELU",
    "GLU",
    "SELU",
    "Hardshrink",
    "Hardsigmoid",
    "Hardswish",
    "Hardtanh",
    "LeakyReLU",
    "LogSigmoid",
    "LogSoftmax",
    "Mish",
    "PReLU",
    "RReLU",
    "ReLU",
    "ReLU6",
    "SiLU",
    "Sigmoid",
    "Softmax",
    "Softmax2d",
    "Softmin",
    "Softplus",
    "Softshrink",
    "Softsign",
    "Tanh",
    "Tanhshrink",
    "Threshold",
]
