"""Some eigenvalues and singular values of large matrices: `eigsh`, `svds`.

NOTE [Pairs] SciPy's Lanczos finds them. An eigenvalue moves by ``v^H dA v``, its vector by the x with
``(A - w) x = w' v - dA v`` and ``v^H x = 0``, which `minres` finds. Singular values are the
eigenvalues of ``[[0, A], [A^H, 0]]``, whose vectors are ``(u, v) / sqrt(2)``.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from .... import numpy as fnp
from ....core import Aval, aval_of
from ....errors import ArgumentError, ShapeError, where
from ....lax.implicit import custom_linear_solve
from ....ops.from_scipy import scipy_package
from ....ops.sparse import is_sparse
from ....transforms.vmap import vmap
from ..._options import refuse_options
from ..._programs import directional, on_host, tracing, with_tangent
from .operators import LinearOperator, Products
from .solving import minres

Function = Callable[..., Any]


def eigsh(
    A: Any,
    k: int = 6,
    M: Any = None,
    sigma: float | None = None,
    which: str = "LM",
    v0: Any = None,
    ncv: int | None = None,
    maxiter: int | None = None,
    tol: float = 0,
    return_eigenvectors: bool = True,
    Minv: Any = None,
    OPinv: Any = None,
    mode: str = "normal",
    rng: Any = None,
) -> Any:
    """`k` eigenvalues of a Hermitian matrix, the largest in size or those that `which` and `sigma` say,
    and their eigenvectors, columns of length 1.

    `A` is an array (its Hermitian part counts), a sparse matrix, or a `LinearOperator`. SciPy finds the
    values, when a program runs; `v0` is where it starts, at random if that is not given, and then the
    signs of vectors are random, too.

    Shapes: ``A: (n, n) -> (k,), (n, k)``.   Dtypes: floating, complex; integers give float64.
    Derivative: by what `A` is made of, to any order; of vectors, whose phase is chosen, the part across
    them; nan where an eigenvalue is a double one.
    Raises: ShapeError: `A` is not square. ArgumentError: `M`, `Minv`, `OPinv` under a transform,
    another kind of `A`. ImportError: no SciPy.
    Source: Lehoucq et al., "ARPACK Users' Guide", SIAM 1998; SciPy reference,
    ``scipy.sparse.linalg.eigsh``.

    >>> import funcgrad
    >>> A = np.diag([1.0, 2.0, 5.0, 9.0])
    >>> eigsh(A, 2, return_eigenvectors=False).round(6).tolist()
    [5.0, 9.0]
    >>> largest = lambda t: eigsh(A + t * np.ones((4, 4)), 1, return_eigenvectors=False)[0]
    >>> float(funcgrad.grad(largest)(0.0).round(6))
    1.0
    """
    linalg = scipy_package("sparse.linalg", "eigsh")
    products = Products("eigsh", A)
    n = products.shape[0]
    if products.shape != (n, n):
        raise ShapeError(f"eigsh: A has shape {list(products.shape)}; need (n, n){where()}")
    options = {
        "sigma": sigma, "which": which, "v0": v0, "ncv": ncv, "maxiter": maxiter, "tol": tol,
        "mode": mode, "rng": rng,
    }  # fmt: skip
    further = {"M": M, "Minv": Minv, "OPinv": OPinv}
    if not tracing():
        at = products.of_scipy(linalg, products.held)
        return linalg.eigsh(at, k, **options, **further, return_eigenvectors=return_eigenvectors)
    refuse_options("eigsh", **further)

    def compute(*held: Any) -> list[Any]:
        at = products.of_scipy(linalg, held)
        w, v = linalg.eigsh(_hermitian(at), k, **options)
        return [np.concatenate([v, w[None]])]

    found = on_host("eigsh", compute, products.held, [Aval((n + 1, k), products.dtype)])[0]

    def forward(*values: Any) -> Any:
        y = products.forward(*values)
        if isinstance(A, LinearOperator) or is_sparse(A):
            return y
        return 0.5 * (y + products.backward(*values))

    pairs = _with_slopes("eigsh", found, forward, products.held)
    w, v = fnp.real(pairs[-1]), pairs[:-1]
    return (w, v) if return_eigenvectors else w


def svds(
    A: Any,
    k: int = 6,
    ncv: int | None = None,
    tol: float = 0,
    which: str = "LM",
    v0: Any = None,
    maxiter: int | None = None,
    return_singular_vectors: Any = True,
    solver: str = "arpack",
    rng: Any = None,
    options: Any = None,
) -> Any:
    """`k` singular values of `A`, ascending, the largest or those that `which` says, as ``u, s, vh``.

    As `eigsh` in everything else.

    Shapes: ``A: (m, n) -> (m, k), (k,), (k, n)``; ``(k,)`` without vectors.
    Dtypes: floating, complex; integers give float64.
    Derivative: by what `A` is made of, to any order; nan where a singular value is a double one, or 0.
    Raises: ArgumentError: one kind of vectors under a transform, another kind of `A`. ImportError: no
    SciPy.
    Source: SciPy reference, ``scipy.sparse.linalg.svds``.

    >>> import funcgrad
    >>> A = np.array([[3.0, 0.0, 0.0], [0.0, 2.0, 0.0], [0.0, 0.0, 1.0], [0.0, 0.0, 0.0]])
    >>> first = lambda a: svds(a, 1, return_singular_vectors=False)[0]
    >>> float(round(first(A), 6)), funcgrad.grad(first)(A)[0].round(6).tolist()
    (3.0, [1.0, 0.0, 0.0])
    """
    linalg = scipy_package("sparse.linalg", "svds")
    products = Products("svds", A)
    m, n = products.shape
    given = {
        "ncv": ncv, "tol": tol, "which": which, "v0": v0, "maxiter": maxiter, "solver": solver,
        "rng": rng, "options": options,
    }  # fmt: skip
    if not tracing():
        at = products.of_scipy(linalg, products.held)
        return linalg.svds(at, k, **given, return_singular_vectors=return_singular_vectors)
    if return_singular_vectors not in (True, False):
        raise ArgumentError(
            f"svds: return_singular_vectors={return_singular_vectors!r}; need True or False under a "
            f"transform{where()}"
        )

    def compute(*held: Any) -> list[Any]:
        u, s, vh = linalg.svds(products.of_scipy(linalg, held), k, **given)
        v = np.concatenate([u, vh.conj().T]) * math.sqrt(0.5)
        return [np.concatenate([v, s[None]])]

    def forward(*values: Any) -> Any:
        *held, x = values
        upper = products.forward(*held, x[m:])
        return fnp.concatenate([upper, products.backward(*held, x[:m])])

    found = on_host("svds", compute, products.held, [Aval((m + n + 1, k), products.dtype)])[0]
    pairs = _with_slopes("svds", found, forward, products.held)
    s, v = fnp.real(pairs[-1]), pairs[:-1] * math.sqrt(2.0)
    return (v[:m], s, fnp.conj(v[m:]).T) if return_singular_vectors else s


def _hermitian(matrix: Any) -> Any:
    """The Hermitian part of an array; other matrices as they are."""
    return 0.5 * (matrix + matrix.conj().T) if isinstance(matrix, np.ndarray) else matrix


def _with_slopes(name: str, pairs: Any, forward: Function, held: Sequence[Any]) -> Any:
    """`pairs`, eigenvectors above their eigenvalues, with derivatives by `held`; NOTE [Pairs]."""
    n = aval_of(pairs).shape[0] - 1
    probe = np.cos(np.square(np.arange(n, dtype=np.float64)))

    def tangent(pairs: Any, held: Sequence[Any], dots: Sequence[Any]) -> Any:
        v, w = pairs[:-1], fnp.real(pairs[-1])

        def products(*at: Any) -> Any:
            return vmap(lambda x: forward(*at, x), 1, 1)(v)

        moved = directional(products, held, dots)
        if moved is None:
            return None
        slopes = fnp.real(fnp.sum(fnp.conj(v) * moved, axis=0))
        size = fnp.linalg.norm(forward(*held, probe.astype(aval_of(v).dtype)))
        size = fnp.maximum(size / math.sqrt(n), fnp.max(fnp.absolute(w)))

        def turned(w: Any, v: Any, right: Any) -> Any:
            # along v, where the matrix is 0, anything of its size; the solution has no such part
            def shifted(x: Any) -> Any:
                return forward(*held, x) - w * x + size * fnp.vdot(v, x) * v

            return custom_linear_solve(shifted, right, _solve, _solve)

        right = slopes * v - moved
        right = right - fnp.sum(fnp.conj(v) * right, axis=0) * v
        across = vmap(turned, (0, 1, 1), 1)(w, v, right)
        return fnp.concatenate([across, slopes[None].astype(aval_of(v).dtype)])

    return with_tangent(name, pairs, held, tangent)


def _solve(f: Function, y: Any) -> Any:
    """The solution for a Hermitian function; nan where there is none, as for double eigenvalues."""
    eps = float(np.finfo(aval_of(y).dtype).eps)
    x, _ = minres(f, y, rtol=256.0 * eps)
    missed = fnp.linalg.norm(y - f(x)) > 64.0 * math.sqrt(eps) * fnp.linalg.norm(y)
    return fnp.where(missed, np.nan, x)
