"""What the runs share: options, a folder for what they make, progress, checkpoints, pictures."""

from __future__ import annotations

import argparse
import os
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import matplotlib
import numpy as np
from tqdm import tqdm

import compat as torch

matplotlib.use("Agg")
from matplotlib import pyplot


def options(
    description: str, arguments: Sequence[str] | None, **defaults: Any
) -> argparse.Namespace:
    """The command line: `--name` for every keyword, of its default's type, and what all runs have."""
    parser = argparse.ArgumentParser(
        description=description.splitlines()[0],
        formatter_class=argparse.ArgumentDefaultsHelpFormatter,
    )
    for name, value in defaults.items():
        parser.add_argument(f"--{name.replace('_', '-')}", type=type(value), default=value)
    parser.add_argument("--out", type=Path, default=Path("runs"), help="folder for what is made")
    parser.add_argument("--resume", action="store_true", help="go on from the last checkpoint")
    parser.add_argument("--seed", type=int, default=0)
    chosen = parser.parse_args(arguments)
    chosen.out.mkdir(parents=True, exist_ok=True)
    torch.manual_seed(chosen.seed)
    return chosen


def progress(steps: Iterable[Any], label: str) -> tqdm:
    """A bar over `steps`; `bar.set_postfix(loss=...)` writes beside it."""
    return tqdm(steps, desc=label, mininterval=0.5, dynamic_ncols=True)


class Checkpoint:
    """A file with the state dicts of everything that a run needs to go on."""

    def __init__(self, path: Path, **parts: Any) -> None:
        self.path, self.parts = path, parts

    def save(self, done: int, **figures: Any) -> None:
        """Write the state after `done` steps; the old file stays whole until the new one is."""
        state = {name: part.state_dict() for name, part in self.parts.items()}
        draft = self.path.with_suffix(".part")
        torch.save(
            {"done": done, "figures": figures, "random": torch.get_rng_state(), **state}, draft
        )
        os.replace(draft, self.path)

    def restore(self, wanted: bool) -> tuple[int, dict[str, Any]]:
        """Steps done and figures saved; `(0, {})` for a run from the start."""
        if not wanted or not self.path.exists():
            return 0, {}
        saved = torch.load(self.path)
        for name, part in self.parts.items():
            part.load_state_dict(saved[name])
        torch.set_rng_state(saved["random"])
        return saved["done"], saved["figures"]


def save_images(path: Path, images: np.ndarray, columns: int = 8) -> None:
    """Images (N, H, W) in [0, 1], side by side."""
    rows = -(-len(images) // columns)
    height, width = images.shape[1:]
    sheet = np.ones((rows * (height + 1), columns * (width + 1)))
    for n, image in enumerate(images):
        y, x = n // columns * (height + 1), n % columns * (width + 1)
        sheet[y : y + height, x : x + width] = image
    pyplot.imsave(path, sheet, cmap="gray", vmin=0.0, vmax=1.0, dpi=100)


def save_curves(path: Path, curves: Mapping[str, Sequence[float]], ylabel: str) -> None:
    """One line for each name."""
    figure, axes = pyplot.subplots(figsize=(6, 3.5), layout="constrained")
    for name, values in curves.items():
        axes.plot(values, label=name)
    axes.set(ylabel=ylabel, xlabel="step")
    axes.legend()
    figure.savefig(path)
    pyplot.close(figure)
