"""What ``import funcgrad`` adds to ``import numpy``, each timed in fresh processes in turn."""

from __future__ import annotations

import argparse
import os
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

from _timing import format_table, versions, write_json

TARGET_MS = 50.0

# The interpreter's own start is left out: the clock runs around the import alone.
PROGRAM = """
import time
begin = time.perf_counter()
import {module}
print(time.perf_counter() - begin)
"""


def import_ms(module: str, bytecode: str) -> float:
    """Milliseconds that one fresh interpreter takes to import a module."""
    # An installed package has its bytecode compiled; so has this one from the second process on,
    # wherever its sources lie and whatever the caller has set.
    environment = os.environ | {"PYTHONPYCACHEPREFIX": bytecode, "PYTHONDONTWRITEBYTECODE": ""}
    finished = subprocess.run(
        [sys.executable, "-c", PROGRAM.format(module=module)],
        check=True,
        capture_output=True,
        text=True,
        env=environment,
    )
    return float(finished.stdout) * 1e3


def measure(rounds: int) -> dict[str, list[float]]:
    """Import both modules in turn; the first round only fills the caches of disk and bytecode."""
    measured: dict[str, list[float]] = {"numpy": [], "funcgrad": []}
    with tempfile.TemporaryDirectory() as bytecode:
        for turn in range(rounds + 1):
            for module, times in measured.items():
                elapsed = import_ms(module, bytecode)
                if turn:
                    times.append(elapsed)
    return measured


def main() -> None:
    """Print the medians, the time added and whether it stays below the target."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=21, help="processes per module")
    parser.add_argument("--quick", action="store_true", help="five rounds only")
    parser.add_argument("--json", type=Path, metavar="PATH", help="also write the results here")
    options = parser.parse_args()
    measured = measure(5 if options.quick else options.rounds)
    medians = {module: statistics.median(times) for module, times in measured.items()}
    pairs = zip(measured["funcgrad"], measured["numpy"], strict=True)
    added = statistics.median(ours - numpys for ours, numpys in pairs)
    rows = [[f"import {module}", f"{ms:.1f}"] for module, ms in medians.items()]
    print(format_table(["fresh process", "median ms"], [*rows, ["added", f"{added:.1f}"]]))
    verdict = "met" if added <= TARGET_MS else "missed"
    print(f"target: at most {TARGET_MS:.0f} ms added, {verdict}")
    if options.json:
        report = {
            "versions": versions(["numpy", "funcgrad"]),
            "median_ms": medians,
            "added_ms": added,
            "target_ms": TARGET_MS,
        }
        write_json(options.json, report)


if __name__ == "__main__":
    main()
