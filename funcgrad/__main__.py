"""The guided run: ``python -m funcgrad`` differentiates, checks and trains on real data.

Layer 5. Needs NumPy only. The loss is plain NumPy code; everything else is what a user would write.
"""

from __future__ import annotations

import argparse
import os
import sys
import time
from collections.abc import Iterator
from importlib.metadata import entry_points
from pathlib import Path
from typing import Any

import numpy as np

import funcgrad

from .datasets import load_digits
from .viz import jaxpr_graph, line_chart

Params = dict[str, Any]
Batch = tuple[Any, Any]

HIDDEN = 32  # units in the hidden layer
DECAY = 1e-4  # weight of the squared parameters in the loss
RATE = 3e-3  # Adam's step
BATCH = 64  # rows in a training step
HELD_OUT = 450  # rows kept for the test


def logits(params: Params, images: Any) -> Any:
    """Scores of the ten digits: one hidden layer of tanh units."""
    hidden = np.tanh(images @ params["w1"] + params["b1"])
    return hidden @ params["w2"] + params["b2"]


def loss(params: Params, images: Any, labels: Any) -> Any:
    """Mean cross-entropy plus weight decay, in plain NumPy."""
    scores = logits(params, images)
    top = np.max(scores, axis=1, keepdims=True)
    log_sum = np.log(np.sum(np.exp(scores - top), axis=1)) + top[:, 0]
    chosen = scores[np.arange(len(labels)), labels]
    decay = sum(np.sum(params[name] ** 2) for name in ("w1", "w2"))
    return np.mean(log_sum - chosen) + DECAY * decay


def accuracy(params: Params, images: Any, labels: Any) -> float:
    """The share of images whose highest score is the right digit."""
    return float(np.mean(np.argmax(logits(params, images), axis=1) == labels))


def initial(rng: np.random.Generator) -> Params:
    """Random weights scaled to the number of inputs, zero biases."""
    return {
        "w1": rng.normal(size=(64, HIDDEN)) / 8.0,
        "b1": np.zeros(HIDDEN),
        "w2": rng.normal(size=(HIDDEN, 10)) / np.sqrt(HIDDEN),
        "b2": np.zeros(10),
    }


def split(rng: np.random.Generator) -> tuple[Batch, Batch]:
    """Training and held-out rows of the digits, pixels scaled to -1 .. 1."""
    digits = load_digits()
    order = rng.permutation(len(digits.labels))
    images = digits.images.reshape(-1, 64)[order] / 8.0 - 1.0
    labels = digits.labels[order].astype(int)
    return (images[HELD_OUT:], labels[HELD_OUT:]), (images[:HELD_OUT], labels[:HELD_OUT])


def show_program(params: Params, batch: Batch) -> Any:
    """Print the jaxpr of the loss on four rows."""
    images, labels = batch[0][:4], batch[1][:4]
    jaxpr = funcgrad.make_jaxpr(lambda p: loss(p, images, labels))(params)
    print(jaxpr)
    return jaxpr


def check_gradient(params: Params, batch: Batch, rng: np.random.Generator) -> None:
    """The slope along a random direction: reverse mode, forward mode, finite differences."""

    def at(p: Params) -> Any:
        return loss(p, *batch)

    direction = {name: rng.normal(size=value.shape) for name, value in params.items()}
    gradient = funcgrad.grad(at)(params)
    reverse = sum(np.sum(gradient[name] * direction[name]) for name in params)
    _, forward = funcgrad.jvp(at, (params,), (direction,))
    step = 1e-5

    def moved(sign: float) -> Any:
        return at({name: params[name] + sign * step * direction[name] for name in params})

    numerical = (moved(1) - moved(-1)) / (2 * step)
    print(f"  reverse mode        {reverse:+.15f}")
    print(f"  forward mode        {forward:+.15f}   differs by {abs(forward - reverse):.1e}")
    print(f"  finite differences  {numerical:+.15f}   differs by {abs(numerical - reverse):.1e}")


def show_curvature(params: Params, batch: Batch, rows: int) -> None:
    """The Hessian in the last layer, where the loss is convex: its spectrum and a Newton step."""
    images, labels = batch[0][:rows], batch[1][:rows]
    count = HIDDEN * 10

    def of_last_layer(last: Any) -> Any:
        whole = {**params, "w2": last[:count].reshape(HIDDEN, 10), "b2": last[count:]}
        return loss(whole, images, labels)

    last = np.concatenate([params["w2"].ravel(), params["b2"]])
    before, gradient = funcgrad.value_and_grad(of_last_layer)(last)
    hessian = funcgrad.hessian(of_last_layer)(last)
    spectrum = np.linalg.eigvalsh(hessian)
    after = of_last_layer(last - np.linalg.solve(hessian + 1e-4 * np.eye(len(last)), gradient))
    print(f"  {len(last)} x {len(last)} entries, symmetric to {abs(hessian - hessian.T).max():.0e}")
    print(f"  largest eigenvalues {' '.join(f'{v:.3f}' for v in spectrum[:-6:-1])}")
    print(f"  smallest eigenvalue {spectrum[0]:.1e}")
    print(f"  one Newton step takes the loss from {before:.3f} to {after:.3f}")


def adam(params: Params, batches: Iterator[Batch], rate: float) -> Iterator[float]:
    """Train `params` in place with Adam; yield the loss of every step."""
    step_loss = funcgrad.value_and_grad(loss)
    mean = {name: np.zeros_like(value) for name, value in params.items()}
    square = {name: np.zeros_like(value) for name, value in params.items()}
    for t, (images, labels) in enumerate(batches, start=1):
        value, gradient = step_loss(params, images, labels)
        for name, g in gradient.items():
            mean[name] += 0.1 * (g - mean[name])
            square[name] += 0.001 * (g * g - square[name])
            unbiased = mean[name] / (1 - 0.9**t)
            scale = np.sqrt(square[name] / (1 - 0.999**t)) + 1e-8
            params[name] -= rate * unbiased / scale
        yield float(value)


def minibatches(batch: Batch, epochs: int, rng: np.random.Generator) -> Iterator[Batch]:
    """`epochs` passes over the rows, each in a new order."""
    images, labels = batch
    for _ in range(epochs):
        order = rng.permutation(len(labels))
        for start in range(0, len(labels) - BATCH + 1, BATCH):
            rows = order[start : start + BATCH]
            yield images[rows], labels[rows]


def train(params: Params, batch: Batch, epochs: int, rng: np.random.Generator) -> list[float]:
    """Train with a progress bar; return the loss of every step."""
    total = epochs * (len(batch[1]) // BATCH)
    history: list[float] = []
    bar = ProgressBar(total)
    for value in adam(params, minibatches(batch, epochs, rng), rate=RATE):
        history.append(value)
        bar.show(len(history), f"loss {value:.3f}")
    bar.end()
    return history


def compare_with_tensors(
    initial_params: Params, batch: Batch, epochs: int, seed: int, history: list[float]
) -> None:
    """Train again with tensors, on the same batches, and compare the loss of every step.

    Whoever offers another way to write the training registers it as an entry point.
    """
    for entry in entry_points(group="funcgrad.guided_run"):
        begin = time.perf_counter()
        batches = minibatches(batch, epochs, np.random.default_rng(seed))
        losses, _ = entry.load()(initial_params, batches, RATE, DECAY)
        gap = max(abs(a - b) for a, b in zip(losses, history, strict=False))
        print(f"  import {entry.name} as torch: {len(losses)} steps of tensors and backward()")
        print(f"  {time.perf_counter() - begin:.1f} s; the losses differ by at most {gap:.1e}")


class ProgressBar:
    """A line that fills on a terminal, and four lines elsewhere."""

    def __init__(self, total: int, width: int = 32) -> None:
        self.total = total
        self.width = width
        self.start = time.perf_counter()
        self.live = sys.stdout.isatty()

    def show(self, done: int, note: str) -> None:
        filled = self.width * done // self.total
        quarter = done * 4 % self.total < 4
        if self.live or quarter:
            bar = "#" * filled + "." * (self.width - filled)
            seconds = time.perf_counter() - self.start
            end = "\r" if self.live else "\n"
            print(f"  [{bar}] {done}/{self.total}  {note}  {seconds:.1f} s", end=end, flush=True)

    def end(self) -> None:
        if self.live:
            print()


def write_pictures(out: Path, jaxpr: Any, history: list[float]) -> None:
    """The loss curve and the graph of the program, as SVG files in the directory `out`."""
    smooth = np.convolve(history, np.full(10, 0.1), mode="valid").tolist()
    series = {"every step": history, "mean of 10": smooth}
    curve = line_chart(series, title="Training loss", x_label="step", y_label="loss", log_y=True)
    (out / "loss.svg").write_text(curve, encoding="utf-8")
    picture = jaxpr_graph(jaxpr, title="The loss as a program")
    (out / "jaxpr.svg").write_text(picture, encoding="utf-8")
    print(f"  {out / 'loss.svg'}\n  {out / 'jaxpr.svg'}")


def heading(number: int, text: str) -> None:
    print(f"\n{number}. {text}\n")


def parse(argv: list[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="python -m funcgrad",
        description="A guided run on real data: the program of a loss written in plain NumPy, its "
        "gradient checked three ways, its Hessian, training with a progress bar, the same training "
        "with tensors, accuracy on held-out images, and two pictures.",
    )
    parser.add_argument("--quick", action="store_true", help="a few seconds: fewer epochs and rows")
    parser.add_argument("--epochs", type=int, metavar="N", help="passes over the data (default 30)")
    parser.add_argument("--seed", type=int, default=0, help="of the random numbers (default 0)")
    parser.add_argument(
        "--out",
        type=Path,
        default=Path("funcgrad-run"),
        metavar="DIR",
        help="where to write the pictures (default ./funcgrad-run)",
    )
    args = parser.parse_args(argv)
    if args.epochs is not None and args.epochs < 1:
        parser.error(f"--epochs must be at least 1, found {args.epochs}")
    if args.seed < 0:
        parser.error(f"--seed must be at least 0, found {args.seed}")
    try:  # now, not after a minute of training
        args.out.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        parser.error(f"--out: no directory can be made at {args.out}: {error.strerror}")
    if not os.access(args.out, os.W_OK):
        parser.error(f"--out: the directory {args.out} cannot be written into")
    return args


def main(argv: list[str] | None = None) -> int:
    """Run the tour; the exit status is 0 if the network learnt, 128 + the signal if it was ended."""
    args = parse(argv)
    try:
        status = tour(args)
        sys.stdout.flush()
    except KeyboardInterrupt:
        print("\ninterrupted", file=sys.stderr)
        return 130
    except BrokenPipeError:  # whoever read the output, such as head, has seen enough
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())  # for the flush at exit
        return 141
    return status


def tour(args: argparse.Namespace) -> int:
    """All seven parts; 0 if the network learnt."""
    rng = np.random.default_rng(args.seed)
    training, held_out = split(rng)
    params = initial(rng)
    epochs = args.epochs or (8 if args.quick else 30)

    print(f"funcgrad {funcgrad.__version__} on the UCI handwritten digits (8 x 8 pixels):")
    print(f"{len(training[1])} images to train on, {len(held_out[1])} held out.")
    heading(1, "The loss, written in plain NumPy, is this program (on four images)")
    jaxpr = show_program(params, training)
    heading(2, "Its slope along a random direction, three ways")
    check_gradient(params, training, rng)
    heading(3, "Its Hessian in the parameters of the last layer")
    show_curvature(params, training, rows=200 if args.quick else 600)
    heading(4, f"Training all {sum(p.size for p in params.values())} parameters with Adam")
    start = {name: value.copy() for name, value in params.items()}
    history = train(params, training, epochs, np.random.default_rng(args.seed))
    heading(5, "The same training in the Tensor style: a tape, .grad and an optimizer")
    compare_with_tensors(start, training, min(epochs, 4), args.seed, history)
    heading(6, "Accuracy")
    found = accuracy(params, *held_out)
    print(f"  training {accuracy(params, *training):.1%}, held out {found:.1%}")
    heading(7, "Pictures")
    write_pictures(args.out, jaxpr, history)
    return 0 if found > 0.9 else 1


if __name__ == "__main__":
    sys.exit(main())
