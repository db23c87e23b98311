"""`distributions.constraints`: sets of numbers, vectors and matrices, and whether tensors are in them.

A constraint's `check` gives one truth value for each event: an event is the last `event_dim` axes.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import compat as torch

from .. import dtypes

# ---------------------------------------------------------------- the base and the dependent ones


class Constraint:
    """A set; `event_dim` is how many axes an element has, `is_discrete` whether it is countable."""

    is_discrete: Any = False
    event_dim: Any = 0

    def check(self, value: Any) -> Any:
        """For each event of `value` whether it is in the set."""
        raise NotImplementedError

    def __repr__(self) -> str:
        return self.__class__.__name__[1:] + "()"


class _Dependent(Constraint):
    """A set that depends on other parameters: it cannot be checked by itself."""

    def __init__(
        self, *, is_discrete: Any = NotImplemented, event_dim: Any = NotImplemented
    ) -> None:
        self._is_discrete, self._event_dim = is_discrete, event_dim
        super().__init__()

    @property
    def is_discrete(self) -> bool:
        if self._is_discrete is NotImplemented:
            raise NotImplementedError(".is_discrete cannot be determined statically")
        return self._is_discrete

    @property
    def event_dim(self) -> int:
        if self._event_dim is NotImplemented:
            raise NotImplementedError(".event_dim cannot be determined statically")
        return self._event_dim

    def __call__(
        self, *, is_discrete: Any = NotImplemented, event_dim: Any = NotImplemented
    ) -> _Dependent:
        discrete = self._is_discrete if is_discrete is NotImplemented else is_discrete
        dims = self._event_dim if event_dim is NotImplemented else event_dim
        return _Dependent(is_discrete=discrete, event_dim=dims)

    def check(self, value: Any) -> Any:
        raise ValueError("Cannot determine validity of dependent constraint")


class dependent_property(property, _Dependent):
    """A property that returns a constraint of an instance; on the class it is a dependent one."""

    def __init__(
        self,
        fn: Callable[..., Any] | None = None,
        *,
        is_discrete: Any = NotImplemented,
        event_dim: Any = NotImplemented,
    ) -> None:
        property.__init__(self, fn)
        self._is_discrete, self._event_dim = is_discrete, event_dim

    def __repr__(self) -> str:
        return "DependentProperty()"

    def __call__(self, fn: Callable[..., Any]) -> dependent_property:  # type: ignore[override]
        return dependent_property(fn, is_discrete=self._is_discrete, event_dim=self._event_dim)


def _require_constraint(given: Any) -> None:
    if not isinstance(given, Constraint):
        raise AssertionError(f"base_constraint must be a Constraint, got {type(given).__name__}")


def is_dependent(constraint: Any) -> bool:
    """Whether the set depends on other parameters."""
    return isinstance(constraint, _Dependent)


class _IndependentConstraint(Constraint):
    """A set of events whose last axes are `reinterpreted_batch_ndims` axes of single events.

    Raises: AssertionError: `base_constraint` is no constraint, or the number none of axes.
    """

    def __init__(self, base_constraint: Any, reinterpreted_batch_ndims: int) -> None:
        _require_constraint(base_constraint)
        n = reinterpreted_batch_ndims
        if not isinstance(n, int):
            raise AssertionError(
                f"reinterpreted_batch_ndims must be an int, got {type(n).__name__}"
            )
        if n < 0:
            raise AssertionError(f"reinterpreted_batch_ndims must be >= 0, got {n}")
        self.base_constraint = base_constraint
        self.reinterpreted_batch_ndims = reinterpreted_batch_ndims
        super().__init__()

    @property
    def is_discrete(self) -> bool:
        return self.base_constraint.is_discrete

    @property
    def event_dim(self) -> int:
        return self.base_constraint.event_dim + self.reinterpreted_batch_ndims

    def check(self, value: Any) -> Any:
        found = self.base_constraint.check(value)
        keep = found.dim() - self.reinterpreted_batch_ndims
        if keep < 0:
            wanted = self.base_constraint.event_dim + self.reinterpreted_batch_ndims
            raise ValueError(f"Expected value.dim() >= {wanted} but got {value.dim()}")
        return found.reshape((*found.shape[:keep], -1)).all(-1)

    def __repr__(self) -> str:
        name, n = self.__class__.__name__[1:], self.reinterpreted_batch_ndims
        return f"{name}({self.base_constraint!r}, {n})"


class MixtureSameFamilyConstraint(Constraint):
    """The set of a mixture's components, which values lack the axis of.

    Raises: AssertionError: `base_constraint` is no constraint.
    """

    def __init__(self, base_constraint: Any) -> None:
        _require_constraint(base_constraint)
        self.base_constraint = base_constraint
        super().__init__()

    @property
    def is_discrete(self) -> bool:
        return self.base_constraint.is_discrete

    @property
    def event_dim(self) -> int:
        return self.base_constraint.event_dim

    def check(self, value: Any) -> Any:
        if value.dim() < self.event_dim:
            raise ValueError(f"Expected value.dim() >= {self.event_dim} but got {value.dim()}")
        found = self.base_constraint.check(value.unsqueeze(-1 - self.event_dim))
        batch = value.dim() - self.event_dim
        return found.reshape(*found.shape[:batch], -1).all(-1)

    def __repr__(self) -> str:
        return f"{self.__class__.__name__}({self.base_constraint!r})"


# ---------------------------------------------------------------- numbers


class _Boolean(Constraint):
    """0 and 1."""

    is_discrete = True

    def check(self, value: Any) -> Any:
        return (value == 0) | (value == 1)


class _Real(Constraint):
    """All numbers, infinite ones too, but NaN."""

    def check(self, value: Any) -> Any:
        return value == value


class _Bounded(Constraint):
    """Bounds that the printed form shows."""

    _bounds: tuple[str, ...] = ("lower_bound", "upper_bound")

    def __init__(self, *bounds: Any) -> None:
        for name, bound in zip(self._bounds, bounds, strict=True):
            setattr(self, name, bound)
        super().__init__()

    def __repr__(self) -> str:
        shown = ", ".join(f"{name}={getattr(self, name)}" for name in self._bounds)
        return f"{self.__class__.__name__[1:]}({shown})"


class _IntegerInterval(_Bounded):
    """Integers from `lower_bound` to `upper_bound`, both in it."""

    is_discrete = True
    lower_bound: Any
    upper_bound: Any

    def __init__(self, lower_bound: Any, upper_bound: Any) -> None:
        super().__init__(lower_bound, upper_bound)

    def check(self, value: Any) -> Any:
        return (value % 1 == 0) & (self.lower_bound <= value) & (value <= self.upper_bound)


class _IntegerLessThan(_Bounded):
    """Integers up to `upper_bound`, which is in it."""

    is_discrete = True
    _bounds = ("upper_bound",)
    upper_bound: Any

    def __init__(self, upper_bound: Any) -> None:
        super().__init__(upper_bound)

    def check(self, value: Any) -> Any:
        return (value % 1 == 0) & (value <= self.upper_bound)


class _IntegerGreaterThan(_Bounded):
    """Integers from `lower_bound` on, which is in it."""

    is_discrete = True
    _bounds = ("lower_bound",)
    lower_bound: Any

    def __init__(self, lower_bound: Any) -> None:
        super().__init__(lower_bound)

    def check(self, value: Any) -> Any:
        return (value % 1 == 0) & (value >= self.lower_bound)


class _GreaterThan(_Bounded):
    """Numbers above `lower_bound`."""

    _bounds = ("lower_bound",)
    lower_bound: Any

    def __init__(self, lower_bound: Any) -> None:
        super().__init__(lower_bound)

    def check(self, value: Any) -> Any:
        return self.lower_bound < value


class _GreaterThanEq(_Bounded):
    """Numbers from `lower_bound` on."""

    _bounds = ("lower_bound",)
    lower_bound: Any

    def __init__(self, lower_bound: Any) -> None:
        super().__init__(lower_bound)

    def check(self, value: Any) -> Any:
        return self.lower_bound <= value


class _LessThan(_Bounded):
    """Numbers below `upper_bound`."""

    _bounds = ("upper_bound",)
    upper_bound: Any

    def __init__(self, upper_bound: Any) -> None:
        super().__init__(upper_bound)

    def check(self, value: Any) -> Any:
        return value < self.upper_bound


class _Interval(_Bounded):
    """Numbers from `lower_bound` to `upper_bound`, both in it."""

    lower_bound: Any
    upper_bound: Any

    def __init__(self, lower_bound: Any, upper_bound: Any) -> None:
        super().__init__(lower_bound, upper_bound)

    def check(self, value: Any) -> Any:
        return (self.lower_bound <= value) & (value <= self.upper_bound)


class _HalfOpenInterval(_Interval):
    """Numbers from `lower_bound`, which is in it, to `upper_bound`, which is not."""

    def check(self, value: Any) -> Any:
        return (self.lower_bound <= value) & (value < self.upper_bound)


# ---------------------------------------------------------------- vectors


class _OneHot(Constraint):
    """Vectors of one 1 and zeros."""

    is_discrete = True
    event_dim = 1

    def check(self, value: Any) -> Any:
        return ((value == 0) | (value == 1)).all(-1) & value.sum(-1).eq(1)


class _Simplex(Constraint):
    """Vectors of no negative number whose sum is 1, up to 1e-6."""

    event_dim = 1

    def check(self, value: Any) -> Any:
        return torch.all(value >= 0, dim=-1) & ((value.sum(-1) - 1).abs() < 1e-6)


class _Multinomial(Constraint):
    """Vectors of counts whose sum is at most `upper_bound`."""

    is_discrete = True
    event_dim = 1

    def __init__(self, upper_bound: Any) -> None:
        self.upper_bound = upper_bound

    def check(self, value: Any) -> Any:
        return (value >= 0).all(dim=-1) & (value.sum(dim=-1) <= self.upper_bound)


# ---------------------------------------------------------------- matrices


def _each_matrix(holds: Any) -> Any:
    """Truth values of elements as one for each matrix."""
    return holds.flatten(-2).all(-1)


class _LowerTriangular(Constraint):
    """Square matrices with zeros above the diagonal."""

    event_dim = 2

    def check(self, value: Any) -> Any:
        return _each_matrix(value.tril() == value)


class _LowerCholesky(Constraint):
    """Lower triangular matrices with a positive diagonal."""

    event_dim = 2

    def check(self, value: Any) -> Any:
        positive_diagonal = (value.diagonal(dim1=-2, dim2=-1) > 0).min(-1)[0]
        return _each_matrix(value.tril() == value) & positive_diagonal


class _CorrCholesky(Constraint):
    """Cholesky factors of correlation matrices: rows of length 1."""

    event_dim = 2

    def check(self, value: Any) -> Any:
        tolerance = torch.finfo(value.dtype).eps * value.size(-1) * 10  # 10 is a fair margin
        length = torch.linalg.norm(value.detach(), dim=-1)
        return _LowerCholesky().check(value) & (length - 1.0).abs().le(tolerance).all(dim=-1)


class _Square(Constraint):
    """Square matrices."""

    event_dim = 2

    def check(self, value: Any) -> Any:
        square_shape = value.shape[-2] == value.shape[-1]
        return torch.full(value.shape[:-2], square_shape, dtype=dtypes.bool, device=value.device)


class _Symmetric(_Square):
    """Symmetric matrices."""

    def check(self, value: Any) -> Any:
        found = super().check(value)
        if not found.all():
            return found
        return torch.isclose(value, value.mT, atol=1e-6).all(-2).all(-1)


class _PositiveSemidefinite(_Symmetric):
    """Symmetric matrices without negative eigenvalues."""

    def check(self, value: Any) -> Any:
        found = super().check(value)
        return torch.linalg.eigvalsh(value).ge(0).all(-1) if found.all() else found


class _PositiveDefinite(_Symmetric):
    """Symmetric matrices that have a Cholesky factor."""

    def check(self, value: Any) -> Any:
        found = super().check(value)
        return torch.linalg.cholesky_ex(value).info.eq(0) if found.all() else found


# ---------------------------------------------------------------- parts along an axis


class _Cat(Constraint):
    """Parts of the given lengths along the axis `dim`, each in a set of its own."""

    def __init__(
        self, cseq: Sequence[Constraint], dim: int = 0, lengths: Sequence[int] | None = None
    ) -> None:
        self.cseq = list(cseq)
        self.lengths = [1] * len(self.cseq) if lengths is None else list(lengths)
        if len(self.lengths) != len(self.cseq):
            raise AssertionError(f"{len(self.cseq)} constraints but {len(self.lengths)} lengths")
        self.dim = dim
        super().__init__()

    @property
    def is_discrete(self) -> bool:
        return any(c.is_discrete for c in self.cseq)

    @property
    def event_dim(self) -> int:
        return max(c.event_dim for c in self.cseq)

    def check(self, value: Any) -> Any:
        parts = value.split(self.lengths, self.dim)
        return torch.cat([c.check(v) for c, v in zip(self.cseq, parts, strict=True)], self.dim)


class _Stack(Constraint):
    """Slices along the axis `dim`, each in a set of its own."""

    def __init__(self, cseq: Sequence[Constraint], dim: int = 0) -> None:
        self.cseq = list(cseq)
        self.dim = dim
        super().__init__()

    @property
    def is_discrete(self) -> bool:
        return any(c.is_discrete for c in self.cseq)

    @property
    def event_dim(self) -> int:
        dim = max(c.event_dim for c in self.cseq)
        return dim + 1 if self.dim + dim < 0 else dim

    def check(self, value: Any) -> Any:
        parts = value.unbind(self.dim)
        return torch.stack([c.check(v) for c, v in zip(self.cseq, parts, strict=True)], self.dim)


# The public names: sets that are values, and functions that make sets.
dependent = _Dependent()
independent = _IndependentConstraint
boolean = _Boolean()
one_hot = _OneHot()
nonnegative_integer = _IntegerGreaterThan(0)
positive_integer = _IntegerGreaterThan(1)
integer_interval = _IntegerInterval
real = _Real()
real_vector = independent(real, 1)
positive = _GreaterThan(0.0)
nonnegative = _GreaterThanEq(0.0)
greater_than = _GreaterThan
greater_than_eq = _GreaterThanEq
less_than = _LessThan
multinomial = _Multinomial
unit_interval = _Interval(0.0, 1.0)
interval = _Interval
half_open_interval = _HalfOpenInterval
simplex = _Simplex()
lower_triangular = _LowerTriangular()
lower_cholesky = _LowerCholesky()
corr_cholesky = _CorrCholesky()
square = _Square()
symmetric = _Symmetric()
positive_semidefinite = _PositiveSemidefinite()
positive_definite = _PositiveDefinite()
cat = _Cat
stack = _Stack

__all__ = [
    "Constraint",
    "MixtureSameFamilyConstraint",
    "boolean",
    "cat",
    "corr_cholesky",
    "dependent",
    "dependent_property",
    "greater_than",
    "greater_than_eq",
    "half_open_interval",
    "independent",
    "integer_interval",
    "interval",
    "is_dependent",
    "less_than",
    "lower_cholesky",
    "lower_triangular",
    "multinomial",
    "nonnegative",
    "nonnegative_integer",
    "one_hot",
    "positive",
    "positive_definite",
    "positive_integer",
    "positive_semidefinite",
    "real",
    "real_vector",
    "simplex",
    "square",
    "stack",
    "symmetric",
    "unit_interval",
]
