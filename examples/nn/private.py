"""Learns digits with differential privacy (DP-SGD): what one image teaches is bounded and blurred.

Every image of a batch has its own gradient; each is shortened to a bound, and noise as large as what
one image can add goes into their sum (M. Abadi et al., "Deep Learning with Differential Privacy",
2016, https://arxiv.org/abs/1607.00133). Gradients of single images come from `vmap`: of `grad` and
`functional_call`, as in PyTorch (`--way functional`), or of plain code that calls `backward()`
(`--way backward`), which PyTorch refuses.

    python examples/nn/private.py --epsilon 8

With epsilon 8 it reads 95 % of the test digits rightly, with 3 it reads 91 %, after 4 s on one core.
The (epsilon, delta) holds for the trained network, not for the choice of the settings; and a random
generator for real secrets must be a cryptographic one, which this is not.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Sequence

import numpy as np
from digits import accuracy, split_digits
from matplotlib import pyplot
from run import Checkpoint, options, progress, save_curves

import compat as torch
import compat.nn.functional as F
from compat import nn
from compat.func import functional_call, grad, vmap

Gradients = dict[str, torch.Tensor]
PerSample = Callable[[nn.Module, torch.Tensor, torch.Tensor], Gradients]

ORDERS = range(2, 129)


def network() -> nn.Module:
    """Few parameters, for each of them gets noise; tanh keeps the gradients bounded."""
    return nn.Sequential(
        nn.Conv2d(1, 16, 3, padding=1),
        nn.Tanh(),
        nn.AvgPool2d(2),
        nn.Conv2d(16, 32, 3, padding=1),
        nn.Tanh(),
        nn.Flatten(),
        nn.Linear(32 * 4 * 4, 10),
    )


def functional_gradients(model: nn.Module, images: torch.Tensor, labels: torch.Tensor) -> Gradients:
    """The gradient by each image, along a new first axis: `vmap` of `grad`."""
    parameters = {name: p.detach() for name, p in model.named_parameters()}

    def loss(parameters: Gradients, image: torch.Tensor, label: torch.Tensor) -> torch.Tensor:
        scores = functional_call(model, parameters, (image[None],))
        return F.cross_entropy(scores, label[None])

    return vmap(grad(loss), in_dims=(None, 0, 0))(parameters, images, labels)


def backward_gradients(model: nn.Module, images: torch.Tensor, labels: torch.Tensor) -> Gradients:
    """The same by a training step's own lines, for one image; beyond PyTorch."""

    def step(image: torch.Tensor, label: torch.Tensor) -> Gradients:
        model.zero_grad()
        F.cross_entropy(model(image[None]), label[None]).backward()
        return {name: p.grad for name, p in model.named_parameters()}

    # Outside, the gradients are functions of the parameters, with a graph that nobody needs.
    return {name: g.detach() for name, g in vmap(step)(images, labels).items()}


WAYS: dict[str, PerSample] = {"functional": functional_gradients, "backward": backward_gradients}


def clipped(gradients: Gradients, bound: float) -> tuple[Gradients, torch.Tensor]:
    """Each image's gradient, of all parameters together, no longer than `bound`; lengths before."""
    norms = sum(g.flatten(1).square().sum(1) for g in gradients.values()).sqrt()
    factors = (bound / norms.clamp(min=1e-12)).clamp(max=1)
    shorter = {name: g * factors.view(-1, *[1] * (g.ndim - 1)) for name, g in gradients.items()}
    return shorter, norms


def divergence(order: int, rate: float, noise: float) -> float:
    """The Rényi divergence that one step spends.

    For an integer order, that of the sampled Gaussian mechanism: I. Mironov, K. Talwar and L. Zhang,
    "Rényi Differential Privacy of the Sampled Gaussian Mechanism", 2019,
    https://arxiv.org/abs/1908.10530.
    """
    if rate == 1:
        return order / (2 * noise**2)
    k = np.arange(order + 1)
    choose = [math.lgamma(order + 1) - math.lgamma(i + 1) - math.lgamma(order - i + 1) for i in k]
    chances = (order - k) * math.log1p(-rate) + k * math.log(rate)
    logs = np.array(choose) + chances + (k * k - k) / (2 * noise**2)
    return float(np.logaddexp.reduce(logs)) / (order - 1)


def spent(steps: int, rate: float, noise: float, delta: float) -> float:
    """The epsilon of `steps` steps, by the best order.

    Divergences of steps add up. From Rényi to (epsilon, delta): B. Balle et al.,
    "Hypothesis Testing Interpretations and Rényi Differential Privacy", 2020,
    https://arxiv.org/abs/1905.09982.
    """
    if steps == 0:
        return 0.0
    bounds = (
        steps * divergence(a, rate, noise)
        + math.log1p(-1 / a)
        - (math.log(delta) + math.log(a)) / (a - 1)
        for a in ORDERS
    )
    return max(0.0, min(bounds))


def noise_for(epsilon: float, steps: int, rate: float, delta: float) -> float:
    """The least noise, in bounds, with which `steps` steps spend at most `epsilon`."""
    low, high = 0.3, 100.0
    for _ in range(40):
        middle = (low + high) / 2
        low, high = (
            (low, middle) if spent(steps, rate, middle, delta) <= epsilon else (middle, high)
        )
    return high


def private_step(
    model: nn.Module,
    optimizer: torch.optim.Optimizer,
    gradients: Gradients,
    bound: float,
    noise: float,
    expected: float,
) -> torch.Tensor:
    """Step along the blurred mean of the clipped gradients; returns their lengths before."""
    shorter, norms = clipped(gradients, bound)
    for name, p in model.named_parameters():
        total = shorter[name].sum(0)
        p.grad = (total + noise * bound * torch.randn(p.shape)) / expected
    optimizer.step()
    return norms


def main(arguments: Sequence[str] | None = None) -> dict[str, float]:
    """Train, and say what was learnt and what was spent."""
    chosen = options(
        __doc__ or "",
        arguments,
        way="functional",
        epsilon=8.0,
        delta=1e-4,
        steps=200,
        batch=256,
        bound=1.0,
        rate=1.0,
    )
    if chosen.way not in WAYS:
        raise SystemExit(f"--way is one of {', '.join(WAYS)}, not {chosen.way}")
    train, test = split_digits()
    images, labels = train.tensors
    sampling = chosen.batch / len(train)
    noise = noise_for(chosen.epsilon, chosen.steps, sampling, chosen.delta)
    model = network()
    optimizer = torch.optim.SGD(model.parameters(), lr=chosen.rate, momentum=0.5)
    checkpoint = Checkpoint(chosen.out / "private.pt", model=model, optimizer=optimizer)
    done, figures = checkpoint.restore(chosen.resume)
    right, epsilons = figures.get("right", []), figures.get("epsilons", [])
    lengths = figures.get("lengths", [])

    start = time.perf_counter()
    for step in (bar := progress(range(done, chosen.steps), "private")):
        # Each image comes with the same chance, whatever others do: the accountant relies on it.
        (batch,) = torch.nonzero(torch.rand(len(train)) < sampling, as_tuple=True)
        gradients = WAYS[chosen.way](model, images[batch], labels[batch])
        norms = private_step(model, optimizer, gradients, chosen.bound, noise, chosen.batch)
        if (step + 1) % 10 == 0:
            right.append(accuracy(model, test))
            epsilons.append(spent(step + 1, sampling, noise, chosen.delta))
            lengths.append(norms.median().item())
            bar.set_postfix(right=f"{right[-1]:.1%}", epsilon=f"{epsilons[-1]:.2f}")
            checkpoint.save(step + 1, right=right, epsilons=epsilons, lengths=lengths)
    seconds = time.perf_counter() - start

    figure, axes = pyplot.subplots(figsize=(6, 3.5), layout="constrained")
    axes.plot(epsilons, right)
    axes.set(
        xlabel=f"epsilon spent (delta {chosen.delta:g})", ylabel="part of the test digits right"
    )
    figure.savefig(chosen.out / "private.png")
    pyplot.close(figure)
    save_curves(chosen.out / "private_lengths.png", {"median": lengths}, "length of a gradient")
    epsilon = spent(chosen.steps, sampling, noise, chosen.delta)
    found = accuracy(model, test)
    print(
        f"private ({chosen.way}): {found:.1%} of the test digits right with epsilon {epsilon:.2f} at "
        f"delta {chosen.delta:g}, noise {noise:.2f}, {seconds:.0f} s"
    )
    return {"accuracy": found, "epsilon": epsilon, "noise": noise, "seconds": seconds}


if __name__ == "__main__":
    main()
