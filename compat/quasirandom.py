"""`torch.quasirandom`: sequences that fill the unit cube more evenly than random numbers."""

from __future__ import annotations

from typing import Any

from scipy.stats import qmc

from ._missing import explain as _explain_missing
from .dtypes import get_default_dtype
from .ops.create import from_numpy
from .ops.random import randint


class SobolEngine:
    """Points of a Sobol' sequence in ``[0, 1)**dimension``; with `scramble`, randomised.

    The points are SciPy's; unscrambled they are PyTorch's. A scrambled sequence is another one than
    PyTorch's of the same `seed`.

    Raises: ValueError: `dimension` is not from 1 to `MAXDIM`.
    Source: Joe & Kuo, "Constructing Sobol sequences with better two-dimensional projections",
    SIAM J. Sci. Comput. 30 (2008).

    >>> SobolEngine(2).draw(4)
    tensor([[0.0000, 0.0000],
            [0.5000, 0.5000],
            [0.7500, 0.2500],
            [0.2500, 0.7500]])
    """

    MAXBIT = 30
    MAXDIM = 21201

    def __init__(self, dimension: int, scramble: bool = False, seed: int | None = None) -> None:
        if not 1 <= dimension <= self.MAXDIM:
            raise ValueError(
                f"Supported range of dimensionality for SobolEngine is [1, {self.MAXDIM}]"
            )
        self.seed = seed
        self.scramble = scramble
        self.dimension = dimension
        self._of = qmc.Sobol(
            dimension,
            scramble=scramble,
            bits=self.MAXBIT,
            rng=(int(randint(2**31, ())) if seed is None else seed) if scramble else None,
        )

    @property
    def num_generated(self) -> int:
        return int(self._of.num_generated)

    def draw(self, n: int = 1, out: Any = None, dtype: Any = None) -> Any:
        """The next `n` points, one a row."""
        points = from_numpy(self._of.random(n)).to(get_default_dtype() if dtype is None else dtype)
        if out is None:
            return points
        out.resize_as_(points).copy_(points)
        return out

    def draw_base2(self, m: int, out: Any = None, dtype: Any = None) -> Any:
        """The next ``2**m`` points.

        Raises: ValueError: the number of points would be no power of two, so they would lose their
        balance.
        """
        n = 2**m
        total = self.num_generated + n
        if total & (total - 1):
            raise ValueError(
                "The balance properties of Sobol' points require n to be a power of 2. "
                f"{self.num_generated} points have been previously generated, then: n="
                f"{self.num_generated}+2**{m}={total}. If you still want to do this, please use "
                "'SobolEngine.draw()' instead."
            )
        return self.draw(n, out=out, dtype=dtype)

    def reset(self) -> SobolEngine:
        """Begin anew."""
        self._of.reset()
        return self

    def fast_forward(self, n: int) -> SobolEngine:
        """Leave out `n` points."""
        self._of.fast_forward(n)
        return self

    def __repr__(self) -> str:
        shown = [f"dimension={self.dimension}"]
        if self.scramble:
            shown.append("scramble=True")
        if self.seed is not None:
            shown.append(f"seed={self.seed}")
        return f"{type(self).__name__}({', '.join(shown)})"


__all__ = ["SobolEngine"]

_explain_missing("torch.quasirandom", globals())
