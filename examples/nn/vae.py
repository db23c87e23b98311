"""A variational autoencoder learns to draw handwritten digits (8x8 pixels).

The encoder gives the mean and the log-variance of a normal distribution in a small latent space;
the decoder draws from a point of it. The loss is the negative evidence lower bound: the binary
cross-entropy of the pixels plus the KL divergence from the standard normal distribution.
Source: Kingma and Welling, "Auto-Encoding Variational Bayes", 2014, appendix B for the divergence.

    python examples/nn/vae.py

A held-out image costs 23.9 nats after six seconds on one core, 3.5 of them the divergence. Saves
reconstructions of held-out digits, digits drawn from random points, the curves and a checkpoint.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from digits import split_digits
from run import Checkpoint, options, progress, save_curves, save_images

import compat as torch
import compat.nn.functional as F
from compat import nn
from compat.utils.data import DataLoader


class VAE(nn.Module):
    """Two layers to the latent distribution, two layers back to the pixels' logits."""

    def __init__(self, pixels: int, hidden: int, latent: int) -> None:
        super().__init__()
        self.latent = latent
        self.hidden = nn.Linear(pixels, hidden)
        self.mean = nn.Linear(hidden, latent)
        self.log_variance = nn.Linear(hidden, latent)
        self.decoder = nn.Sequential(
            nn.Linear(latent, hidden), nn.ReLU(), nn.Linear(hidden, pixels)
        )

    def encode(self, images: Any) -> tuple[Any, Any]:
        h = F.relu(self.hidden(images.flatten(1)))
        return self.mean(h), self.log_variance(h)

    @staticmethod
    def draw(mean: Any, log_variance: Any) -> Any:
        """A point of the distribution, as a function of its parameters: gradients go through."""
        return mean + torch.exp(0.5 * log_variance) * torch.randn_like(mean)

    def forward(self, images: Any) -> tuple[Any, Any, Any]:
        mean, log_variance = self.encode(images)
        return self.decoder(self.draw(mean, log_variance)), mean, log_variance


def parts_of_loss(model: VAE, images: Any) -> tuple[Any, Any]:
    """Cross-entropy and divergence, in nats, summed over all images."""
    logits, mean, log_variance = model(images)
    entropy = F.binary_cross_entropy_with_logits(logits, images.flatten(1), reduction="sum")
    divergence = -0.5 * torch.sum(1 + log_variance - mean.pow(2) - log_variance.exp())
    return entropy, divergence


def train_epoch(model: VAE, optimizer: Any, loader: DataLoader) -> float:
    """One pass over the data; returns the mean loss of an image."""
    total = 0.0
    for images, _labels in loader:
        optimizer.zero_grad()
        entropy, divergence = parts_of_loss(model, images)
        loss = (entropy + divergence) / len(images)
        loss.backward()
        optimizer.step()
        total += loss.item() * len(images)
    return total / len(loader.dataset)


def evaluate(model: VAE, images: Any) -> dict[str, float]:
    """The means over held-out images."""
    with torch.no_grad():
        entropy, divergence = (part.item() / len(images) for part in parts_of_loss(model, images))
    return {"loss": entropy + divergence, "cross_entropy": entropy, "divergence": divergence}


def save_pictures(model: VAE, images: Any, folder: Path) -> None:
    """Held-out digits above what the model makes of their means; digits from random points."""
    with torch.no_grad():
        again = model.decoder(model.encode(images[:16])[0])
        drawn = model.decoder(torch.randn(64, model.latent))
    for name, logits, above in (
        ("vae_reconstructions", again, images[:16]),
        ("vae_samples", drawn, images[:0]),
    ):
        sheet = torch.cat([above, torch.sigmoid(logits).view(-1, *images.shape[1:])])
        larger = F.interpolate(sheet, scale_factor=4)
        save_images(folder / f"{name}.png", larger[:, 0].numpy(), columns=16)


def main(arguments: Sequence[str] | None = None) -> dict[str, float]:
    chosen = options(
        __doc__ or "",
        arguments,
        **{"epochs": 150, "batch": 64, "hidden": 200, "latent": 10, "lr": 2e-3},
    )
    training, test = split_digits()
    loader = DataLoader(training, batch_size=chosen.batch, shuffle=True)
    held_out = test.tensors[0]
    model = VAE(held_out[0].numel(), chosen.hidden, chosen.latent)
    optimizer = torch.optim.Adam(model.parameters(), lr=chosen.lr)
    checkpoint = Checkpoint(chosen.out / "vae.pt", model=model, optimizer=optimizer)
    done, saved = checkpoint.restore(chosen.resume)
    figures, curves = saved.get("figures", {}), saved.get("curves", {"training": [], "test": []})
    bar = progress(range(done, chosen.epochs), "vae")
    for epoch in bar:
        curves["training"].append(train_epoch(model, optimizer, loader))
        figures = evaluate(model, held_out)
        curves["test"].append(figures["loss"])
        bar.set_postfix(figures)
        checkpoint.save(epoch + 1, figures=figures, curves=curves)
    save_pictures(model, held_out, chosen.out)
    save_curves(chosen.out / "vae.png", curves, "nats per image")
    print("vae:", ", ".join(f"{name} {value:.3f}" for name, value in figures.items()))
    return {**figures, "first": curves["test"][0]}


if __name__ == "__main__":
    main()
