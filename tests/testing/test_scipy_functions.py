"""What users have: functions of SciPy and NumPy, and functions of their own, at default settings."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
import pytest

import funcgrad.scipy.linalg as fsl
import funcgrad.scipy.special as fss
from funcgrad.testing import check_all

sp = pytest.importorskip("scipy.special")

X = np.array([0.3, 0.55, 1.2])
P = np.array([0.2, 0.3, 0.5])
Q = P[::-1].copy()
T = np.array([-0.8, 0.25, 1.1])  # of both signs
A = np.array([[2.0, 0.5, -0.3], [0.4, 1.5, 0.2], [-0.6, 0.1, 1.8]])
B = np.array([[0.5, -1.0], [0.3, 0.8], [1.1, 0.4]])
DATA = np.array([[0.3, -0.9, 1.4, 0.2], [1.1, 0.6, -0.5, 0.8]])
TURN = 1 + 0.3j  # makes complex numbers of real ones


class Subject(NamedTuple):
    """A function, where it is checked, and the dtypes that make sense."""

    f: Callable[..., Any]
    args: tuple[np.ndarray, ...]
    dtypes: str = "df"
    label: str = ""

    @property
    def name(self) -> str:
        return self.label or self.f.__name__


SPECIAL = [
    Subject(sp.beta, (X, X + 1)),
    Subject(sp.betaln, (X, X + 1)),
    Subject(sp.cbrt, (X,)),
    Subject(sp.digamma, (X,)),
    Subject(sp.entr, (P,)),
    Subject(sp.erf, (T,)),
    Subject(sp.erfc, (T,)),
    Subject(sp.erfcx, (T,)),
    Subject(sp.erfinv, (P,)),
    Subject(sp.erfcinv, (P,)),
    Subject(sp.exp2, (T,)),
    Subject(sp.expit, (T,)),
    Subject(sp.expm1, (T,)),
    Subject(sp.gamma, (X,)),
    Subject(sp.gammaln, (X,)),
    Subject(sp.i0, (T,)),
    Subject(sp.i0e, (T,)),
    Subject(sp.i1, (T,)),
    Subject(sp.i1e, (T,)),
    Subject(sp.kl_div, (P, Q)),
    Subject(sp.rel_entr, (P, Q)),
    Subject(sp.log1p, (X,)),
    Subject(sp.log_expit, (T,)),
    Subject(sp.log_ndtr, (T,)),
    Subject(sp.logit, (P,)),
    Subject(sp.ndtr, (T,)),
    Subject(sp.ndtri, (P,)),
    Subject(sp.xlog1py, (T, X)),
    Subject(sp.xlogy, (T, X)),
    Subject(lambda r: sp.huber(1.0, r), (T,), label="huber"),
    Subject(lambda r: sp.pseudo_huber(1.0, r), (T,), label="pseudo_huber"),
    Subject(fss.logsumexp, (T,)),
    Subject(fss.softmax, (T,)),
    Subject(fss.log_softmax, (T,)),
    Subject(lambda a: fss.multigammaln(a, 2), (np.array(3.2),), label="multigammaln"),
    Subject(lambda x: fss.polygamma(1, x), (X,), label="polygamma"),
    Subject(fsl.solve_triangular, (A, B), "dfD"),
]

NUMPY = [
    Subject(np.cov, (DATA,), "dfD"),
    Subject(np.corrcoef, (DATA,)),
    Subject(np.mean, (DATA,), "dfD"),
    Subject(np.var, (DATA,), "dfD"),
    Subject(np.std, (DATA,)),
    Subject(np.median, (DATA,)),
    Subject(np.sort, (DATA,)),
    Subject(np.ptp, (DATA,)),
    Subject(lambda x: np.quantile(x, 0.3, axis=1), (DATA,), label="quantile"),
    Subject(np.average, (DATA,), "dfD"),
    Subject(np.cumsum, (DATA,), "dfD"),
    Subject(np.cumprod, (DATA,), "dfD"),
    Subject(np.diff, (DATA,), "dfD"),
    Subject(np.trapezoid, (DATA,), "dfD"),
    Subject(np.gradient, (T,), "dfD"),
    Subject(np.convolve, (T, Q), "dfD"),
    Subject(np.correlate, (T, Q), "dfD"),
    Subject(np.polyval, (T, X), "dfD"),
    Subject(np.vander, (T,), "dfD"),
    Subject(lambda f: np.interp([0.4, 1.7], [0.0, 1.0, 2.0], f), (T,), "dfD", "interp"),
    Subject(lambda x: np.interp(x, [0.0, 0.5, 2.0], [1.0, -1.0, 3.0]), (X,), label="interp at x"),
    Subject(np.logaddexp, (T, X)),
    Subject(np.hypot, (T, X)),
    Subject(np.arctan2, (T, X)),
    Subject(np.sinc, (T,)),
    Subject(np.unwrap, (4 * T,)),
    Subject(lambda x: np.clip(x, -0.5, 0.5), (T,), label="clip"),
    Subject(np.outer, (T, X), "dfD"),
    Subject(np.kron, (A, B), "dfD"),
    Subject(np.cross, (T, X), "dfD"),
    Subject(lambda a, b: np.einsum("ij,jk->ki", a, b), (A, B), "dfD", "einsum"),
    Subject(np.fft.fft, (T,), "dfD"),
    Subject(lambda x: np.abs(np.fft.rfft(x)) ** 2, (DATA,), label="power spectrum"),
    Subject(np.linalg.det, (A,), "dfD"),
    Subject(np.linalg.slogdet, (A,), "dfD"),
    Subject(np.linalg.inv, (A,), "dfD"),
    Subject(np.linalg.pinv, (B,), "dfD"),
    Subject(np.linalg.solve, (A, B), "dfD"),
    Subject(lambda b: np.linalg.cholesky(np.eye(3) + b @ b.mT.conj()), (B,), "dfD", "cholesky"),
    Subject(lambda a: np.linalg.eigvalsh(a + a.mT.conj()), (A,), "dfD", "eigvalsh"),
    Subject(lambda b: np.linalg.svd(b, compute_uv=False), (B,), "dfD", "singular values"),
    Subject(lambda b: np.linalg.qr(b)[1], (B,), "dfD", "qr"),
    Subject(np.linalg.norm, (B,), "dfD"),
    Subject(lambda a: np.linalg.matrix_power(a, 3), (A,), "dfD", "matrix_power"),
    Subject(lambda a, b: np.linalg.multi_dot([a, a, b]), (A, B), "dfD", "multi_dot"),
    Subject(lambda a, b: np.linalg.lstsq(a, b)[0], (B, DATA.T[:3]), "df", "lstsq"),
]


def cast(args: tuple[np.ndarray, ...], dtype: str) -> tuple[np.ndarray, ...]:
    return tuple((x * TURN if dtype == "D" else x).astype(dtype) for x in args)


def in_every_dtype(subjects: list[Subject]) -> Any:
    cases = [(s, dtype) for s in subjects for dtype in s.dtypes]
    ids = [f"{s.name}-{np.dtype(dtype)}" for s, dtype in cases]
    return pytest.mark.parametrize(("subject", "dtype"), cases, ids=ids)


@in_every_dtype([*SPECIAL, *NUMPY])
def test_default_settings_pass(subject: Subject, dtype: str) -> None:
    report = check_all(subject.f, cast(subject.args, dtype))
    assert report.ok, str(report)
    assert {"transpose", "numerical"} <= {o.name for o in report.outcomes if o.status == "passed"}
