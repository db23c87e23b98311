"""Parametrizations that are often used: lengths and directions, spectral norm, orthogonal matrices."""

from __future__ import annotations

from typing import Any

import numpy as np

from ... import dtypes
from ...autograd import modes
from ...autograd.base import TensorBase, tensor
from ...linalg import householder_product, matrix_exp, solve
from ...ops.create import eye, zeros
from ...ops.join import cat
from ...ops.matrix import mv, vdot
from ...ops.random import randn
from ..functional import normalize
from ..module import Module
from .parametrize import register_parametrization
from .spectral_norm import advance, as_matrix, check_iterations, output_axis
from .weight_norm import norms_of, weight_of


def _weight(module: Any, name: str) -> Any:
    """Raises: ValueError: there is no such tensor."""
    weight = getattr(module, name, None)
    if not isinstance(weight, TensorBase):
        raise ValueError(f"Module '{module}' has no parameter or buffer with name '{name}'")
    return weight


# ---------------------------------------------------------------- weight norm


class _WeightNorm(Module):
    """``g v / |v|``."""

    def __init__(self, dim: int | None = 0) -> None:
        super().__init__()
        self.dim = -1 if dim is None else dim

    def forward(self, weight_g: Any, weight_v: Any) -> Any:
        return weight_of(weight_v, weight_g, self.dim)

    def right_inverse(self, weight: Any) -> tuple[Any, Any]:
        """The length and the direction of `weight`."""
        return norms_of(weight, self.dim), weight


def weight_norm(module: Any, name: str = "weight", dim: int | None = 0) -> Any:
    """Make the weight ``g v / |v|``: its length and its direction are parameters of their own.

    `dim`: the axis whose slices have lengths of their own; None: one length for all. State dicts of
    `nn.utils.weight_norm` can be loaded.

    >>> import compat as torch
    >>> layer = weight_norm(torch.nn.Linear(20, 40))
    >>> [tuple(p.shape) for p in layer.parametrizations.weight.parameters()]
    [(40, 1), (40, 20)]
    """
    register_parametrization(module, name, _WeightNorm(dim), unsafe=True)

    def rename(state_dict: dict[str, Any], prefix: str, *_: Any) -> None:
        old = [f"{prefix}{name}_{end}" for end in "gv"]
        if all(key in state_dict for key in old):
            for i, key in enumerate(old):
                new = f"{prefix}parametrizations.{name}.original{i}"
                state_dict[new] = state_dict.pop(key)

    module._register_load_state_dict_pre_hook(rename)
    return module


# ---------------------------------------------------------------- spectral norm


class _SpectralNorm(Module):
    """``weight / sigma``; a vector is divided by its norm."""

    _u: Any
    _v: Any

    def __init__(
        self, weight: Any, n_power_iterations: int = 1, dim: int = 0, eps: float = 1e-12
    ) -> None:
        super().__init__()
        ndim = weight.ndim
        if not -ndim <= dim < ndim:
            raise IndexError(
                f"Dimension out of range (expected to be in range of [-{ndim}, {ndim - 1}] but got "
                f"{dim})"
            )
        check_iterations(n_power_iterations)
        self.dim = dim % ndim
        self.eps = eps
        if ndim > 1:
            self.n_power_iterations = n_power_iterations
            with modes.no_grad():
                matrix = as_matrix(weight, self.dim)
                for name, n in zip(("_u", "_v"), matrix.size(), strict=True):
                    start = matrix.new_empty(n).normal_()
                    self.register_buffer(name, normalize(start, dim=0, eps=eps))
            self._power_method(matrix, 15)

    def _power_method(self, matrix: Any, count: int) -> None:
        """Bring u and v nearer to the first singular vectors."""
        advance(matrix, self._v, self._u, count, self.eps)

    def forward(self, weight: Any) -> Any:
        if weight.ndim == 1:
            return normalize(weight, dim=0, eps=self.eps)
        matrix = as_matrix(weight, self.dim)
        if self.training:
            self._power_method(matrix, self.n_power_iterations)
        u, v = self._u.clone(), self._v.clone()  # the next call writes to them
        return weight / vdot(u, mv(matrix, v))

    def right_inverse(self, value: Any) -> Any:
        """`value`, which may have been divided already."""
        return value


def spectral_norm(
    module: Any,
    name: str = "weight",
    n_power_iterations: int = 1,
    eps: float = 1e-12,
    dim: int | None = None,
) -> Any:
    """Make the weight ``original / sigma``, sigma its largest singular value as a matrix.

    The power method finds it; every read of the weight in training takes `n_power_iterations` steps.
    `dim`: the axis of the outputs.

    Raises: ValueError: there is no such weight, or no iterations. IndexError: no such axis.

    >>> import compat as torch
    >>> layer = spectral_norm(torch.nn.Linear(20, 40), n_power_iterations=50)
    >>> round(float(torch.linalg.matrix_norm(layer.weight, 2)), 3)
    1.0
    """
    weight = _weight(module, name)
    dim = output_axis(module, dim)
    return register_parametrization(
        module, name, _SpectralNorm(weight, n_power_iterations, dim, eps)
    )


# ---------------------------------------------------------------- orthogonal matrices

_MAPS = ("matrix_exp", "cayley", "householder")


def _reflections(x: Any) -> tuple[Any, Any]:
    """The QR decomposition as reflections: the vectors below R's diagonal, and their factors."""
    packed, tau = np.linalg.qr(x._array, mode="raw")
    return tensor(np.ascontiguousarray(packed.swapaxes(-1, -2))), tensor(tau)


def _made_orthogonal(x: Any) -> Any:
    """Q of the QR decomposition whose R has a positive diagonal."""
    packed, tau = _reflections(x)
    signs = packed.diagonal(dim1=-2, dim2=-1).sgn().unsqueeze(-2)
    return householder_product(packed, tau) * signs


def _is_orthogonal(x: Any) -> bool:
    product = (x.mH @ x)._array
    eps = 10.0 * x.shape[-2] * dtypes.finfo(x.dtype).eps
    return bool(np.allclose(product, np.eye(x.shape[-1]), atol=eps))


class _Orthogonal(Module):
    """Matrices with orthonormal columns, or rows if they are wider than high."""

    base: Any

    def __init__(
        self, weight: Any, orthogonal_map: str, *, use_trivialization: bool = True
    ) -> None:
        super().__init__()
        if weight.is_complex() and orthogonal_map == "householder":
            raise ValueError("The householder parametrization does not support complex tensors.")
        self.shape = weight.shape
        self.orthogonal_map = orthogonal_map
        if use_trivialization:
            self.register_buffer("base", None)

    def forward(self, X: Any) -> Any:
        wide = X.size(-2) < X.size(-1)
        x = X.mT if wide else X
        found = self._reflected(x) if self.orthogonal_map == "householder" else self._rotated(x)
        if hasattr(self, "base"):
            found = self.base @ found
        return found.mT if wide else found

    def _rotated(self, x: Any) -> Any:
        """Columns of exp(A), or of its Cayley transform, with the skew matrix A of the triangle."""
        n, k = x.size(-2), x.size(-1)
        x = x.tril()
        if n != k:
            x = cat([x, x.new_zeros(n, n - k).expand(*x.shape[:-2], -1, -1)], dim=-1)
        skew = x - x.mH
        if self.orthogonal_map == "matrix_exp":
            found = matrix_exp(skew)
        else:
            one = eye(n, dtype=x.dtype)
            found = solve(one - 0.5 * skew, one + 0.5 * skew)
        return found if n == k else found[..., :k]

    def _reflected(self, x: Any) -> Any:
        """The product of the reflections at the columns, with the signs on the diagonal."""
        below = x.tril(diagonal=-1)
        tau = 2.0 / (1.0 + (below * below).sum(dim=-2))
        return householder_product(below, tau) * x.diagonal(dim1=-2, dim2=-1).int().unsqueeze(-2)

    def right_inverse(self, Q: Any) -> Any:
        """What gives `Q`; it is made orthogonal first if it is not.

        Raises: ValueError: another shape. NotImplementedError: the map has no inverse here.
        """
        if self.shape != Q.shape:
            raise ValueError(
                f"Expected a matrix or batch of matrices of shape {self.shape}. Got a tensor of "
                f"shape {Q.shape}."
            )
        with modes.no_grad():
            return self._based(Q) if hasattr(self, "base") else self._as_reflections(Q)

    def _as_reflections(self, Q: Any) -> Any:
        if self.orthogonal_map != "householder":
            raise NotImplementedError(
                "It is not possible to assign to the matrix exponential or the Cayley "
                "parametrizations when use_trivialization=False."
            )
        wide = Q.size(-2) < Q.size(-1)
        packed, tau = _reflections(Q.mT if wide else Q)
        diagonal = packed.diagonal(dim1=-2, dim2=-1)
        # A factor of 0 stands for no reflection, but that of a unit vector is one: turn the sign.
        diagonal.copy_(diagonal.sign() * (1 - 2 * (tau == 0).to(packed.dtype)))
        return packed.mT if wide else packed

    def _based(self, Q: Any) -> Any:
        """Keep `Q`, with columns that make it square, as `base`: the original is -1 then."""
        q = Q.mT if Q.size(-2) < Q.size(-1) else Q
        n, k = q.size(-2), q.size(-1)
        if n != k:
            q = cat([q, randn(*q.shape[:-2], n, n - k, dtype=q.dtype)], dim=-1)
        self.base = q.clone() if n == k and _is_orthogonal(q) else _made_orthogonal(q)
        start = zeros(Q.shape, dtype=Q.dtype)
        start.diagonal(dim1=-2, dim2=-1).fill_(-1.0)
        return start


def orthogonal(
    module: Any,
    name: str = "weight",
    orthogonal_map: str | None = None,
    *,
    use_trivialization: bool = True,
) -> Any:
    """Make the weight orthogonal (unitary if complex), or its columns or rows orthonormal.

    `orthogonal_map`: "matrix_exp" (square matrices by default), "cayley" or "householder".
    `use_trivialization`: multiply by a fixed orthogonal matrix, so that any one can be assigned.

    Raises: ValueError: there is no such weight, it is no matrix, or no such map.

    >>> import compat as torch
    >>> layer = orthogonal(torch.nn.Linear(20, 40))
    >>> Q = layer.weight
    >>> torch.allclose(Q.T @ Q, torch.eye(20), atol=1e-5)
    True
    """
    weight = _weight(module, name)
    if weight.ndim < 2:
        raise ValueError(
            f"Expected a matrix or batch of matrices. Got a tensor of {weight.ndim} dimensions."
        )
    if orthogonal_map is None:
        square = weight.size(-2) == weight.size(-1)
        orthogonal_map = "matrix_exp" if square or weight.is_complex() else "householder"
    if orthogonal_map not in _MAPS:
        raise ValueError(
            'orthogonal_map has to be one of "matrix_exp", "cayley", "householder". Got: '
            f"{orthogonal_map}"
        )
    made = _Orthogonal(weight, orthogonal_map, use_trivialization=use_trivialization)
    return register_parametrization(module, name, made, unsafe=True)


__all__ = ["orthogonal", "spectral_norm", "weight_norm"]
