"""`Distribution`: what all distributions have."""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING, Any

import compat as torch

from ..size import Size
from . import constraints
from .utils import lazy_property

if TYPE_CHECKING:
    from .._tensor import Tensor

EMPTY = Size()


class Distribution:
    """The base: a batch of distributions (`batch_shape`) of events (`event_shape`).

    ``sample(s).shape == s + batch_shape + event_shape``; ``log_prob`` has the batch's shape.
    Raises: ValueError: a parameter is not in its set of `arg_constraints`, if arguments are checked.
    """

    has_rsample: Any = False
    has_enumerate_support: Any = False
    _validate_args = __debug__

    @staticmethod
    def set_default_validate_args(value: bool) -> None:
        """Whether distributions check their arguments if their `validate_args` is None."""
        if value not in [True, False]:
            raise ValueError("validate_args is either True or False")
        Distribution._validate_args = value

    def __init__(
        self,
        batch_shape: Any = EMPTY,
        event_shape: Any = EMPTY,
        validate_args: bool | None = None,
    ) -> None:
        self._batch_shape, self._event_shape = batch_shape, event_shape
        if validate_args is not None:
            self._validate_args = validate_args
        if self._validate_args:
            self._check_parameters()
        super().__init__()

    def _check_parameters(self) -> None:
        try:
            sets = self.arg_constraints
        except NotImplementedError:
            warnings.warn(
                f"{self.__class__} does not define `arg_constraints`. Please set `arg_constraints` "
                "= {} or initialize the distribution with `validate_args=False` to turn off "
                "validation.",
                stacklevel=3,
            )
            return
        for name, constraint in sets.items():
            lazy = isinstance(getattr(type(self), name, None), lazy_property)
            if constraints.is_dependent(constraint) or (lazy and name not in self.__dict__):
                continue
            value = getattr(self, name)
            if not constraint.check(value).all():
                raise ValueError(
                    f"Expected parameter {name} ({type(value).__name__} of shape "
                    f"{tuple(value.shape)}) of distribution {self!r} to satisfy the constraint "
                    f"{constraint!r}, but found invalid values:\n{value}"
                )

    def _expanded(self, cls: Any, batch_shape: Any, _instance: Any, *names: str) -> Any:
        """A copy whose attributes `names` (those there are) have the batch's shape."""
        new: Any = self._get_checked_instance(cls, _instance)
        shape = Size(batch_shape)
        for name in names:
            if name in self.__dict__:
                new.__dict__[name] = self.__dict__[name].expand(shape)
        super(cls, new).__init__(shape, validate_args=False)  # type: ignore[call-arg]
        new._validate_args = self._validate_args
        return new

    def expand(self, batch_shape: Any, _instance: Any = None) -> Any:
        """The distribution with its parameters expanded to a batch of the shape."""
        raise NotImplementedError

    @property
    def batch_shape(self) -> Any:
        """The shape of the batch of distributions."""
        return self._batch_shape

    @property
    def event_shape(self) -> Any:
        """The shape of one sample."""
        return self._event_shape

    @property
    def arg_constraints(self) -> dict[str, Any]:
        """The sets that the parameters are in, by name."""
        raise NotImplementedError

    @property
    def support(self) -> Any:
        """The set that samples are in."""
        raise NotImplementedError

    @property
    def mean(self) -> Tensor:
        """The expectation of a sample."""
        raise NotImplementedError

    @property
    def mode(self) -> Tensor:
        """Where the density is largest."""
        raise NotImplementedError(f"{self.__class__} does not implement mode")

    @property
    def variance(self) -> Tensor:
        """The expectation of the squared distance from the mean."""
        raise NotImplementedError

    @property
    def stddev(self) -> Tensor:
        """The square root of the variance."""
        return self.variance.sqrt()

    def sample(self, sample_shape: Any = EMPTY) -> Tensor:
        """Random values, constants to derivatives; shape ``sample_shape + batch + event``."""
        with torch.no_grad():
            return self.rsample(sample_shape).detach()  # forward mode does not see `no_grad`

    def rsample(self, sample_shape: Any = EMPTY) -> Tensor:
        """Random values as a differentiable function of the parameters and of fixed noise."""
        raise NotImplementedError

    def sample_n(self, n: int) -> Tensor:
        """`n` random values; `sample` with ``(n,)`` is the newer form."""
        warnings.warn(
            "sample_n(n) will be deprecated. Use .sample((n,)) instead", UserWarning, stacklevel=2
        )
        return self.sample(Size((n,)))

    def log_prob(self, value: Any) -> Tensor:
        """The logarithm of the density, or of the probability, at `value`."""
        raise NotImplementedError

    def cdf(self, value: Any) -> Tensor:
        """The probability of a sample up to `value`."""
        raise NotImplementedError

    def icdf(self, value: Any) -> Tensor:
        """The inverse of `cdf`."""
        raise NotImplementedError

    def enumerate_support(self, expand: bool = True) -> Any:
        """All values of a discrete distribution, along a new first axis."""
        raise NotImplementedError

    def entropy(self) -> Tensor:
        """The expectation of ``-log_prob``."""
        raise NotImplementedError

    def perplexity(self) -> Tensor:
        """``e**entropy``."""
        return torch.exp(self.entropy())

    def _extended_shape(self, sample_shape: Any = EMPTY) -> Any:
        return Size(tuple(sample_shape) + tuple(self._batch_shape) + tuple(self._event_shape))

    def _validate_sample(self, value: Any, with_end: bool = False) -> None:
        """`with_end`: a lower end that is not in the support is allowed, too.

        Raises: ValueError: `value` is no tensor, of another shape, or not in the support.
        """
        if not isinstance(value, torch.Tensor):
            raise ValueError("The value argument to log_prob must be a Tensor")
        dims = len(self._event_shape)
        if tuple(value.shape[value.dim() - dims :]) != tuple(self._event_shape):
            raise ValueError(
                "The right-most size of value must match event_shape: "
                f"{value.shape} vs {self._event_shape}."
            )
        expected = tuple(self._batch_shape) + tuple(self._event_shape)
        for i, j in zip(reversed(value.shape), reversed(expected), strict=False):
            if i != 1 and j != 1 and i != j:
                raise ValueError(
                    "Value is not broadcastable with batch_shape+event_shape: "
                    f"{value.shape} vs {Size(expected)}."
                )
        try:
            support = self.support
        except NotImplementedError:
            warnings.warn(
                f"{self.__class__} does not define `support` to enable sample validation. Please "
                "initialize the distribution with `validate_args=False` to turn off validation.",
                stacklevel=3,
            )
            return
        if with_end and isinstance(support, constraints.greater_than):
            support = constraints.greater_than_eq(support.lower_bound)
        if not support.check(value).all():
            raise ValueError(
                f"Expected value argument ({type(value).__name__} of shape {tuple(value.shape)}) "
                f"to be within the support ({support!r}) of the distribution {self!r}, but found "
                f"invalid values:\n{value}"
            )

    def _checked(self, value: Any) -> Any:
        """`value`, which is in the support if arguments are checked."""
        if self._validate_args:
            self._validate_sample(value)
        return value

    def _get_checked_instance(self, cls: Any, _instance: Any = None) -> Any:
        if _instance is None and type(self).__init__ != cls.__init__:
            raise NotImplementedError(
                f"Subclass {self.__class__.__name__} of {cls.__name__} that defines a custom "
                "__init__ method must also define a custom .expand() method."
            )
        return self.__new__(type(self)) if _instance is None else _instance

    def __repr__(self) -> str:
        names = [k for k in self.arg_constraints if k in self.__dict__]
        values = [(k, self.__dict__[k]) for k in names]
        shown = [f"{k}: {v if v.numel() == 1 else v.size()}" for k, v in values]
        return f"{self.__class__.__name__}({', '.join(shown)})"
