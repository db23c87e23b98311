"""Problems of which SciPy finds the discrete part: assignments, and monotone fits."""

from __future__ import annotations

from typing import Any

import numpy as np

from ... import numpy as fnp
from ...core import Aval, aval_of
from ...errors import ArgumentError, ShapeError, where
from ...indexing import known, read
from ...ops.segments import segment_sum
from .._arrays import floating, host_only
from .._programs import on_host
from .implicit import INT, scipy


@host_only
def linear_sum_assignment(cost_matrix: Any, maximize: bool = False) -> tuple[Any, Any]:
    """The rows and columns, as many as the shorter side has, each at most once, with the least sum of
    costs, or the greatest.

    SciPy finds them, in compiled programs when they run, under `vmap` for one example after another.
    ``cost_matrix[rows, columns].sum()`` has the derivative of the least sum.

    Shapes: ``(n, m) -> (min(n, m)), (min(n, m))``.   Dtypes: real; gives integers.
    Derivative: zero.
    Raises: ShapeError: the costs are no matrix. ArgumentError: they are complex. ValueError: from
    SciPy, they are nan or do not allow an assignment.
    Source: Crouse, IEEE Trans. Aerosp. Electron. Syst. 52 (2016); SciPy reference,
    ``scipy.optimize.linear_sum_assignment``.

    >>> import funcgrad
    >>> def least(cost):
    ...     return cost[linear_sum_assignment(cost)].sum()
    >>> cost = np.array([[4.0, 1.0, 3.0], [2.0, 0.0, 5.0], [3.0, 2.0, 2.0]])
    >>> float(least(cost)), funcgrad.grad(least)(cost).tolist()
    (5.0, [[0.0, 1.0, 0.0], [1.0, 0.0, 0.0], [0.0, 0.0, 1.0]])
    """
    solver = scipy("linear_sum_assignment").linear_sum_assignment
    cost = floating(cost_matrix)
    if cost.ndim != 2 or aval_of(cost).dtype.kind == "c":
        raise (ShapeError if cost.ndim != 2 else ArgumentError)(
            f"linear_sum_assignment: the costs are {aval_of(cost)}; need a matrix of real numbers"
            f"{where()}"
        )
    types = [Aval((min(cost.shape),), INT)] * 2
    rows, columns = on_host(
        "linear_sum_assignment", lambda c: list(solver(c, bool(maximize))), [cost], types
    )
    return rows, columns


class IsotonicResult:
    """A monotone row `x`, the `weights` of its blocks, and where `blocks` begin."""

    def __init__(self, x: Any, weights: Any, blocks: Any) -> None:
        self.x, self._weights, self._blocks = x, weights, blocks

    def _count(self) -> int:
        blocks = known(self._blocks)
        if blocks is None:
            raise ArgumentError(
                f"isotonic_regression: how many blocks there are is known when the program runs; x is "
                f"there{where()}"
            )
        return int(blocks[-1]) + 1

    @property
    def weights(self) -> Any:
        """Raises: ArgumentError: the values are not known."""
        return segment_sum(self._weights, self._blocks, num_segments=self._count())

    @property
    def blocks(self) -> Any:
        """Raises: ArgumentError: the values are not known."""
        return np.searchsorted(known(self._blocks), np.arange(self._count() + 1))


@host_only
def isotonic_regression(y: Any, *, weights: Any = None, increasing: bool = True) -> IsotonicResult:
    """The row that does not fall (or rise) with the least ``sum(weights (y - x)**2)``.

    It is constant in blocks, where it is the mean. SciPy finds the blocks. The result has ``x``, and
    where the values are known ``weights`` and ``blocks``.

    Shapes: ``y, weights: (n) -> (n)``.   Dtypes: real; integers give float64.
    Derivative: by `y` and `weights`, that of the means with the blocks held.
    Raises: ShapeError: `y` is no row, or `weights` are of another length. ArgumentError: a known
    weight is not positive.
    Source: Busing, J. Stat. Softw. 102 (2022); SciPy reference,
    ``scipy.optimize.isotonic_regression``.

    >>> isotonic_regression([1.0, 3.0, 2.0, 4.0]).x.tolist()
    [1.0, 2.5, 2.5, 4.0]
    """
    solver = scipy("isotonic_regression").isotonic_regression
    y = floating(y)
    w = fnp.ones_like(y) if weights is None else floating(weights)
    if y.ndim != 1 or w.shape != y.shape or not y.shape[0]:
        raise ShapeError(
            f"isotonic_regression: y is {aval_of(y)}, weights are {aval_of(w)}; need rows of one "
            f"length{where()}"
        )
    value = known(w)
    if value is not None and not bool((value > 0).all()):
        raise ArgumentError(f"isotonic_regression: weights must be positive{where()}")

    def number_of_block(y: Any, w: Any) -> list[Any]:
        starts = solver(y, weights=w, increasing=bool(increasing)).blocks
        return [np.searchsorted(starts, np.arange(len(y)), side="right") - 1]

    n = y.shape[0]
    (blocks,) = on_host("isotonic_regression", number_of_block, [y, w], [Aval((n,), INT)])
    sums = [segment_sum(v, blocks, num_segments=n) for v in (w * y, w)]
    means = sums[0] / fnp.where(sums[1] == 0, 1.0, sums[1])
    return IsotonicResult(read(means, blocks), w, blocks)
