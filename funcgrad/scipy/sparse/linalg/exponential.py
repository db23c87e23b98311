"""The exponential of a matrix times vectors: `expm_multiply`."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from .... import numpy as fnp
from ....core import aval_of
from ....errors import ArgumentError, ShapeError, where
from ....numpy._arguments import converted
from ....ops.sparse import is_sparse
from ....transforms.loops import scan
from ..._arrays import floating
from ...linalg import expm


def expm_multiply(
    A: Any,
    B: Any,
    start: float | None = None,
    stop: float | None = None,
    num: int | None = None,
    endpoint: bool | None = None,
    traceA: Any = None,
) -> Any:
    """``expm(A) B``; with the times ``expm(t A) B`` for `num` of them from `start` to `stop`.

    Of a sparse matrix by Taylor's polynomials of small steps, without the exponential. `traceA` changes
    nothing.

    Shapes: ``A: (n, n), B: (n,) or (n, k) -> the same as B``; with times ``(num, ...)``.
    Dtypes: floating, complex; integers give float64.
    Derivative: linear in `B`; by `A` if it is an array.
    Raises: ShapeError: the shapes do not fit. ArgumentError: some of the times' options, not all.
    Source: Al-Mohy & Higham, SIAM J. Sci. Comput. 33 (2011) 488; SciPy reference,
    ``scipy.sparse.linalg.expm_multiply``.

    >>> expm_multiply(np.array([[0.0, 2.0], [0.0, 0.0]]), np.array([1.0, 1.0])).tolist()
    [3.0, 1.0]
    """
    B = floating(B)
    A = A if is_sparse(A) else floating(A)
    if A.ndim != 2 or A.shape != B.shape[:1] * 2 or B.ndim > 2:
        raise ShapeError(
            f"expm_multiply: A has shape {list(A.shape)} and B {list(B.shape)}; need (n, n), and (n,) "
            f"or (n, k){where()}"
        )
    if start is None and stop is None and num is None and endpoint is None:
        return _grown(A, B)
    if start is None or stop is None:
        raise ArgumentError(f"expm_multiply: start={start} and stop={stop}; need both{where()}")
    times = np.linspace(start, stop, 50 if num is None else num, endpoint=endpoint is not False)
    return fnp.stack([_grown(t * A, B) for t in times])


def _grown(A: Any, B: Any) -> Any:
    if not is_sparse(A):
        return expm(A) @ B
    size = float(abs(A).sum(axis=0).max(initial=0.0)) if A.shape[0] else 0.0
    steps = max(1, math.ceil(size))
    wider = np.result_type(A.dtype, aval_of(B).dtype)

    def step(x: Any, _: Any) -> tuple[Any, None]:
        term = total = x
        for k in range(1, 19):  # 1 / 19! is 8e-18
            term = fnp.matmul(A, term) * (1.0 / (k * steps))
            total = total + term
        return total, None

    return scan(step, converted(B, wider), None, steps)[0]
