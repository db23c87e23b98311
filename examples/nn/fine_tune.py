"""Teaches a ResNet-18 that knows the digits 0 to 4 to read 5 to 9, training its last layer only.

The network is trained on 0 to 4, enlarged to 32x32 pixels in three channels, and saved as PyTorch
saves. Its file is loaded into a new network whose base is frozen: no gradients, and its batch norms
keep their statistics. A new `fc` is trained on 5 to 9. The frozen part makes no graph at all, so a
step keeps nothing of it in memory.

    python examples/nn/fine_tune.py

After 40 s on one core it reads 99 % of the test digits 0 to 4, then 92 % of 5 to 9, which the base
has never seen. A step of the second part keeps 67 kB in place of 65 MB.
A file of torchvision's `resnet18` can take the place of the first part: the names are the same.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from pathlib import Path

import numpy as np
from digits import accuracy, shifted, split_digits
from resnet import ResNet, resnet18
from run import Checkpoint, options, progress, save_curves, save_images

import compat as torch
import compat.nn.functional as F
from compat import nn
from compat.optim.lr_scheduler import OneCycleLR
from compat.utils.data import DataLoader, TensorDataset
from compat.viz import backward_table


def enlarged(images: torch.Tensor) -> torch.Tensor:
    """Grey 8x8 pixels as a network for photographs wants them: 32x32, in three channels."""
    return F.interpolate(images, size=(32, 32), mode="bilinear").expand(-1, 3, -1, -1)


def five_digits(data: TensorDataset, first: int, most: int) -> TensorDataset:
    """At most `most` of the digits `first` to `first` + 4, with labels from 0."""
    images, labels = data.tensors
    chosen = ((labels >= first) & (labels < first + 5)).nonzero()[:most, 0]
    return TensorDataset(images[chosen], labels[chosen] - first)


def freeze(model: ResNet, classes: int) -> ResNet:
    """Leave the network as it is but for a new last layer, the only one that will learn."""
    model.requires_grad_(False)
    model.eval()  # batch norms use the statistics they have, and do not change them
    model.fc = nn.Linear(512, classes)
    return model


def graph_size(loss: torch.Tensor) -> tuple[int, int]:
    """Steps of a backward pass and the bytes that the graph keeps for it; beyond PyTorch."""
    rows = backward_table(loss).rows
    return len(rows), sum(row.saved_bytes for row in rows)


def train(
    model: nn.Module,
    part: nn.Module,
    data: TensorDataset,
    epochs: int,
    batch: int,
    rate: float,
    checkpoint_path: Path,
    resume: bool,
) -> list[float]:
    """Train the parameters of `part` at the highest learning rate `rate`; mean losses."""
    loader = DataLoader(data, batch_size=batch, shuffle=True, drop_last=True)
    optimizer = torch.optim.AdamW(part.parameters(), lr=rate)
    schedule = OneCycleLR(optimizer, max_lr=rate, total_steps=epochs * len(loader))
    checkpoint = Checkpoint(checkpoint_path, part=part, optimizer=optimizer, schedule=schedule)
    done, figures = checkpoint.restore(resume)
    losses: list[float] = figures.get("losses", [])
    for epoch in (bar := progress(range(done, epochs), checkpoint_path.stem)):
        total = 0.0
        for images, labels in loader:
            optimizer.zero_grad()
            loss = F.cross_entropy(model(enlarged(shifted(images))), labels)
            loss.backward()
            optimizer.step()
            schedule.step()
            total += loss.item()
        losses.append(total / len(loader))
        bar.set_postfix(loss=f"{losses[-1]:.3f}")
        checkpoint.save(epoch + 1, losses=losses)
    return losses


def compare_graphs(model: ResNet, data: TensorDataset, batch: int) -> dict[str, float]:
    """What a step keeps with the base frozen, and what it would keep if all of it learned."""
    images, labels = (x[:batch] for x in data.tensors)
    found: dict[str, float] = {}
    for name, learns in (("whole", True), ("frozen", False)):
        model.requires_grad_(learns)
        model.fc.requires_grad_(True)
        steps, saved = graph_size(F.cross_entropy(model(enlarged(images)), labels))
        found |= {f"{name}_steps": steps, f"{name}_bytes": saved}
    return found


def save_filters(path: Path, model: ResNet) -> None:
    """The 64 filters of the first convolution, which both kinds of digits are seen through."""
    filters = model.conv1.weight.detach().mean(1).numpy()
    low, high = filters.min((1, 2), keepdims=True), filters.max((1, 2), keepdims=True)
    save_images(path, np.repeat(np.repeat((filters - low) / (high - low), 4, 1), 4, 2))


class Enlarging(nn.Module):
    """A network that takes images of 8x8 pixels."""

    def __init__(self, model: nn.Module) -> None:
        super().__init__()
        self.model = model

    def forward(self, images: torch.Tensor) -> torch.Tensor:
        return self.model(enlarged(images))


def main(arguments: Sequence[str] | None = None) -> dict[str, float]:
    """Train on 0 to 4, save, load, freeze, train on 5 to 9."""
    chosen = options(
        __doc__ or "", arguments, pretrain_epochs=5, epochs=15, batch=32, images=10_000
    )
    data, test = split_digits()
    start = time.perf_counter()
    losses = {}
    model = resnet18(5)
    losses["digits 0 to 4, all layers"] = train(
        model,
        model,
        five_digits(data, 0, chosen.images),
        chosen.pretrain_epochs,
        chosen.batch,
        1e-3,
        chosen.out / "fine_tune_before.pt",
        chosen.resume,
    )
    known = accuracy(Enlarging(model), five_digits(test, 0, 10_000))
    torch.save(model.state_dict(), chosen.out / "resnet18_digits.pth")

    model = resnet18(5)
    model.load_state_dict(torch.load(chosen.out / "resnet18_digits.pth"))
    freeze(model, 5)
    new = five_digits(data, 5, chosen.images)
    losses["digits 5 to 9, fc only"] = train(
        model,
        model.fc,
        new,
        chosen.epochs,
        chosen.batch,
        1e-2,
        chosen.out / "fine_tune_after.pt",
        chosen.resume,
    )
    learnt = accuracy(Enlarging(model), five_digits(test, 5, 10_000))
    seconds = time.perf_counter() - start

    save_curves(chosen.out / "fine_tune_loss.png", losses, "mean loss of an epoch")
    save_filters(chosen.out / "fine_tune_filters.png", model)
    torch.save(model.state_dict(), chosen.out / "resnet18_fine_tuned.pth")
    graphs = compare_graphs(model, new, chosen.batch)
    print(
        f"fine_tune: {known:.1%} of 0 to 4 right, then {learnt:.1%} of 5 to 9, {seconds:.0f} s; "
        f"a step keeps {graphs['frozen_bytes'] / 1e3:.0f} kB in {graphs['frozen_steps']:.0f} steps, "
        f"{graphs['whole_bytes'] / 1e6:.0f} MB in {graphs['whole_steps']:.0f} if nothing is frozen"
    )
    before, after = losses.values()
    return {
        "known": known,
        "learnt": learnt,
        "first_loss": after[0],
        "last_loss": after[-1],
        "pretrain_first_loss": before[0],
        "pretrain_last_loss": before[-1],
        "seconds": seconds,
        **graphs,
    }


if __name__ == "__main__":
    main()
