"""Two networks play against each other until one draws handwritten digits (a DCGAN, 16x16 pixels).

The generator turns noise into images with transposed convolutions; the discriminator says whether
an image is real. Each has its own Adam with betas (0.5, 0.999). The discriminator learns from
detached fakes; the generator learns from what the discriminator says of them.
Source: Radford, Metz and Chintala, "Unsupervised Representation Learning with Deep Convolutional
Generative Adversarial Networks", 2016.

    python examples/nn/dcgan.py
    python examples/nn/dcgan.py --size 32

Draws digits after 20 epochs, in 20 seconds on one core; there are 40. Saves a sheet of samples and
a checkpoint after every epoch, and the curves. GANs have no loss that says how good they are, so
the figure is how far the pixels' means and spreads are from those of the real digits: 0.43 before
training, 0.07 after it.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from digits import split_digits
from run import Checkpoint, options, progress, save_curves, save_images

import compat as torch
import compat.nn.functional as F
from compat import nn
from compat.utils.data import DataLoader


def generator(noise: int, width: int, size: int) -> nn.Sequential:
    """Noise (n, noise, 1, 1) to images (n, 1, size, size) in [-1, 1]; each layer doubles the size."""
    side, channels = 4, width * size // 8
    layers: list[nn.Module] = [nn.ConvTranspose2d(noise, channels, 4, 1, 0, bias=False)]
    while side < size:
        layers += [nn.BatchNorm2d(channels), nn.ReLU(inplace=True)]
        last, side = side * 2 == size, side * 2
        wider = 1 if last else channels // 2
        layers.append(nn.ConvTranspose2d(channels, wider, 4, 2, 1, bias=False))
        channels = wider
    return nn.Sequential(*layers, nn.Tanh())


def discriminator(width: int, size: int) -> nn.Sequential:
    """Images to logits (n,) that they are real; each layer halves the size."""
    channels, side = width, size // 2
    layers = [nn.Conv2d(1, channels, 4, 2, 1, bias=False), nn.LeakyReLU(0.2, inplace=True)]
    while side > 4:
        layers.append(nn.Conv2d(channels, 2 * channels, 4, 2, 1, bias=False))
        channels, side = 2 * channels, side // 2
        layers += [nn.BatchNorm2d(channels), nn.LeakyReLU(0.2, inplace=True)]
    return nn.Sequential(*layers, nn.Conv2d(channels, 1, 4, 1, 0, bias=False), nn.Flatten(0))


def start_weights(module: nn.Module) -> None:
    """Normal with deviation 0.02, as in the paper."""
    if isinstance(module, (nn.Conv2d, nn.ConvTranspose2d)):
        nn.init.normal_(module.weight, 0.0, 0.02)
    elif isinstance(module, nn.BatchNorm2d):
        nn.init.normal_(module.weight, 1.0, 0.02)
        nn.init.zeros_(module.bias)


class Game:
    """Both networks and their optimizers."""

    def __init__(self, noise: int, width: int, size: int, lr: float) -> None:
        self.noise = noise
        self.draws, self.judges = generator(noise, width, size), discriminator(width, size)
        for model in (self.draws, self.judges):
            model.apply(start_weights)
        betas = (0.5, 0.999)
        self.draws_optimizer = torch.optim.Adam(self.draws.parameters(), lr=lr, betas=betas)
        self.judges_optimizer = torch.optim.Adam(self.judges.parameters(), lr=lr, betas=betas)

    def parts(self) -> dict[str, Any]:
        """All that has a state."""
        return {name: part for name, part in vars(self).items() if name != "noise"}

    def judged(self, images: Any, real: float) -> Any:
        """The discriminator's loss if the answer is `real`: 1 or 0, or in between for less zeal."""
        logits = self.judges(images)
        return F.binary_cross_entropy_with_logits(logits, torch.full_like(logits, real))

    def step(self, images: Any) -> tuple[float, float]:
        """Both learn from one batch; returns the discriminator's and the generator's loss."""
        fakes = self.draws(torch.randn(len(images), self.noise, 1, 1))

        self.judges_optimizer.zero_grad()
        # detach: this loss must not teach the generator, whose graph is used again below.
        judge_loss = self.judged(images, 0.9) + self.judged(fakes.detach(), 0.0)
        judge_loss.backward()
        self.judges_optimizer.step()

        self.draws_optimizer.zero_grad()
        draw_loss = self.judged(fakes, 1.0)
        draw_loss.backward()
        self.draws_optimizer.step()
        return judge_loss.item(), draw_loss.item()

    def sheet(self, noise: Any) -> Any:
        """Images in [0, 1]. Shapes: (n, noise, 1, 1) -> (n, size, size)."""
        self.draws.eval()
        with torch.no_grad():
            images = (self.draws(noise)[:, 0] + 1) / 2
        self.draws.train()
        return images.numpy()


def distance(real: Any, drawn: Any) -> float:
    """How far the pixels' means and spreads over the drawn images are from those over the real ones."""
    return sum(float(abs(f(real, axis=0) - f(drawn, axis=0)).mean()) for f in (np.mean, np.std))


def resized(images: Any, size: int) -> Any:
    """Larger images, in [-1, 1], as the generator's."""
    return 2 * F.interpolate(images, size=(size, size), mode="bilinear") - 1


def main(arguments: Sequence[str] | None = None) -> dict[str, float]:
    chosen = options(
        __doc__ or "",
        arguments,
        **{"epochs": 40, "batch": 64, "size": 16, "width": 32, "noise": 32, "lr": 5e-4},
    )
    if chosen.size not in (8, 16, 32, 64):
        raise SystemExit("--size is 8, 16, 32 or 64")
    training, _ = split_digits()
    loader = DataLoader(training, batch_size=chosen.batch, shuffle=True, drop_last=True)
    game = Game(chosen.noise, chosen.width, chosen.size, chosen.lr)
    fixed = torch.randn(256, chosen.noise, 1, 1)  # the same noise shows what has been learnt
    real = (resized(training.tensors[0], chosen.size)[:, 0].numpy() + 1) / 2
    first = distance(real, game.sheet(fixed))
    checkpoint = Checkpoint(chosen.out / "dcgan.pt", **game.parts())
    done, curves = checkpoint.restore(chosen.resume)
    curves = curves or {"discriminator": [], "generator": []}
    for epoch in (bar := progress(range(done, chosen.epochs), "dcgan")):
        losses = [game.step(resized(images, chosen.size)) for images, _labels in loader]
        for curve, values in zip(curves.values(), zip(*losses, strict=True), strict=True):
            curve.append(sum(values) / len(values))
        bar.set_postfix({name: values[-1] for name, values in curves.items()})
        sheet = game.sheet(fixed[:64]).repeat(2, axis=1).repeat(2, axis=2)
        save_images(chosen.out / "dcgan_samples.png", sheet, columns=16)
        checkpoint.save(epoch + 1, **curves)
    save_curves(chosen.out / "dcgan.png", curves, "loss")
    figures = {"first": first, "distance": distance(real, game.sheet(fixed))}
    print(f"dcgan: distance of the drawn digits {figures['distance']:.3f}, at first {first:.3f}")
    return {**figures, **{name: values[-1] for name, values in curves.items()}}


if __name__ == "__main__":
    main()
