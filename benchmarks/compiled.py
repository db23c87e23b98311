"""`funcgrad.jit` against hand-written NumPy and the installed peers, on twenty kinds of workload.

HIPS autograd, PyTorch (eager, `torch.func` and, with an option, `torch.compile`) and JAX run each
workload in their own idiom. Results are compared first; then everything is timed in turn, in rounds.
"""

from __future__ import annotations

import argparse
import math
import os
import statistics
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from _timing import format_table, versions, write_json

PACKAGES = ("numpy", "scipy", "funcgrad", "autograd", "torch", "jax")
KERNELS = ("OPENBLAS_CORETYPE", "MKL_ENABLE_INSTRUCTIONS", "NPY_DISABLE_CPU_FEATURES")
LIBRARIES = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS")


def parse_arguments() -> argparse.Namespace:
    """Read the command line."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="fewer rounds, no heavy workloads")
    parser.add_argument("--only", metavar="TEXT", help="the workloads whose name contains TEXT")
    parser.add_argument("--no-peers", action="store_true", help="leave other libraries out")
    parser.add_argument("--torch-compile", action="store_true", help="with torch.compile: slow")
    parser.add_argument("--threads", type=int, metavar="N", help="for every library")
    parser.add_argument("--json", type=Path, metavar="PATH", help="also write the results here")
    parser.add_argument("--markdown", type=Path, metavar="PATH", help="also write the tables here")
    parser.add_argument("--svg", type=Path, metavar="PATH", help="also draw the ratios here")
    return parser.parse_args()


def set_environment(count: int | None) -> None:
    """What the libraries read while they are imported; called before any of them is."""
    os.environ["JAX_PLATFORMS"] = "cpu"
    # Every library is to choose the loops for this processor itself, as JAX and PyTorch do.
    for name in KERNELS:
        os.environ.pop(name, None)
    if count is not None:
        os.environ |= dict.fromkeys(LIBRARIES, str(count))
    if count == 1:
        os.environ["XLA_FLAGS"] = (
            "--xla_cpu_multi_thread_eigen=false intra_op_parallelism_threads=1"
        )


# ---------------------------------------------------------------- tables


def shown_time(seconds: float) -> str:
    """Three digits with a unit."""
    if math.isnan(seconds):
        return ""
    units = {"s": 1.0, "ms": 1e-3, "us": 1e-6}
    unit = next((u for u, size in units.items() if seconds >= size), "us")
    return f"{seconds / units[unit]:.3g} {unit}"


def shown_ratio(ratio: float) -> str:
    return "" if math.isnan(ratio) else f"{ratio:.3g}"


def geometric_mean(ratios: Sequence[float]) -> float:
    """That of the ratios that there are."""
    known = [math.log(r) for r in ratios if not math.isnan(r)]
    return math.exp(statistics.fmean(known)) if known else float("nan")


def ratios_of(result: Any, names: Any) -> dict[str, float]:
    """The ratios of a workload, by their column's name."""
    best = result.best_peer()
    return {
        "C / best peer": result.ratio(names.C_CODE, best),
        "NumPy / best peer": result.ratio(names.NUMPY_CODE, best),
        "C / by hand": result.ratio(names.C_CODE, names.BY_HAND),
        "NumPy / by hand": result.ratio(names.NUMPY_CODE, names.BY_HAND),
        "C / JAX": result.ratio(names.C_CODE, names.JAX),
        "C / function": result.ratio(names.C_CODE, names.FUNCTION),
    }


def sort_key(ratios: dict[str, float]) -> float:
    """The ratio to the best peer; of the NumPy code where there is no C."""
    first, second = ratios["C / best peer"], ratios["NumPy / best peer"]
    return next((r for r in (first, second) if not math.isnan(r)), 0.0)


def time_table(results: Sequence[Any], names: Any) -> tuple[list[str], list[list[str]]]:
    """Median times."""
    columns = [*names.OURS, names.BY_HAND, *names.PEERS]
    columns = [c for c in columns if any(c in r.rounds for r in results)]
    return ["median time of a call", *columns], [
        [r.name, *(shown_time(r.median(c)) for c in columns)] for r in results
    ]


def ratio_table(results: Sequence[Any], names: Any) -> tuple[list[str], list[list[str]]]:
    """Ratios, sorted by the first, with their geometric means."""
    ratios = {r.name: ratios_of(r, names) for r in results}
    best = {r.name: r.best_peer() or "" for r in results}
    order = sorted(ratios, key=lambda n: sort_key(ratios[n]), reverse=True)
    columns = list(next(iter(ratios.values())))
    rows = [[n, best[n], *(shown_ratio(ratios[n][c]) for c in columns)] for n in order]
    means = [geometric_mean([row[c] for row in ratios.values()]) for c in columns]
    rows.append(["geometric mean", "", *map(shown_ratio, means)])
    return ["ratio of times", "best peer", *columns], rows


def first_table(results: Sequence[Any], names: Any) -> tuple[list[str], list[list[str]]]:
    """Tracing and first calls."""
    header = ["once", "trace", "JAX: trace", "first call", "with C", "JAX: first call"]
    rows = []
    for r in results:
        traces, calls = r.traces, r.first_calls
        times = [traces.get(names.NUMPY_CODE), traces.get(names.JAX)]
        times += [calls.get(n) for n in (names.NUMPY_CODE, names.C_CODE, names.JAX)]
        rows.append([r.name, *("" if t is None else shown_time(t) for t in times)])
    return header, rows


def markdown_table(header: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    lines = [header, ["---"] * len(header), *rows]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


# ---------------------------------------------------------------- the chart

LEFT, WIDTH, ROW = 290, 560, 26  # pixels: of the names, of the bars, of a workload
COLOURS = {"C / best peer": "#2a6f97", "NumPy / best peer": "#a9d6e5"}


def chart(results: Sequence[Any], names: Any) -> str:
    """An SVG with a bar for each ratio to the best peer, on a logarithmic scale around 1."""
    rows = [(r.name, ratios_of(r, names)) for r in results if r.best_peer()]
    rows.sort(key=lambda row: sort_key(row[1]))
    known = [row[c] for _, row in rows for c in COLOURS if not math.isnan(row[c])] or [1.0]
    span = max(1, *(math.ceil(abs(math.log10(x))) for x in known))
    height = ROW * (len(rows) + 2)

    def across(ratio: float) -> float:
        return LEFT + WIDTH * (math.log10(ratio) + span) / (2 * span)

    parts = []
    for power in range(-span, span + 1):
        x, weight = across(10.0**power), 2 if power == 0 else 1
        label = f"{10.0**power:g}"
        parts.append(
            f'<path d="M{x:.1f} {ROW}V{height - ROW}" stroke="#999" stroke-width="{weight}"/>'
        )
        parts.append(f'<text x="{x:.1f}" y="{height - 8}" text-anchor="middle">{label}</text>')
    for i, (name, ratios) in enumerate(rows):
        top = ROW * (i + 1) + 4
        parts.append(f'<text x="{LEFT - 8}" y="{top + 13}" text-anchor="end">{name}</text>')
        for k, (column, colour) in enumerate(COLOURS.items()):
            if not math.isnan(ratios[column]):
                start, stop = sorted((across(1.0), across(ratios[column])))
                parts.append(
                    f'<rect x="{start:.1f}" y="{top + 9 * k}" width="{stop - start:.1f}" height="8" '
                    f'fill="{colour}"><title>{column}: {ratios[column]:.3g}</title></rect>'
                )
    legend = "  ".join(
        f'<tspan fill="{colour}" font-weight="bold">{column.split(" /")[0]} code</tspan>'
        for column, colour in COLOURS.items()
    )
    parts.append(
        f'<text x="8" y="17">Time by the best peer\'s, left of 1 is faster: {legend}</text>'
    )
    size = f'width="{LEFT + WIDTH + 20}" height="{height}"'
    head = (
        f'<svg xmlns="http://www.w3.org/2000/svg" {size} font-family="sans-serif" font-size="12">'
    )
    return "\n".join([head, '<rect width="100%" height="100%" fill="white"/>', *parts, "</svg>\n"])


# ---------------------------------------------------------------- main


def as_json(results: Sequence[Any], names: Any, installed: dict[str, str]) -> dict[str, Any]:
    """Everything that was measured, in seconds."""
    return {
        "versions": installed,
        "workloads": {
            r.name: {
                "seconds": {n: r.median(n) for n in r.rounds},
                "ratios": {k: None if math.isnan(v) else v for k, v in ratios_of(r, names).items()},
                "trace": r.traces,
                "first_call": r.first_calls,
                "failures": r.failures,
            }
            for r in results
        },
    }


def main() -> None:
    """Measure the workloads, print the tables and write the files that were asked for."""
    options = parse_arguments()
    set_environment(options.threads)
    from workloads import WORKLOADS, measuring

    plan = measuring.Plan(
        with_peers=not options.no_peers,
        with_torch_compile=options.torch_compile,
        seconds=1.0 if options.quick else 4.0,
        first_calls=1 if options.quick else 3,
        threads=options.threads,
    )
    chosen = [w for w in WORKLOADS if options.only is None or options.only in w.name]
    results = []
    for work in chosen:
        if not (work.heavy and options.quick):
            print(f"{work.name} ...", flush=True)
            results.append(measuring.measure(work, plan))
    installed = versions(PACKAGES)
    print(", ".join(f"{package} {version}" for package, version in installed.items()))
    tables = [make(results, measuring) for make in (time_table, ratio_table, first_table)]
    for table in tables:
        print(f"\n{format_table(*table)}")
    if options.markdown:
        text = "\n\n".join(markdown_table(*table) for table in tables)
        options.markdown.write_text(text + "\n", encoding="utf-8")
    if options.svg:
        options.svg.write_text(chart(results, measuring), encoding="utf-8")
    if options.json:
        write_json(options.json, as_json(results, measuring, installed))
    failed = [f"{r.name}: {n}: {text}" for r in results for n, text in r.failures.items()]
    if failed:
        sys.exit("\n".join(["\nFailed, so left out:", *failed]))


if __name__ == "__main__":
    main()
