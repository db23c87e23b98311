"""``jax.scipy.linalg``: as `funcgrad.scipy.linalg`, with the options that only JAX has."""

from __future__ import annotations

from typing import Any

from ...scipy import linalg as _linalg


def expm(A: Any, *, upper_triangular: bool = False, max_squarings: int = 16) -> Any:
    """The exponential of a matrix; the options change nothing.

    Source: JAX, ``jax.scipy.linalg.expm``.

    >>> import numpy as np
    >>> expm(np.zeros((2, 2)), max_squarings=32).tolist()
    [[1.0, 0.0], [0.0, 1.0]]
    """
    return _linalg.expm(A)


def polar(
    a: Any,
    side: str = "right",
    *,
    method: str = "qdwh",
    eps: float | None = None,
    max_iterations: int | None = None,
) -> tuple[Any, Any]:
    """``U, P`` with ``a = U P``, or ``P U``; the options change nothing.

    Source: JAX, ``jax.scipy.linalg.polar``.

    >>> import numpy as np
    >>> [x.tolist() for x in polar(np.array([[-2.0]]), method="svd")]
    [[[-1.0]], [[2.0]]]
    """
    return _linalg.polar(a, side)


def solve_sylvester(A: Any, B: Any, C: Any, *, method: str = "schur", tol: float = 1e-8) -> Any:
    """``X`` with ``A X + X B = C``; the options change nothing.

    Source: JAX, ``jax.scipy.linalg.solve_sylvester``.

    >>> import numpy as np
    >>> solve_sylvester(np.eye(1), np.eye(1), C=np.array([[6.0]]), method="eigen").tolist()
    [[3.0]]
    """
    return _linalg.solve_sylvester(A, B, C)


def __getattr__(name: str) -> Any:
    return getattr(_linalg, name)


def __dir__() -> list[str]:
    return sorted({*globals(), *dir(_linalg)})
