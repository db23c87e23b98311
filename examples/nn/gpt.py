"""A small GPT learns to write Python's documentation, character by character.

Six pre-norm transformer blocks with causal attention read 64 characters and say at each place which
one comes next. AdamW decays the matrices only; the step size warms up, then falls along a cosine;
gradients are clipped. With `--compile` a training step (forward, backward, clipping, AdamW) is one
compiled program, and the times of both kinds of step are reported.

    python examples/nn/gpt.py
    python examples/nn/gpt.py --compile 1

Held-out text costs 1.8 nats per character after 500 steps (a minute and a half on one core) and
1.22 after 3600, in ten; a compiled step takes about three quarters of the time of a step that is not.
Prints a sample; saves the curve and, at every evaluation, a checkpoint.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Sequence
from statistics import median
from typing import Any

from run import Checkpoint, options, progress, save_curves
from text import Text, in_order, pick, random_batch

import compat as torch
import compat.nn.functional as F
from compat import nn


class Attention(nn.Module):
    """Heads that look at the places up to their own."""

    def __init__(self, width: int, heads: int, dropout: float) -> None:
        super().__init__()
        self.heads, self.rate = heads, dropout
        self.queries_keys_values = nn.Linear(width, 3 * width)
        self.project = nn.Linear(width, width)
        self.dropout = nn.Dropout(dropout)

    def forward(self, x: Any) -> Any:
        batch, length, width = x.shape
        split = self.queries_keys_values(x).view(batch, length, 3, self.heads, width // self.heads)
        q, k, v = split.permute(2, 0, 3, 1, 4)
        rate = self.rate if self.training else 0.0
        y = F.scaled_dot_product_attention(q, k, v, dropout_p=rate, is_causal=True)
        return self.dropout(self.project(y.transpose(1, 2).reshape(batch, length, width)))


class Block(nn.Module):
    """Attention, then two layers at each place; both add to what came in."""

    def __init__(self, width: int, heads: int, dropout: float) -> None:
        super().__init__()
        self.norm1, self.norm2 = nn.LayerNorm(width), nn.LayerNorm(width)
        self.attention = Attention(width, heads, dropout)
        self.mlp = nn.Sequential(
            nn.Linear(width, 4 * width),
            nn.GELU(approximate="tanh"),
            nn.Linear(4 * width, width),
            nn.Dropout(dropout),
        )

    def forward(self, x: Any) -> Any:
        x = x + self.attention(self.norm1(x))
        return x + self.mlp(self.norm2(x))


class GPT(nn.Module):
    """Embeddings of characters and places, blocks, and a head with the characters' embedding."""

    def __init__(
        self, characters: int, context: int, width: int, heads: int, layers: int, dropout: float
    ) -> None:
        super().__init__()
        self.context = context
        self.character = nn.Embedding(characters, width)
        self.place = nn.Embedding(context, width)
        self.dropout = nn.Dropout(dropout)
        self.blocks = nn.Sequential(*(Block(width, heads, dropout) for _ in range(layers)))
        self.norm = nn.LayerNorm(width)
        self.head = nn.Linear(width, characters, bias=False)
        self.head.weight = self.character.weight
        self.apply(self._start)
        for block in self.blocks:  # what adds to the sum starts smaller the more layers add
            for last in (block.attention.project, block.mlp[2]):
                nn.init.normal_(last.weight, std=0.02 / math.sqrt(2 * layers))

    @staticmethod
    def _start(module: nn.Module) -> None:
        if isinstance(module, (nn.Linear, nn.Embedding)):
            nn.init.normal_(module.weight, std=0.02)
        if isinstance(module, nn.Linear) and module.bias is not None:
            nn.init.zeros_(module.bias)

    def forward(self, characters: Any) -> Any:
        x = self.character(characters) + self.place(torch.arange(characters.shape[1]))
        return self.head(self.norm(self.blocks(self.dropout(x))))


def groups(model: nn.Module, decay: float) -> list[dict[str, Any]]:
    """Matrices, which are decayed, and vectors (biases and norms), which are not."""
    parameters = list(model.parameters())
    return [
        {"params": [p for p in parameters if p.dim() >= 2], "weight_decay": decay},
        {"params": [p for p in parameters if p.dim() < 2], "weight_decay": 0.0},
    ]


def warm_up_and_cosine(warm_up: int, steps: int) -> Callable[[int], float]:
    """The factor of the step size: a line up to 1, then half a cosine down to 0.1."""

    def factor(step: int) -> float:
        if step < warm_up:
            return (step + 1) / warm_up
        done = min(1.0, (step - warm_up) / max(1, steps - warm_up))
        return 0.55 + 0.45 * math.cos(math.pi * done)

    return factor


def held_out_loss(model: GPT, data: Any, batch: int = 64) -> float:
    """Mean nats for each character of `data`, which is cut into pieces as long as the context."""
    model.eval()
    inputs, targets = in_order(data, model.context)
    total = 0.0
    with torch.no_grad():
        for x, y in zip(inputs.split(batch), targets.split(batch), strict=True):
            total += F.cross_entropy(model(x).flatten(0, 1), y.flatten(), reduction="sum").item()
    model.train()
    return total / targets.numel()


def sample(model: GPT, text: Text, start: str, count: int, temperature: float = 0.8) -> str:
    """`start` and `count` characters that the model adds."""
    model.eval()
    written = text.encode(start)[None]
    with torch.no_grad():
        for _ in range(count):
            logits = model(written[:, -model.context :])[:, -1]
            written = torch.cat([written, pick(logits, temperature)], dim=1)
    model.train()
    return text.decode(written[0])


def training_step(model: GPT, optimizer: Any, clip: float) -> Callable[[Any, Any], Any]:
    """A function that learns from one batch and returns its loss."""

    def step(inputs: Any, targets: Any) -> Any:
        optimizer.zero_grad()
        loss = F.cross_entropy(model(inputs).flatten(0, 1), targets.flatten())
        loss.backward()
        nn.utils.clip_grad_norm_(model.parameters(), clip)
        optimizer.step()
        return loss.detach()

    return step


class Timed:
    """A step and how long its calls took; with `compiled`, calls after the tenth use a program."""

    def __init__(self, step: Callable[[Any, Any], Any], compiled: bool) -> None:
        self.eager, self.seconds = step, list[float]()
        self.program = torch.compile(step) if compiled else step

    def __call__(self, inputs: Any, targets: Any) -> float:
        begin = time.perf_counter()
        step = self.program if len(self.seconds) >= 10 else self.eager
        loss = step(inputs, targets).item()
        self.seconds.append(time.perf_counter() - begin)
        return loss

    def figures(self) -> dict[str, float]:
        """Median milliseconds of both kinds of step; the program is made in the twelfth call."""
        if self.program is self.eager:
            return {"eager_ms": 1000 * median(self.seconds)}
        kinds = {"eager_ms": self.seconds[:10], "compiled_ms": self.seconds[12:]}
        return {name: 1000 * median(times) for name, times in kinds.items() if times}


def main(arguments: Sequence[str] | None = None) -> dict[str, float]:
    chosen = options(
        __doc__ or "",
        arguments,
        **{"steps": 3600, "batch": 16, "context": 64, "width": 128, "heads": 4, "layers": 6},
        **{"lr": 2e-3, "warm_up": 100, "decay": 0.1, "clip": 1.0, "dropout": 0.0},
        **{"evaluate": 500, "write": 400, "compile": 0},
    )
    text = Text()
    sizes = chosen.context, chosen.width, chosen.heads, chosen.layers
    model = GPT(len(text), *sizes, chosen.dropout)
    # A tensor, as the rate changes from step to step and a program takes only tensors' values.
    lr = torch.tensor(chosen.lr) if chosen.compile else chosen.lr
    optimizer = torch.optim.AdamW(groups(model, chosen.decay), lr=lr, betas=(0.9, 0.95))
    factor = warm_up_and_cosine(chosen.warm_up, chosen.steps)
    schedule = torch.optim.lr_scheduler.LambdaLR(optimizer, factor)
    checkpoint = Checkpoint(
        chosen.out / "gpt.pt", model=model, optimizer=optimizer, schedule=schedule
    )
    done, curves = checkpoint.restore(chosen.resume)
    curves = curves or {"training": [], "held out": []}
    step = Timed(training_step(model, optimizer, chosen.clip), bool(chosen.compile))
    bar = progress(range(done, chosen.steps), "gpt")
    for i in bar:
        curves["training"].append(step(*random_batch(text.train, chosen.batch, chosen.context)))
        schedule.step()
        if (i + 1) % chosen.evaluate == 0 or i + 1 == chosen.steps:
            curves["held out"].append(held_out_loss(model, text.test))
            bar.set_postfix(training=curves["training"][-1], held_out=curves["held out"][-1])
            checkpoint.save(i + 1, **curves)
    print(sample(model, text, "The ", chosen.write))
    save_curves(chosen.out / "gpt.png", {"training": curves["training"]}, "nats per character")
    figures = {"loss": curves["held out"][-1], "first": curves["training"][0], **step.figures()}
    print("gpt:", ", ".join(f"{name} {value:.3f}" for name, value in figures.items()))
    return figures


if __name__ == "__main__":
    main()
