"""Interleaved timing of several contenders, so that a noisy machine disturbs them all alike."""

from __future__ import annotations

import gc
import json
import platform
import random
import statistics
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from importlib import metadata
from pathlib import Path
from typing import Any


@dataclass(frozen=True)
class Timings:
    """Seconds per call of every contender, one entry per round and in the same round order."""

    rounds: Mapping[str, Sequence[float]]

    def median(self, name: str) -> float:
        """The median seconds per call of one contender."""
        return statistics.median(self.rounds[name])

    def ratio(self, name: str, reference: str) -> float:
        """The median over the rounds of one contender's time by another's in the same round.

        The two calls of a round are moments apart, so that a slow spell cancels out.
        """
        pairs = zip(self.rounds[name], self.rounds[reference], strict=True)
        return statistics.median(mine / theirs for mine, theirs in pairs)


def seconds_per_call(call: Callable[[], object], repeats: int) -> float:
    """Time several calls in a row and return the mean."""
    begin = time.perf_counter()
    for _ in range(repeats):
        call()
    return (time.perf_counter() - begin) / repeats


def calls_per_batch(call: Callable[[], object], batch_seconds: float) -> int:
    """How many calls make a batch long enough for the clock, judged by a warm call."""
    call()
    return max(1, round(batch_seconds / max(seconds_per_call(call, 1), 1e-9)))


def interleave(
    contenders: Mapping[str, Callable[[], object]], rounds: int, batch_seconds: float
) -> Timings:
    """Run every contender once per round, each round in another order.

    The order is shuffled because a contender inherits the state of the memory allocator and of
    the caches from the one before it.
    """
    names = list(contenders)
    repeats = {name: calls_per_batch(contenders[name], batch_seconds) for name in names}
    measured: dict[str, list[float]] = {name: [] for name in names}
    was_enabled = gc.isenabled()
    try:
        for turn in range(rounds):
            # Collected between rounds and off inside them: a collection would be charged to
            # whoever happens to allocate next.
            gc.collect()
            gc.disable()
            for name in random.Random(turn).sample(names, len(names)):
                measured[name].append(seconds_per_call(contenders[name], repeats[name]))
    finally:
        if was_enabled:
            gc.enable()
    return Timings(measured)


def versions(packages: Iterable[str]) -> dict[str, str]:
    """The Python version and those of the packages that are installed."""
    found = {"python": platform.python_version()}
    for package in packages:
        try:
            found[package] = metadata.version(package)
        except metadata.PackageNotFoundError:
            continue
    return found


def format_table(header: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """Columns of text, the first to the left and the numbers to the right."""
    widths = [max(len(line[i]) for line in (header, *rows)) for i in range(len(header))]

    def line(cells: Sequence[str]) -> str:
        numbers = (cell.rjust(width) for cell, width in zip(cells[1:], widths[1:], strict=True))
        return "  ".join((cells[0].ljust(widths[0]), *numbers))

    return "\n".join((line(header), line(["-" * width for width in widths]), *map(line, rows)))


def write_json(path: Path, report: Mapping[str, Any]) -> None:
    """Write a report for other programs to read."""
    path.write_text(json.dumps(report, indent=2) + "\n", encoding="utf-8")
