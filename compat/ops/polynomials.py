"""Orthogonal polynomials, element by element: of `compat.special` only.

Those of the third and fourth kind are differences and sums of neighbours of the second kind.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from funcgrad.ops import polynomials
from funcgrad.ops.cast import astype
from funcgrad.ops.rounding import trunc
from funcgrad.ops.select import maximum, where

from ..autograd.base import TensorBase, tensor
from ._apply import finish
from ._compose import composed
from ._elementwise import narrow, numbers_too, require_real
from ._operands import dtype_of, promoted

if TYPE_CHECKING:
    from .._tensor import Tensor


def _polynomial(name: str, prim: Any, input: Any, n: Any, out: Any) -> Any:
    """Of degree `n`, cut off to a whole number; 0 for negative ones."""
    x, degree = numbers_too(name, input, n, second="n")
    require_real(f"{name}_cpu", x, degree)
    x, like = promoted((x, degree), floating=True)
    if not isinstance(x, TensorBase):
        x = tensor(np.asarray(x, dtype_of(like).numpy))
    order: Any = degree if isinstance(degree, TensorBase) else np.asarray(degree)
    node = "Special" + "".join(map(str.capitalize, name.split("_"))) + "Backward0"

    def value(a: Any, degree: Any) -> Any:
        whole = astype(trunc(degree), np.int64)
        return where(whole < 0, 0.0, prim(maximum(whole, 0), a))

    return finish(name, narrow(lambda a: composed(node, value, a, order), x), out, (x,))


def chebyshev_polynomial_t(input: Any, n: Any, *, out: Any = None) -> Tensor:
    """Chebyshev's polynomial of the first kind of degree `n`.

    Derivative: by `input`, which PyTorch does not have.
    Raises: NotImplementedError: complex numbers.

    >>> import compat as torch
    >>> torch.special.chebyshev_polynomial_t(torch.tensor([0.5, 1.0]), 3)
    tensor([-1.,  1.])
    """
    return _polynomial("chebyshev_polynomial_t", polynomials.eval_chebyt, input, n, out)


def chebyshev_polynomial_u(input: Any, n: Any, *, out: Any = None) -> Tensor:
    """Chebyshev's polynomial of the second kind of degree `n`.

    Derivative: by `input`, which PyTorch does not have.
    Raises: NotImplementedError: complex numbers.

    >>> import compat as torch
    >>> torch.special.chebyshev_polynomial_u(torch.tensor([0.5, 1.0]), 3)
    tensor([-1.,  4.])
    """
    return _polynomial("chebyshev_polynomial_u", polynomials.eval_chebyu, input, n, out)


def _below(n: Any, x: Any) -> Any:
    """The polynomial of the second kind of degree ``n - 1``, which is 0 for -1."""
    return where(n < 1, 0.0, polynomials.eval_chebyu(maximum(n - 1, 0), x))


def _third(n: Any, x: Any) -> Any:
    return polynomials.eval_chebyu(n, x) - _below(n, x)


def _fourth(n: Any, x: Any) -> Any:
    return polynomials.eval_chebyu(n, x) + _below(n, x)


def _shifted(f: Any) -> Any:
    """From the interval between -1 and 1 to that between 0 and 1."""
    return lambda n, x: f(n, 2.0 * x - 1.0)


def chebyshev_polynomial_v(input: Any, n: Any, *, out: Any = None) -> Tensor:
    """Chebyshev's polynomial of the third kind of degree `n`, ``U_n - U_(n-1)``.

    Derivative: by `input`, which PyTorch does not have.
    Raises: NotImplementedError: complex numbers.

    >>> import compat as torch
    >>> torch.special.chebyshev_polynomial_v(torch.tensor([0.5, 1.0]), 3)
    tensor([-1.,  1.])
    """
    return _polynomial("chebyshev_polynomial_v", _third, input, n, out)


def chebyshev_polynomial_w(input: Any, n: Any, *, out: Any = None) -> Tensor:
    """Chebyshev's polynomial of the fourth kind of degree `n`, ``U_n + U_(n-1)``.

    Derivative: by `input`, which PyTorch does not have.
    Raises: NotImplementedError: complex numbers.

    >>> import compat as torch
    >>> torch.special.chebyshev_polynomial_w(torch.tensor([0.5, 1.0]), 3)
    tensor([-1.,  7.])
    """
    return _polynomial("chebyshev_polynomial_w", _fourth, input, n, out)


def shifted_chebyshev_polynomial_t(input: Any, n: Any, *, out: Any = None) -> Tensor:
    """Chebyshev's polynomial of the first kind of degree `n` at ``2 input - 1``.

    Derivative: by `input`, which PyTorch does not have.
    Raises: NotImplementedError: complex numbers.

    >>> import compat as torch
    >>> torch.special.shifted_chebyshev_polynomial_t(torch.tensor([0.0, 1.0]), 3)
    tensor([-1.,  1.])
    """
    prim = _shifted(polynomials.eval_chebyt)
    return _polynomial("shifted_chebyshev_polynomial_t", prim, input, n, out)


def shifted_chebyshev_polynomial_u(input: Any, n: Any, *, out: Any = None) -> Tensor:
    """Chebyshev's polynomial of the second kind of degree `n` at ``2 input - 1``.

    Derivative: by `input`, which PyTorch does not have.
    Raises: NotImplementedError: complex numbers.

    >>> import compat as torch
    >>> torch.special.shifted_chebyshev_polynomial_u(torch.tensor([0.0, 1.0]), 3)
    tensor([-4.,  4.])
    """
    prim = _shifted(polynomials.eval_chebyu)
    return _polynomial("shifted_chebyshev_polynomial_u", prim, input, n, out)


def shifted_chebyshev_polynomial_v(input: Any, n: Any, *, out: Any = None) -> Tensor:
    """Chebyshev's polynomial of the third kind of degree `n` at ``2 input - 1``.

    Derivative: by `input`, which PyTorch does not have.
    Raises: NotImplementedError: complex numbers.

    >>> import compat as torch
    >>> torch.special.shifted_chebyshev_polynomial_v(torch.tensor([0.0, 1.0]), 3)
    tensor([-7.,  1.])
    """
    prim = _shifted(_third)
    return _polynomial("shifted_chebyshev_polynomial_v", prim, input, n, out)


def shifted_chebyshev_polynomial_w(input: Any, n: Any, *, out: Any = None) -> Tensor:
    """Chebyshev's polynomial of the fourth kind of degree `n` at ``2 input - 1``.

    Derivative: by `input`, which PyTorch does not have.
    Raises: NotImplementedError: complex numbers.

    >>> import compat as torch
    >>> torch.special.shifted_chebyshev_polynomial_w(torch.tensor([0.0, 1.0]), 3)
    tensor([-1.,  7.])
    """
    prim = _shifted(_fourth)
    return _polynomial("shifted_chebyshev_polynomial_w", prim, input, n, out)


def hermite_polynomial_h(input: Any, n: Any, *, out: Any = None) -> Tensor:
    """Hermite's polynomial, the physicists', of degree `n`.

    Derivative: by `input`, which PyTorch does not have.
    Raises: NotImplementedError: complex numbers.

    >>> import compat as torch
    >>> torch.special.hermite_polynomial_h(torch.tensor([0.5, 1.0]), 3)
    tensor([-5., -4.])
    """
    return _polynomial("hermite_polynomial_h", polynomials.eval_hermite, input, n, out)


def hermite_polynomial_he(input: Any, n: Any, *, out: Any = None) -> Tensor:
    """Hermite's polynomial, the probabilists', of degree `n`.

    Derivative: by `input`, which PyTorch does not have.
    Raises: NotImplementedError: complex numbers.

    >>> import compat as torch
    >>> torch.special.hermite_polynomial_he(torch.tensor([0.5, 1.0]), 3)
    tensor([-1.3750, -2.0000])
    """
    return _polynomial("hermite_polynomial_he", polynomials.eval_hermitenorm, input, n, out)


def laguerre_polynomial_l(input: Any, n: Any, *, out: Any = None) -> Tensor:
    """Laguerre's polynomial of degree `n`.

    Derivative: by `input`, which PyTorch does not have.
    Raises: NotImplementedError: complex numbers.

    >>> import compat as torch
    >>> torch.special.laguerre_polynomial_l(torch.tensor([0.5, 1.0]), 3)
    tensor([-0.1458, -0.6667])
    """
    return _polynomial("laguerre_polynomial_l", polynomials.eval_laguerre, input, n, out)


def legendre_polynomial_p(input: Any, n: Any, *, out: Any = None) -> Tensor:
    """Legendre's polynomial of degree `n`.

    Derivative: by `input`, which PyTorch does not have.
    Raises: NotImplementedError: complex numbers.

    >>> import compat as torch
    >>> torch.special.legendre_polynomial_p(torch.tensor([0.5, 1.0]), 3)
    tensor([-0.4375,  1.0000])
    """
    return _polynomial("legendre_polynomial_p", polynomials.eval_legendre, input, n, out)
