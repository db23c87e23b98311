"""Rotations between rotations."""

from __future__ import annotations

from typing import Any

import numpy as np

from .... import numpy as fnp
from ....core import aval_of
from ....errors import ArgumentError, ShapeError, where
from ....indexing import known
from ....numpy._arguments import array_of, converted
from ....treedef import register_node
from .rotation import Rotation


class Slerp:
    """From each rotation to the next at a constant speed, around one axis and on the shorter way.

    Shapes: ``times: (n)`` for n rotations, at least two; ``slerp(times): (*t)``, t of one axis or none.
    Dtypes: real; all of it is in double precision.
    Derivative: by the times, the places and the rotations; at one of the times that of the piece before
    it, as its values are.
    Raises: ShapeError: the shapes do not fit. ArgumentError: the times do not rise, a place is outside
    of them; if that is not known, nan.
    Source: SciPy reference, ``scipy.spatial.transform.Slerp``.

    >>> s = Slerp([0, 1], Rotation.from_euler("z", [[0], [90]], degrees=True))
    >>> s(0.5).as_euler("zyx", degrees=True).round(9).tolist()
    [45.0, 0.0, 0.0]
    """

    def __init__(self, times: Any, rotations: Rotation) -> None:
        if not isinstance(rotations, Rotation) or len(rotations.shape) != 1 or len(rotations) < 2:
            raise ArgumentError(
                f"Slerp: rotations={rotations!r}; need a row of two or more{where()}"
            )
        times = converted(array_of(times), np.float64)
        if times.shape != rotations.shape:
            raise ShapeError(
                f"Slerp: times is {aval_of(times)}; need {rotations.shape[0]}, one for each of the "
                f"rotations{where()}"
            )
        value = known(times)
        if value is not None and not bool(np.all(np.asarray(value[1:] > value[:-1]))):
            raise ArgumentError(f"Slerp: the times must rise strictly{where()}")
        self._make(times, rotations)

    def _make(self, times: Any, rotations: Any) -> None:
        self.times, self._all = times, rotations

    @property
    def timedelta(self) -> Any:
        """The times from each rotation to the next."""
        return fnp.diff(self.times)

    @property
    def rotations(self) -> Rotation:
        """All rotations but the last."""
        return self._all[:-1]

    @property
    def rotvecs(self) -> Any:
        """How each rotation turns to the next."""
        return (self.rotations.inv() * self._all[1:]).as_rotvec()

    def __call__(self, times: Any) -> Rotation:
        t = converted(array_of(times), np.float64)
        if t.ndim > 1:
            raise ShapeError(f"Slerp: times is {aval_of(t)}; need a row or a number{where()}")
        outside = (t < self.times[0]) | (t > self.times[-1])
        value = known(outside)
        if value is not None and bool(np.any(value)):
            raise ArgumentError(f"Slerp: a place is not within the times{where()}")
        last = self.times.shape[0] - 2
        i = fnp.clip(fnp.searchsorted(self.times, t) - 1, 0, last)
        part = (t - fnp.take(self.times, i)) / fnp.take(self.timedelta, i)
        part = part if value is not None else fnp.where(outside, np.nan, part)
        turn = fnp.take(self.rotvecs, i, axis=0) * part[..., None]
        return self.rotations[i] * Rotation.from_rotvec(turn)


def _put_together(_: Any, parts: tuple[Any, ...]) -> Slerp:
    made = Slerp.__new__(Slerp)
    made._make(*parts)
    return made


register_node(Slerp, lambda s: ((s.times, s._all), None, ("times", "_all")), _put_together)
