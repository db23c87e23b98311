"""Samples of `funcgrad/ops/solve.py`, `determinants.py`, `decompose.py`, `lu.py`: well-conditioned.

Matrices are a multiple of the identity and a smaller part, eigenvalues and singular values at least
0.3 apart. What has a phase that LAPACK is free to choose is drawn real.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from hypothesis import strategies as st

from . import Array, Sample, array, broadcastable, complexes, floats, integers, shapes

SMALL = floats(-0.25, 0.25)
NUMBERS = [SMALL, complexes() * 0.15]
SIDES = st.integers(0, 3)


def lead(most: int = 1) -> Any:
    return shapes(ndim=(0, most), side=(0, 2))


@st.composite
def regular(draw: Any, shape: tuple[int, ...], domains: list[Array] = NUMBERS) -> Array:
    """Dominated by the diagonal."""
    part = draw(array(draw(st.sampled_from(domains)), shape))
    return part + draw(st.sampled_from([-1.5, 1.0, 2.0])) * np.eye(*shape[-2:])


@st.composite
def square(draw: Any) -> Sample:
    n = draw(SIDES)
    return Sample((draw(regular((*draw(lead()), n, n))),))


@st.composite
def with_direction(draw: Any) -> Sample:
    n = draw(SIDES)
    leads = draw(broadcastable(2, ndim=(0, 1), side=(0, 2)))
    e = draw(array(draw(st.sampled_from(NUMBERS)), (*leads[1], n, n)))
    return Sample((draw(regular((*leads[0], n, n))), e))


@st.composite
def system(draw: Any, **params: Any) -> Sample:
    n, k = draw(SIDES), draw(SIDES)
    leads = draw(broadcastable(2, ndim=(0, 1), side=(0, 2)))
    b = draw(array(draw(st.sampled_from(NUMBERS)), (*leads[1], n, k)))
    return Sample(
        (draw(regular((*leads[0], n, n))), b), {name: draw(v) for name, v in params.items()}
    )


@st.composite
def positive_definite(draw: Any) -> Sample:
    n = draw(SIDES)
    part = draw(array(draw(st.sampled_from(NUMBERS)), (*draw(lead()), n, n)))
    return Sample((part + part.swapaxes(-1, -2).conj() + 2 * np.eye(n),))


def spaced(n: int, k: int) -> Array:
    """Different numbers on a diagonal."""
    return np.eye(n, k) * np.array([2.0, 1.0, 3.0])[:k]


@st.composite
def symmetric(draw: Any) -> Sample:
    """With elements beside the diagonal that are not zero, at which LAPACK changes signs."""
    n = draw(SIDES)
    part = draw(array(floats(0.05, 0.15), (*draw(lead()), n, n)))
    return Sample((part + part.swapaxes(-1, -2) + spaced(n, n),))


TURNING = np.array([[0.5, 1.0, 0.0], [-0.6, 0.5, 0.0], [0.0, 0.0, 2.0]])  # a complex pair


@st.composite
def general(draw: Any) -> Sample:
    """Eigenvalues apart, real ones or a pair of complex ones, and no two entries of equal size."""
    n = draw(SIDES)
    domain = draw(st.sampled_from([floats(0.05, 0.15), complexes() * 0.05]))
    part = draw(array(domain, (*draw(lead()), n, n)))
    base = TURNING[:n, :n] if n > 1 and draw(st.booleans()) else spaced(n, n)
    return Sample((part + base,))


@st.composite
def rectangular(draw: Any, domains: list[Array], **params: Any) -> Sample:
    m, n = draw(SIDES), draw(SIDES)
    part = draw(array(draw(st.sampled_from(domains)), (*draw(lead()), m, n)))
    return Sample((part + spaced(m, n),), params)


@st.composite
def divided(draw: Any) -> Sample:
    shape = (*draw(lead()), draw(SIDES), draw(SIDES))
    return Sample(
        (draw(array(draw(st.sampled_from(NUMBERS)), shape)), draw(array(floats(1, 3), shape)))
    )


@st.composite
def eliminated(draw: Any) -> Sample:
    """With one clear pivot in every column, on the diagonal or below."""
    (x,), params = draw(rectangular(NUMBERS))
    return Sample((np.flip(x, -2).copy() if draw(st.booleans()) else x,), params)


@st.composite
def exchanges(draw: Any) -> Sample:
    count = draw(SIDES)
    shape = (*draw(lead()), draw(st.integers(0, count)))
    piv = np.arange(shape[-1]) + np.zeros(shape, int)
    piv = piv + draw(array(integers(0, 3), shape)) % np.maximum(count - piv, 1)
    return Sample((piv,), {"count": count})


@st.composite
def whole(draw: Any) -> Sample:
    """Of integers, for what has no derivative."""
    return Sample((draw(array(integers(-3, 3), (*draw(lead()), draw(SIDES), draw(SIDES)))),))


SAMPLES = {
    "matrix_solve": system(),
    "triangular_solve": system(lower=st.booleans(), unit_diagonal=st.booleans()),
    "inv": square(),
    "pinv": rectangular(NUMBERS, rcond=1e-15),
    "adjugate_along": with_direction(),
    "cofactor": square(),
    "det": square(),
    "slogdet": square(),
    "cholesky": positive_definite(),
    "qr": rectangular([floats(0.05, 0.3), complexes() * 0.15]),
    "geqrf": whole(),
    "qr_complete": whole(),
    "svd_complete": whole(),
    "eigh": symmetric(),
    "eigvalsh": symmetric(),
    "eig": general(),
    "eigvals": general(),
    "svdvals": rectangular([floats(0.05, 0.15), complexes() * 0.1]),
    "svd": rectangular([floats(0.05, 0.15)]),
    "gap_divide": divided(),
    "lu_factor": eliminated(),
    "permutation_of_pivots": exchanges(),
}
