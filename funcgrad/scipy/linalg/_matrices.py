"""What the functions of ``scipy.linalg`` make of their arguments."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ...core import aval_of
from ...errors import ArgumentError, ShapeError, where
from ...numpy._arguments import array_of
from ...numpy.linalg.triangles import hermitian as hermitian_of
from ...ops import structural as _structural
from ...ops.contract import conjugated, matrix_transpose
from ...ops.decompose import hermitian_part
from ...ops.join import pad
from ...ops.solve import require_matrix


def matrix(name: str, a: Any, *, square: bool = False) -> Any:
    """`a` as an array, whose last two axes are matrices.

    Raises: ShapeError: they are not, or not square ones.
    """
    a = array_of(a)
    require_matrix(name, aval_of(a), square=square)
    return a


def hermitian(name: str, a: Any) -> Any:
    """Square matrices that stand for their Hermitian parts.

    Raises: ArgumentError: one has elements on one side of the diagonal only. ShapeError: not square.
    """
    return hermitian_of(name, matrix(name, a, square=True), "SciPy")


_STRUCTURES = {
    "gen": "general",
    "sym": "symmetric",
    "her": "hermitian",
    "pos": "positive definite",
}


def structured(name: str, a: Any, assume_a: Any) -> tuple[Any, str]:
    """The matrix for which `a` stands by its structure, and the word for that.

    Raises: ArgumentError: there is no such structure.
    """
    word = "general" if assume_a is None else _STRUCTURES.get(assume_a, assume_a)
    if word in ("general", "banded"):
        return matrix(name, a, square=True), word
    if word == "symmetric":
        a = hermitian(name, a)
        return (a + matrix_transpose(a)) * 0.5, word
    if word in ("hermitian", "positive definite"):
        return hermitian_part(hermitian(name, a)), word
    a = matrix(name, a, square=True)
    if word in ("upper triangular", "lower triangular"):
        return triangle(a, lower=word.startswith("lower")), word
    if word in ("diagonal", "tridiagonal"):
        k = int(word == "tridiagonal")
        return _structural.triu(_structural.tril(a, k=k), k=-k), word
    raise ArgumentError(
        f"{name}: assume_a={assume_a!r}; need 'general', 'diagonal', 'tridiagonal', 'banded', "
        f"'upper triangular', 'lower triangular', 'symmetric', 'hermitian' or 'positive "
        f"definite'{where()}"
    )


def triangle(a: Any, *, lower: Any) -> Any:
    """One triangle of matrices, the diagonal included."""
    return _structural.tril(a, k=0) if lower else _structural.triu(a, k=0)


def filled(a: Any, rows: int, columns: int) -> Any:
    """Matrices with zeros below and behind, up to this size."""
    more = ((0, rows - a.shape[-2]), (0, columns - a.shape[-1]))
    if more == ((0, 0), (0, 0)):
        return a
    return pad(a, widths=(*[(0, 0)] * (a.ndim - 2), *more))


def adjoint_of(a: Any) -> Any:
    """The conjugate transpose."""
    return conjugated(matrix_transpose(a))


def vectors(name: str, x: Any) -> Any:
    """`x` with one axis or more, of which the last counts.

    Raises: ShapeError: it has none.
    """
    x = array_of(x)
    if not x.ndim:
        raise ShapeError(f"{name}: needs a vector, found {aval_of(x)}{where()}")
    return x


def with_columns(b: Any, solver: Callable[[Any], Any]) -> Any:
    """`solver` of `b` with an axis of columns, which a vector gets for it."""
    if b.ndim != 1:
        return solver(b)
    out = solver(_structural.reshape(b, shape=(b.shape[0], 1)))
    return _structural.reshape(out, shape=out.shape[:-1])
