"""The Tensor part of the guided run, ``python -m funcgrad``, which finds it by its entry point."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np

import compat as torch


def train(
    initial: dict[str, np.ndarray], batches: Iterable[tuple[Any, Any]], rate: float, decay: float
) -> tuple[list[float], dict[str, np.ndarray]]:
    """Train the network of the guided run with tensors and Adam: the losses and the parameters."""
    params = {k: torch.tensor(v, requires_grad=True) for k, v in initial.items()}
    optimizer = torch.optim.Adam(params.values(), lr=rate)
    losses = []
    for images, labels in batches:
        hidden = torch.tanh(torch.from_numpy(images) @ params["w1"] + params["b1"])
        scores = hidden @ params["w2"] + params["b2"]
        error = torch.nn.functional.cross_entropy(scores, torch.from_numpy(labels))
        loss = error + decay * ((params["w1"] ** 2).sum() + (params["w2"] ** 2).sum())
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    return losses, {k: v.detach().numpy() for k, v in params.items()}
