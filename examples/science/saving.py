"""What the examples share: the command line and a figure that is saved where it says."""

from __future__ import annotations

import argparse
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import matplotlib

matplotlib.use("Agg")
from matplotlib import pyplot


def folder(description: str | None, arguments: Sequence[str] | None) -> Path:
    """The folder of `--out`, which is made."""
    parser = argparse.ArgumentParser(description=(description or "").splitlines()[0])
    parser.add_argument("--out", type=Path, default=Path("runs"), help="folder for the picture")
    out: Path = parser.parse_args(arguments).out
    out.mkdir(parents=True, exist_ok=True)
    return out


@contextmanager
def figure(path: Path, *, panels: int = 1) -> Iterator[Any]:
    """Axes to draw on, an array of them for several panels; saved at the end."""
    drawing, axes = pyplot.subplots(1, panels, figsize=(5.5 * panels, 3.8), layout="constrained")
    yield axes
    drawing.savefig(path)
    pyplot.close(drawing)
    print(f"picture: {path}")
