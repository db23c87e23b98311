"""Transforms of vectors and matrices, and of parts along an axis."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import compat as torch

from ..nn import functional as F
from ..size import Size
from . import constraints
from ._transform_base import Transform, _SameForAll
from .utils import tril_matrix_to_vec, vec_to_tril_matrix


class CorrCholeskyTransform(Transform):
    """Vectors of length ``d (d - 1) / 2`` to Cholesky factors of correlation matrices.

    ``r = tanh(x)`` fills the part below the diagonal; ``y_ij = r_ij prod_k<j sqrt(1 - r_ik**2)``.

    >>> import compat as torch
    >>> CorrCholeskyTransform()(torch.zeros(1))
    tensor([[1., 0.],
            [0., 1.]])
    """

    domain = constraints.real_vector
    codomain = constraints.corr_cholesky
    bijective = True

    def _call(self, x: Any) -> Any:
        eps = torch.finfo(x.dtype).eps
        r = vec_to_tril_matrix(torch.tanh(x).clamp(min=-1 + eps, max=1 - eps), diag=-1)
        rest = (1 - r**2).sqrt().cumprod(-1)  # what is left of a row's length
        r = r + torch.eye(r.shape[-1], dtype=r.dtype, device=r.device)
        return r * F.pad(rest[..., :-1], [1, 0], value=1)

    def _inverse(self, y: Any) -> Any:
        rest = 1 - torch.cumsum(y * y, dim=-1)
        rest = tril_matrix_to_vec(F.pad(rest[..., :-1], [1, 0], value=1), diag=-1)
        t = tril_matrix_to_vec(y, diag=-1) / rest.sqrt()
        return (t.log1p() - t.neg().log1p()) / 2

    def log_abs_det_jacobian(self, x: Any, y: Any, intermediates: Any = None) -> Any:
        rest = tril_matrix_to_vec(1 - (y * y).cumsum(dim=-1), diag=-2)
        of_rows = 0.5 * rest.log().sum(-1)
        of_tanh = -2 * (x + F.softplus(-2 * x) - torch.tensor(2.0, dtype=x.dtype).log()).sum(-1)
        return of_rows + of_tanh

    def forward_shape(self, shape: Any) -> Any:
        if len(shape) < 1:
            raise ValueError("Too few dimensions on input")
        count = shape[-1]
        d = round((0.25 + 2 * count) ** 0.5 + 0.5)
        if d * (d - 1) // 2 != count:
            raise ValueError("Input is not a flattened lower-diagonal number")
        return Size((*shape[:-1], d, d))

    def inverse_shape(self, shape: Any) -> Any:
        if len(shape) < 2:
            raise ValueError("Too few dimensions on input")
        if shape[-2] != shape[-1]:
            raise ValueError("Input is not square")
        d = shape[-1]
        return Size((*shape[:-2], d * (d - 1) // 2))


class SoftmaxTransform(_SameForAll):
    """``y = softmax(x)`` over the last axis; ``log y`` is one of its inverses."""

    domain = constraints.real_vector
    codomain = constraints.simplex

    def _call(self, x: Any) -> Any:
        return torch.softmax(x, -1)

    def _inverse(self, y: Any) -> Any:
        return y.log()

    def forward_shape(self, shape: Any) -> Any:
        if len(shape) < 1:
            raise ValueError("Too few dimensions on input")
        return shape

    inverse_shape = forward_shape


class StickBreakingTransform(_SameForAll):
    """Vectors to the simplex of one more number: each takes its share of what is left.

    ``z_k = sigmoid(x_k - log(K - k))``, ``y_k = z_k prod_j<k (1 - z_j)`` for k = 0, ..., K - 1.

    >>> import compat as torch
    >>> StickBreakingTransform()(torch.zeros(2))
    tensor([0.3333, 0.3333, 0.3333])
    """

    domain = constraints.real_vector
    codomain = constraints.simplex
    bijective = True

    def _call(self, x: Any) -> Any:
        limits = torch.finfo(x.dtype)  # shares of 0 and 1 would have no density
        z = torch.sigmoid(x - _left(x).log()).clamp(min=limits.tiny, max=1.0 - limits.eps)
        return F.pad(z, [0, 1], value=1) * F.pad((1 - z).cumprod(-1), [1, 0], value=1)

    def _inverse(self, y: Any) -> Any:
        front = y[..., :-1]
        rest = 1 - front.cumsum(-1)
        # shares that round to 1 leave nothing
        rest = torch.clamp(rest, min=torch.finfo(y.dtype).tiny)
        return front.log() - rest.log() + _left(front).log()

    def log_abs_det_jacobian(self, x: Any, y: Any) -> Any:
        shifted = x - _left(x).log()
        return (F.logsigmoid(shifted) - shifted + y[..., :-1].log()).sum(-1)

    def forward_shape(self, shape: Any) -> Any:
        if len(shape) < 1:
            raise ValueError("Too few dimensions on input")
        return Size((*shape[:-1], shape[-1] + 1))

    def inverse_shape(self, shape: Any) -> Any:
        if len(shape) < 1:
            raise ValueError("Too few dimensions on input")
        return Size((*shape[:-1], shape[-1] - 1))


def _left(x: Any) -> Any:
    """K, K - 1, ..., 1 for K numbers: how many parts the rest of the stick still has to give."""
    count = x.shape[-1]
    return torch.arange(count, 0, -1, dtype=x.dtype, device=x.device)


class LowerCholeskyTransform(_SameForAll):
    """Square matrices to lower triangular ones whose diagonal is `exp` of theirs."""

    domain = constraints.independent(constraints.real, 2)
    codomain = constraints.lower_cholesky

    def _call(self, x: Any) -> Any:
        return x.tril(-1) + x.diagonal(dim1=-2, dim2=-1).exp().diag_embed()

    def _inverse(self, y: Any) -> Any:
        return y.tril(-1) + y.diagonal(dim1=-2, dim2=-1).log().diag_embed()


class PositiveDefiniteTransform(_SameForAll):
    """Square matrices to positive definite ones: ``y = L L'`` of the `LowerCholeskyTransform`."""

    domain = constraints.independent(constraints.real, 2)
    codomain = constraints.positive_definite

    def _call(self, x: Any) -> Any:
        factor = LowerCholeskyTransform()(x)
        return factor @ factor.mT

    def _inverse(self, y: Any) -> Any:
        return LowerCholeskyTransform().inv(torch.linalg.cholesky(y))


class CumulativeDistributionTransform(Transform):
    """``y = distribution.cdf(x)``."""

    bijective = True
    codomain = constraints.unit_interval
    sign = +1

    def __init__(self, distribution: Any, cache_size: int = 0) -> None:
        super().__init__(cache_size=cache_size)
        self.distribution = distribution

    @property
    def domain(self) -> Any:
        return self.distribution.support

    def _call(self, x: Any) -> Any:
        return self.distribution.cdf(x)

    def _inverse(self, y: Any) -> Any:
        return self.distribution.icdf(y)

    def log_abs_det_jacobian(self, x: Any, y: Any) -> Any:
        return self.distribution.log_prob(x)

    def with_cache(self, cache_size: int = 1) -> Any:
        if self._cache_size == cache_size:
            return self
        return CumulativeDistributionTransform(self.distribution, cache_size=cache_size)


# ---------------------------------------------------------------- parts along an axis


class _OfParts(Transform):
    """Transforms of the parts along the axis `dim`."""

    transforms: Any

    def __init__(self, tseq: Sequence[Any], dim: int, cache_size: int) -> None:
        if not all(isinstance(t, Transform) for t in tseq):
            raise AssertionError("All elements of tseq must be Transform instances")
        tseq = [t.with_cache(cache_size) for t in tseq] if cache_size else tseq
        super().__init__(cache_size=cache_size)
        self.transforms, self.dim = list(tseq), dim

    def _parts(self, x: Any) -> Any:
        raise NotImplementedError

    def _join(self, xs: Sequence[Any]) -> Any:
        raise NotImplementedError

    def _check(self, x: Any) -> None:
        if not -x.dim() <= self.dim < x.dim():
            raise AssertionError(f"dim {self.dim} is out of range for a tensor of {x.dim()} axes")

    @property
    def bijective(self) -> bool:
        return all(t.bijective for t in self.transforms)

    def _call(self, x: Any) -> Any:
        self._check(x)
        return self._join(
            [t(part) for t, part in zip(self.transforms, self._parts(x), strict=True)]
        )

    def _inverse(self, y: Any) -> Any:
        self._check(y)
        parts = self._parts(y)
        return self._join([t.inv(part) for t, part in zip(self.transforms, parts, strict=True)])


class CatTransform(_OfParts):
    """Transforms of parts of the given lengths along the axis `dim`.

    >>> import compat as torch
    >>> from compat.distributions import ExpTransform, identity_transform
    >>> CatTransform([ExpTransform(), identity_transform], 0, [1, 2])(torch.zeros(3))
    tensor([1., 0., 0.])
    """

    def __init__(
        self,
        tseq: Sequence[Any],
        dim: int = 0,
        lengths: Sequence[int] | None = None,
        cache_size: int = 0,
    ) -> None:
        super().__init__(tseq, dim, cache_size)
        self.lengths = [1] * len(self.transforms) if lengths is None else list(lengths)
        if len(self.lengths) != len(self.transforms):
            raise AssertionError(f"{len(tseq)} transforms but {len(self.lengths)} lengths")

    @property
    def event_dim(self) -> int:
        return max(t.event_dim for t in self.transforms)

    @property
    def length(self) -> int:
        """The length of the axis."""
        return sum(self.lengths)

    def with_cache(self, cache_size: int = 1) -> Any:
        if self._cache_size == cache_size:
            return self
        return CatTransform(self.transforms, self.dim, self.lengths, cache_size)

    def _check(self, x: Any) -> None:
        super()._check(x)
        if x.size(self.dim) != self.length:
            raise AssertionError(f"the axis has length {x.size(self.dim)}, not {self.length}")

    def _parts(self, x: Any) -> Any:
        return x.split(self.lengths, self.dim)

    def _join(self, xs: Sequence[Any]) -> Any:
        return torch.cat(xs, dim=self.dim)

    def log_abs_det_jacobian(self, x: Any, y: Any) -> Any:
        self._check(x)
        self._check(y)
        terms = []
        for t, a, b in zip(self.transforms, self._parts(x), self._parts(y), strict=True):
            term = t.log_abs_det_jacobian(a, b)
            axes = self.event_dim - t.event_dim
            terms.append(
                term.reshape(*term.shape[: term.dim() - axes], -1).sum(-1) if axes else term
            )
        axis = self.dim - x.dim() if self.dim >= 0 else self.dim
        axis += self.event_dim
        if axis < 0:
            return torch.cat(terms, dim=axis)
        return sum(terms[1:], terms[0])

    @constraints.dependent_property
    def domain(self) -> Any:
        return constraints.cat([t.domain for t in self.transforms], self.dim, self.lengths)

    @constraints.dependent_property
    def codomain(self) -> Any:
        return constraints.cat([t.codomain for t in self.transforms], self.dim, self.lengths)


class StackTransform(_OfParts):
    """Transforms of the slices along the axis `dim`."""

    def __init__(self, tseq: Sequence[Any], dim: int = 0, cache_size: int = 0) -> None:
        super().__init__(tseq, dim, cache_size)

    def with_cache(self, cache_size: int = 1) -> Any:
        if self._cache_size == cache_size:
            return self
        return StackTransform(self.transforms, self.dim, cache_size)

    def _check(self, x: Any) -> None:
        super()._check(x)
        if x.size(self.dim) != len(self.transforms):
            raise AssertionError(
                f"the axis has length {x.size(self.dim)}, not {len(self.transforms)}"
            )

    def _parts(self, x: Any) -> Any:
        return x.unbind(self.dim)

    def _join(self, xs: Sequence[Any]) -> Any:
        return torch.stack(xs, dim=self.dim)

    def log_abs_det_jacobian(self, x: Any, y: Any) -> Any:
        self._check(x)
        self._check(y)
        parts = zip(self.transforms, self._parts(x), self._parts(y), strict=True)
        return torch.stack([t.log_abs_det_jacobian(a, b) for t, a, b in parts], dim=self.dim)

    @constraints.dependent_property
    def domain(self) -> Any:
        return constraints.stack([t.domain for t in self.transforms], self.dim)

    @constraints.dependent_property
    def codomain(self) -> Any:
        return constraints.stack([t.codomain for t in self.transforms], self.dim)
