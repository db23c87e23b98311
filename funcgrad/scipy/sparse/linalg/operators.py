"""Matrices by what they make of vectors: `LinearOperator`, and matrices of any kind as programs."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from .... import numpy as fnp
from ....core import Aval, aval_of
from ....errors import ArgumentError, ShapeError, where
from ....numpy._arguments import array_of, is_array
from ....ops.sparse import is_sparse
from ....transforms.linearize import linear_transpose
from ....transforms.vmap import vmap
from ..._arrays import floating
from ..._programs import Programs

Function = Callable[..., Any]


class LinearOperator:
    """A matrix of the shape (m, n) by what it makes of vectors, for the solvers here.

    ``A(x)`` and ``A @ x`` are ``matvec(x)``, of a matrix column by column unless `matmat` is given.
    `rmatvec` is the conjugate transpose, which is found where it is not given. `dtype` is that of the
    vectors that `rmatvec` is then found for.

    Shapes: ``x: (n,) or (n, k) -> (m,) or (m, k)``.   Dtypes: those of the function.
    Derivative: that of the function.
    Raises: ShapeError: another shape. MissingRuleError: the transpose of what is not linear.
    Source: SciPy reference, ``scipy.sparse.linalg.LinearOperator``.

    >>> A = LinearOperator((2, 2), lambda x: np.array([[2.0, 1.0], [0.0, 4.0]]) @ x)
    >>> (A @ np.ones(2)).tolist(), A.rmatvec(np.ones(2)).tolist()
    ([3.0, 4.0], [2.0, 5.0])
    """

    def __init__(
        self,
        shape: tuple[int, int],
        matvec: Function,
        rmatvec: Function | None = None,
        matmat: Function | None = None,
        dtype: Any = np.float64,
        rmatmat: Function | None = None,
    ) -> None:
        self.shape, self.dtype = tuple(shape), np.dtype(dtype)
        self._given = matvec, rmatvec, matmat, rmatmat

    def _applied(self, x: Any, length: int, one: Function, many: Function | None) -> Any:
        x = array_of(x)
        if x.ndim not in (1, 2) or x.shape[0] != length:
            raise ShapeError(
                f"LinearOperator: the operand is {aval_of(x)}; need ({length},) or ({length}, k)"
                f"{where()}"
            )
        if x.ndim == 1:
            return one(x)
        return vmap(one, 1, 1)(x) if many is None else many(x)

    def matvec(self, x: Any) -> Any:
        """What the matrix makes of a vector, or of columns."""
        return self._applied(x, self.shape[1], self._given[0], self._given[2])

    def rmatvec(self, x: Any) -> Any:
        """What the conjugate transpose makes of a vector, or of columns."""
        given = self._given[1]

        def transposed(y: Any) -> Any:
            like = np.zeros(self.shape[1], np.result_type(self.dtype, aval_of(y).dtype))
            (found,) = linear_transpose(self._given[0], like)(fnp.conj(y))
            return fnp.conj(found)

        one = transposed if given is None else given
        return self._applied(x, self.shape[0], one, self._given[3])

    __call__ = __matmul__ = matmat = dot = matvec
    rmatmat = rmatvec

    @property
    def H(self) -> LinearOperator:
        """The conjugate transpose."""
        there, back, many, many_back = self._given
        turned = self.shape[1], self.shape[0]
        return LinearOperator(turned, back or self.rmatvec, there, many_back, self.dtype, many)


class Products:
    """``A x`` and ``A^H y`` as functions of ``(*held, x)`` and ``(*held, y)``.

    `A` is an array, which is held, a sparse matrix, which is a constant, or a `LinearOperator`: what it
    closes over is held.
    """

    def __init__(self, name: str, A: Any) -> None:
        self.held: list[Any] = []
        if is_sparse(A):
            turned = A.conj().T
            self.forward: Function = lambda x: fnp.matmul(A, x)
            self.backward: Function = lambda y: fnp.matmul(turned, y)
        elif isinstance(A, LinearOperator):
            avals = [Aval((n,), A.dtype) for n in reversed(A.shape)]
            there = Programs([A.matvec], avals[:1])
            back = Programs([A.rmatvec], avals[1:])
            self.held, size = [*there.held, *back.held], len(there.held)
            self.forward = lambda *v: there.run[0](*v[:size], v[-1])
            self.backward = lambda *v: back.run[0](*v[size:])
        elif is_array(A) or isinstance(A, list | tuple):
            A = floating(A)
            self.held = [A]
            self.forward = fnp.matmul
            self.backward = lambda a, y: fnp.matmul(fnp.conj(a).T, y)
        else:
            raise ArgumentError(
                f"{name}: A is {type(A).__name__}; need an array, a sparse matrix or funcgrad's "
                f"LinearOperator{where()}"
            )
        if len(A.shape) != 2:
            raise ShapeError(f"{name}: A has shape {list(A.shape)}; need (m, n){where()}")
        self.A, self.shape = A, tuple(A.shape)
        self.dtype = np.dtype(A.dtype)

    def of_scipy(self, linalg: Any, held: Sequence[Any]) -> Any:
        """The matrix for SciPy's solvers, on the host."""
        if is_sparse(self.A):
            return self.A
        if not isinstance(self.A, LinearOperator):
            return held[0]
        m, n = self.shape

        def along(run: Function, length: int) -> Function:
            return lambda x: np.asarray(run(*held, np.reshape(x, (length,)).astype(self.dtype)))

        there, back = along(self.forward, n), along(self.backward, m)
        return linalg.LinearOperator((m, n), there, back, dtype=self.dtype)
