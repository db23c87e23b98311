"""The distribution `StudentT`."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, ClassVar

import compat as torch
from funcgrad.scipy.stats import t as student

from ..ops._fused import fused
from . import _draws, constraints
from .chi2 import Chi2
from .distribution import EMPTY, Distribution
from .utils import broadcast_all

if TYPE_CHECKING:
    from .._tensor import Tensor

_LOG_DENSITY, _ENTROPY = student.logpdf, student.entropy  # one object each: `fused` counts calls


class StudentT(Distribution):
    """``loc + scale z / sqrt(v / df)`` for normal z and v of ``Chi2(df)``.

    Raises: ValueError: `df` or a scale is not positive.

    >>> StudentT(3.0).variance
    tensor(3.)
    """

    arg_constraints: ClassVar[Any] = {
        "df": constraints.positive,
        "loc": constraints.real,
        "scale": constraints.positive,
    }
    support = constraints.real
    has_rsample = True

    def __init__(
        self, df: Any, loc: Any = 0.0, scale: Any = 1.0, validate_args: bool | None = None
    ) -> None:
        self.df, self.loc, self.scale = broadcast_all(df, loc, scale)
        self._chi2 = Chi2(self.df)
        super().__init__(self.df.size(), validate_args=validate_args)

    def expand(self, batch_shape: Any, _instance: Any = None) -> Any:
        new = self._expanded(StudentT, batch_shape, _instance, "df", "loc", "scale")
        new._chi2 = self._chi2.expand(batch_shape)
        return new

    @property
    def mean(self) -> Tensor:
        return torch.where(self.df > 1, self.loc, math.nan)

    @property
    def mode(self) -> Tensor:
        return self.loc

    @property
    def variance(self) -> Tensor:
        finite = self.df > 2
        df = torch.where(finite, self.df, 3.0)
        found = torch.where(finite, self.scale.pow(2) * df / (df - 2), math.inf)
        return torch.where(self.df > 1, found, math.nan)

    def rsample(self, sample_shape: Any = EMPTY) -> Tensor:
        shape = self._extended_shape(sample_shape)
        z = _draws.normal(self.df, shape)
        v = self._chi2.rsample(sample_shape)
        return self.loc + self.scale * z * torch.rsqrt(v / self.df)

    def log_prob(self, value: Any) -> Tensor:
        y, df = (self._checked(value) - self.loc) / self.scale, self.df
        return fused("SubBackward0", _LOG_DENSITY, y, df) - self.scale.log()

    def entropy(self) -> Tensor:
        return self.scale.log() + fused("AddBackward0", _ENTROPY, self.df)
