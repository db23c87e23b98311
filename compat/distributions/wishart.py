"""The distribution `Wishart`."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import compat as torch

from ..size import Size
from . import _draws, constraints
from .chi2 import Chi2
from .distribution import EMPTY
from .exp_family import ExponentialFamily
from .multivariate_normal import factor_of, half_log_det, one_matrix
from .utils import lazy_property

if TYPE_CHECKING:
    from .._tensor import Tensor


def _multidigamma(x: Any, p: int) -> Any:
    """``sum_j digamma(x - j / 2)`` for j = 0, ..., p - 1."""
    halves = torch.arange(p, dtype=x.dtype, device=x.device) / 2
    return torch.digamma(x.unsqueeze(-1) - halves).sum(-1)


class Wishart(ExponentialFamily):
    """``log p(X)`` in ``(df - p - 1) / 2 log det X - tr(V^-1 X) / 2`` for the scale matrix V.

    V is `covariance_matrix`, or given by its inverse or its Cholesky factor. Shapes: df (*batch),
    matrices and values (*batch, p, p).
    Raises: ValueError: not one matrix is given, or ``df <= p - 1``.

    >>> import compat as torch
    >>> Wishart(torch.tensor(3.0), torch.eye(2)).mean
    tensor([[3., 0.],
            [0., 3.]])
    """

    support = constraints.positive_definite
    has_rsample = True
    _mean_carrier_measure = 0

    @property
    def arg_constraints(self) -> Any:
        return {
            "covariance_matrix": constraints.positive_definite,
            "precision_matrix": constraints.positive_definite,
            "scale_tril": constraints.lower_cholesky,
            "df": constraints.greater_than(self._size() - 1),
        }

    def __init__(
        self,
        df: Any,
        covariance_matrix: Any = None,
        precision_matrix: Any = None,
        scale_tril: Any = None,
        validate_args: bool | None = None,
    ) -> None:
        name, matrix = one_matrix(covariance_matrix, precision_matrix, scale_tril)
        if matrix.dim() < 2:
            raise ValueError(
                f"{name} must be at least two-dimensional, with optional leading batch dimensions"
            )
        df = torch.as_tensor(df, dtype=matrix.dtype, device=matrix.device)
        batch, event = torch.broadcast_shapes(matrix.shape[:-2], df.shape), matrix.shape[-2:]
        if not (df > event[-1] - 1).all():
            raise ValueError(
                f"Value of df={df} expected to be greater than ndim - 1 = {event[-1] - 1}."
            )
        self.df = df.expand(batch)
        setattr(self, name, matrix.expand((*batch, -1, -1)))
        self._event_shape = event
        super().__init__(batch, event, validate_args=validate_args)
        self._unbroadcasted_scale_tril = factor_of(name, matrix)
        self._chi2 = self._chi2_of(self.df)

    def _size(self) -> int:
        return self._event_shape[-1]

    def _chi2_of(self, df: Any) -> Any:
        """The squares of the diagonal of Bartlett's factor."""
        steps = torch.arange(self._size(), dtype=df.dtype, device=df.device)
        return Chi2(df.unsqueeze(-1) - steps)

    def expand(self, batch_shape: Any, _instance: Any = None) -> Any:
        new = self._get_checked_instance(Wishart, _instance)
        shape = Size(batch_shape)
        new._unbroadcasted_scale_tril = self._unbroadcasted_scale_tril
        new.df, new._event_shape = self.df.expand(shape), self.event_shape
        for name in ("covariance_matrix", "scale_tril", "precision_matrix"):
            if name in self.__dict__:
                new.__dict__[name] = self.__dict__[name].expand(shape + self.event_shape)
        new._chi2 = new._chi2_of(new.df)
        super(Wishart, new).__init__(shape, self.event_shape, validate_args=False)
        new._validate_args = self._validate_args
        return new

    def _expand_matrix(self, matrix: Any) -> Any:
        return matrix.expand(self._batch_shape + self._event_shape)

    @lazy_property
    def scale_tril(self) -> Any:
        """The Cholesky factor of the scale matrix."""
        return self._expand_matrix(self._unbroadcasted_scale_tril)

    @lazy_property
    def covariance_matrix(self) -> Any:
        """The scale matrix."""
        factor = self._unbroadcasted_scale_tril
        return self._expand_matrix(factor @ factor.mT)

    @lazy_property
    def precision_matrix(self) -> Any:
        """The inverse of the scale matrix."""
        return self._expand_matrix(torch.cholesky_inverse(self._unbroadcasted_scale_tril))

    @property
    def mean(self) -> Tensor:
        return self.df.view((*self._batch_shape, 1, 1)) * self.covariance_matrix

    @property
    def mode(self) -> Tensor:
        factor = self.df - self._size() - 1
        factor = torch.where(factor > 0, factor, math.nan)
        return factor.view((*self._batch_shape, 1, 1)) * self.covariance_matrix

    @property
    def variance(self) -> Tensor:
        v = self.covariance_matrix
        diagonal = v.diagonal(dim1=-2, dim2=-1)
        square = v.pow(2) + diagonal.unsqueeze(-1) * diagonal.unsqueeze(-2)
        return self.df.view((*self._batch_shape, 1, 1)) * square

    def rsample(self, sample_shape: Any = EMPTY, max_try_correction: Any = None) -> Tensor:
        """``L A A' L'``: A is lower triangular of normal numbers and roots of `Chi2` numbers.

        Float errors never make it indefinite enough for `max_try_correction` to be of use.
        """
        diagonal = self._chi2.rsample(sample_shape).sqrt()
        below = _draws.normal(diagonal, self._extended_shape(sample_shape)).tril(-1)
        factor = self._unbroadcasted_scale_tril @ (torch.diag_embed(diagonal) + below)
        return factor @ factor.mT

    def log_prob(self, value: Any) -> Tensor:
        value, p, df = self._checked(value), self._size(), self.df
        factor = self._unbroadcasted_scale_tril
        solved = torch.cholesky_solve(value, factor)
        trace = solved.diagonal(dim1=-2, dim2=-1).sum(-1)
        normalizer = df * (p * math.log(2) / 2 + half_log_det(factor)) + torch.mvlgamma(df / 2, p)
        return (df - p - 1) / 2 * torch.linalg.slogdet(value).logabsdet - trace / 2 - normalizer

    def entropy(self) -> Tensor:
        p, df = self._size(), self.df
        found = (p + 1) * (p * math.log(2) / 2 + half_log_det(self._unbroadcasted_scale_tril))
        found = found + torch.mvlgamma(df / 2, p) + df * p / 2
        return found - (df - p - 1) / 2 * _multidigamma(df / 2, p)

    @property
    def _natural_params(self) -> tuple[Any, ...]:
        return -self.precision_matrix / 2, (self.df - self._size() - 1) / 2

    def _log_normalizer(self, x: Any, y: Any) -> Any:
        p = self._size()
        half = y + (p + 1) / 2
        return half * (-torch.linalg.slogdet(-2 * x).logabsdet + p * math.log(2)) + torch.mvlgamma(
            half, p
        )
