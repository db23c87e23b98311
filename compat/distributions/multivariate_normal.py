"""The distribution `MultivariateNormal`."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, ClassVar

import compat as torch

from ..size import Size
from . import _draws, constraints
from .distribution import EMPTY, Distribution
from .utils import lazy_property

if TYPE_CHECKING:
    from .._tensor import Tensor


def _batch_mv(bmat: Any, bvec: Any) -> Any:
    """Matrices times vectors."""
    return torch.matmul(bmat, bvec.unsqueeze(-1)).squeeze(-1)


def _batch_mahalanobis(bL: Any, bx: Any) -> Any:
    """``x' M^-1 x`` for ``M = L L'``; the shapes broadcast."""
    whitened = torch.linalg.solve_triangular(bL, bx.unsqueeze(-1), upper=False)
    return whitened.pow(2).sum((-2, -1))


def _precision_to_scale_tril(P: Any) -> Any:
    """The Cholesky factor of the inverse of `P`."""
    flipped = torch.linalg.cholesky(torch.flip(P, (-2, -1)))
    inverse = torch.flip(flipped, (-2, -1)).mT
    eye = torch.eye(P.shape[-1], dtype=P.dtype, device=P.device)
    return torch.linalg.solve_triangular(inverse, eye.expand(P.shape), upper=False)


class MultivariateNormal(Distribution):
    """``log p(x) = -(x - loc)' C^-1 (x - loc) / 2 - log det(2 pi C) / 2`` for the covariance C.

    The covariance is given as it is, as its inverse, or as its Cholesky factor `scale_tril`.
    Shapes: loc (*batch, D), matrices (*batch, D, D).
    Raises: ValueError: not one matrix is given, or it is no such one.

    >>> import compat as torch
    >>> MultivariateNormal(torch.zeros(2), torch.eye(2)).log_prob(torch.zeros(2))
    tensor(-1.8379)
    """

    arg_constraints: ClassVar[Any] = {
        "loc": constraints.real_vector,
        "covariance_matrix": constraints.positive_definite,
        "precision_matrix": constraints.positive_definite,
        "scale_tril": constraints.lower_cholesky,
    }
    support = constraints.real_vector
    has_rsample = True

    def __init__(
        self,
        loc: Any,
        covariance_matrix: Any = None,
        precision_matrix: Any = None,
        scale_tril: Any = None,
        validate_args: bool | None = None,
    ) -> None:
        if loc.dim() < 1:
            raise ValueError("loc must be at least one-dimensional.")
        name, matrix = one_matrix(covariance_matrix, precision_matrix, scale_tril)
        if matrix.dim() < 2:
            raise ValueError(
                f"{name} must be at least two-dimensional, with optional leading batch dimensions"
            )
        batch = torch.broadcast_shapes(matrix.shape[:-2], loc.shape[:-1])
        setattr(self, name, matrix.expand((*batch, -1, -1)))
        self.loc = loc.expand((*batch, -1))
        super().__init__(batch, self.loc.shape[-1:], validate_args=validate_args)
        self._unbroadcasted_scale_tril = factor_of(name, matrix)

    def expand(self, batch_shape: Any, _instance: Any = None) -> Any:
        new = self._get_checked_instance(MultivariateNormal, _instance)
        shape = Size(batch_shape)
        new.loc = self.loc.expand(shape + self.event_shape)
        new._unbroadcasted_scale_tril = self._unbroadcasted_scale_tril
        for name in ("covariance_matrix", "scale_tril", "precision_matrix"):
            if name in self.__dict__:
                matrix = self.__dict__[name]
                new.__dict__[name] = matrix.expand(shape + self.event_shape + self.event_shape)
        super(MultivariateNormal, new).__init__(shape, self.event_shape, validate_args=False)
        new._validate_args = self._validate_args
        return new

    def _expand_matrix(self, matrix: Any) -> Any:
        return matrix.expand(self._batch_shape + self._event_shape + self._event_shape)

    @lazy_property
    def scale_tril(self) -> Any:
        """The Cholesky factor of the covariance."""
        return self._expand_matrix(self._unbroadcasted_scale_tril)

    @lazy_property
    def covariance_matrix(self) -> Any:
        """The covariance."""
        factor = self._unbroadcasted_scale_tril
        return self._expand_matrix(torch.matmul(factor, factor.mT))

    @lazy_property
    def precision_matrix(self) -> Any:
        """The inverse of the covariance."""
        return self._expand_matrix(torch.cholesky_inverse(self._unbroadcasted_scale_tril))

    @property
    def mean(self) -> Tensor:
        return self.loc

    @property
    def mode(self) -> Tensor:
        return self.loc

    @property
    def variance(self) -> Tensor:
        found = self._unbroadcasted_scale_tril.pow(2).sum(-1)
        return found.expand(self._batch_shape + self._event_shape)

    def rsample(self, sample_shape: Any = EMPTY) -> Tensor:
        noise = _draws.normal(self.loc, self._extended_shape(sample_shape))
        return self.loc + _batch_mv(self._unbroadcasted_scale_tril, noise)

    def log_prob(self, value: Any) -> Tensor:
        d = self._checked(value) - self.loc
        distance = _batch_mahalanobis(self._unbroadcasted_scale_tril, d)
        constant = self._event_shape[0] * math.log(2 * math.pi)
        return -0.5 * (constant + distance) - half_log_det(self._unbroadcasted_scale_tril)

    def entropy(self) -> Tensor:
        constant = 0.5 * self._event_shape[0] * (1.0 + math.log(2 * math.pi))
        found = constant + half_log_det(self._unbroadcasted_scale_tril)
        return found.expand(self._batch_shape)


def one_matrix(covariance: Any, precision: Any, scale_tril: Any) -> tuple[str, Any]:
    """The name and the matrix of the one that is given.

    Raises: ValueError: there is not exactly one.
    """
    names = ("covariance_matrix", "precision_matrix", "scale_tril")
    pairs = zip(names, (covariance, precision, scale_tril), strict=True)
    given = [(name, matrix) for name, matrix in pairs if matrix is not None]
    if len(given) != 1:
        raise ValueError(
            "Exactly one of covariance_matrix or precision_matrix or scale_tril may be specified."
        )
    return given[0]


def factor_of(name: str, matrix: Any) -> Any:
    """The Cholesky factor of the covariance that `one_matrix` names."""
    if name == "scale_tril":
        return matrix
    if name == "covariance_matrix":
        return torch.linalg.cholesky(matrix)
    return _precision_to_scale_tril(matrix)


def half_log_det(factor: Any) -> Any:
    """``log det(L L') / 2``."""
    return factor.diagonal(dim1=-2, dim2=-1).log().sum(-1)
