"""`torch.utils.benchmark`: how long a statement takes, by Python's `timeit`."""

from __future__ import annotations

import statistics
import timeit
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from .._missing import explain as _explain_missing
from ..settings import get_num_threads, set_num_threads

timer = timeit.default_timer

_UNITS = ((1.0, "s"), (1e-3, "ms"), (1e-6, "us"), (0.0, "ns"))


@dataclass(repr=False)
class Measurement:
    """Times of runs, each of `number_per_run` statements.

    >>> found = Measurement(10, [0.5, 0.2, 0.3], "x + 1")
    >>> found.median, found.times[0]
    (0.03, 0.05)
    >>> found
    x + 1
      30.00 ms
      3 measurements, 10 runs per measurement
    """

    number_per_run: int
    raw_times: list[float]
    title: str

    @property
    def times(self) -> list[float]:
        """Seconds per statement, of each run."""
        return [t / self.number_per_run for t in self.raw_times]

    @property
    def mean(self) -> float:
        return statistics.mean(self.times)

    @property
    def median(self) -> float:
        return statistics.median(self.times)

    @property
    def iqr(self) -> float:
        """How far the quartiles are apart."""
        if len(self.times) < 2:
            return 0.0
        low, _, high = statistics.quantiles(self.times, n=4, method="inclusive")
        return high - low

    def __repr__(self) -> str:
        size, unit = next(u for u in _UNITS if self.median >= u[0])
        count = len(self.raw_times)
        runs = f"{count} measurement{'s' * (count > 1)}, {self.number_per_run} runs per measurement"
        return f"{self.title}\n  {self.median / (size or 1e-9):.2f} {unit}\n  {runs}"


class Timer:
    """Times a statement, as `timeit.Timer` does; `num_threads` is told to `set_num_threads`.

    Raises: ValueError: the statement is not Python's.

    >>> import compat as torch
    >>> Timer("x + 1", globals={"x": torch.ones(3)}).timeit(100).number_per_run
    100
    """

    def __init__(
        self,
        stmt: str = "pass",
        setup: str = "pass",
        global_setup: str = "",
        timer: Callable[[], float] = timer,
        globals: dict[str, Any] | None = None,
        label: str | None = None,
        sub_label: str | None = None,
        description: str | None = None,
        env: str | None = None,
        num_threads: int = 1,
        language: str = "python",
    ) -> None:
        if str(language).lower() not in ("python", "py") or global_setup:
            raise ValueError(
                f"Timer: language={language!r}, global_setup={global_setup!r}; need a statement of "
                f"Python, whose setup is `setup`"
            )
        self._timer = timeit.Timer(stmt, setup, timer, dict(globals or {}))
        self._num_threads = num_threads
        names = [x for x in (label or stmt, sub_label, description, env) if x]
        self._title = ": ".join(names)

    def _runs(self, number: int, enough: Callable[[list[float]], bool]) -> Measurement:
        before = get_num_threads()
        set_num_threads(self._num_threads)
        try:
            self._timer.timeit(max(number // 100, 2))  # what is made at the first calls
            times = [self._timer.timeit(number)]
            while not enough(times):
                times.append(self._timer.timeit(number))
        finally:
            set_num_threads(before)
        return Measurement(number, times, self._title)

    def timeit(self, number: int = 1000000) -> Measurement:
        """One run of `number` statements."""
        return self._runs(number, lambda times: True)

    def blocked_autorange(
        self, callback: Callable[[int, float], Any] | None = None, min_run_time: float = 0.2
    ) -> Measurement:
        """Runs of as many statements as make the clock's own time small, until `min_run_time`."""
        number = 1
        while (taken := self._timer.timeit(number)) < min_run_time / 100:
            number *= 10
        if callback is not None:
            callback(number, taken)
        return self._runs(number, lambda times: sum(times) >= min_run_time)


_explain_missing("torch.utils.benchmark", globals())

__all__ = ["Measurement", "Timer", "timer"]
