"""The optimizers: every one is a rule and its options."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from .checks import check
from .descent import ASGD, SGD
from .factored import ADAFACTOR
from .moments import ADAM, ADAMAX, NADAM, RADAM
from .optimizer import Optimizer
from .orthogonal import COEFFICIENTS, MUON
from .scaled import ADADELTA, ADAGRAD, RMSPROP, RPROP

Rate = Any  # a number, or a function of the number of updates before this one

# In a fixed structure of state the first gradient is known by the count.
_SGD = replace(SGD, counts={"step": 0.0})


def _made(name: str, rule: Any, options: dict[str, Any]) -> Optimizer:
    check(name, {k: v for k, v in options.items() if not callable(v)})
    return Optimizer(name, rule, options)


def sgd(
    lr: Rate = 1e-3,
    momentum: Rate = 0.0,
    dampening: Rate = 0.0,
    weight_decay: Rate = 0.0,
    nesterov: bool = False,
    *,
    maximize: bool = False,
) -> Optimizer:
    """``p -= lr * b`` with ``b = momentum * b + (1 - dampening) * g``, at first ``b = g``.

    `nesterov` steps along ``g + momentum * b``. Everywhere, `weight_decay` adds ``weight_decay * p``
    to the gradient and `maximize` goes up.

    Raises: ValueError: an option is out of its range.
    Source: Sutskever et al., "On the importance of initialization and momentum in deep learning",
    ICML (2013).

    >>> import numpy as np
    >>> optimizer = sgd(lr=0.5)
    >>> optimizer.update(np.array([2.0]), optimizer.init(np.zeros(1)), np.zeros(1))[0]
    array([-1.])
    """
    return _made("sgd", _SGD, locals())


def adam(
    lr: Rate = 1e-3,
    betas: tuple[Any, Any] = (0.9, 0.999),
    eps: Rate = 1e-8,
    weight_decay: Rate = 0.0,
    amsgrad: bool = False,
    *,
    maximize: bool = False,
    decoupled_weight_decay: bool = False,
) -> Optimizer:
    """``p -= lr * m / (sqrt(v) + eps)``, with ``m`` and ``v`` the running means of ``g`` and ``g^2``.

    Both are divided by ``1 - beta^t`` at step ``t``, as they start at 0. `amsgrad` divides by the
    largest ``v`` so far. `decoupled_weight_decay` shrinks ``p`` by ``1 - lr * weight_decay`` instead.

    Raises: ValueError: an option is out of its range.
    Source: Kingma & Ba, "Adam: a method for stochastic optimization", ICLR (2015).
    """
    return _made("adam", ADAM, locals())


def adamw(
    lr: Rate = 1e-3,
    betas: tuple[Any, Any] = (0.9, 0.999),
    eps: Rate = 1e-8,
    weight_decay: Rate = 1e-2,
    amsgrad: bool = False,
    *,
    maximize: bool = False,
) -> Optimizer:
    """`adam` with decoupled weight decay.

    Raises: ValueError: an option is out of its range.
    Source: Loshchilov & Hutter, "Decoupled weight decay regularization", ICLR (2019).
    """
    return _made("adamw", ADAM, {**locals(), "decoupled_weight_decay": True})


def adamax(
    lr: Rate = 2e-3,
    betas: tuple[Any, Any] = (0.9, 0.999),
    eps: Rate = 1e-8,
    weight_decay: Rate = 0.0,
    *,
    maximize: bool = False,
) -> Optimizer:
    """`adam` with a fading maximum of ``|g|`` in place of the root of ``v``.

    Raises: ValueError: an option is out of its range.
    Source: Kingma & Ba, "Adam: a method for stochastic optimization", ICLR (2015), section 7.
    """
    return _made("adamax", ADAMAX, locals())


def nadam(
    lr: Rate = 2e-3,
    betas: tuple[Any, Any] = (0.9, 0.999),
    eps: Rate = 1e-8,
    weight_decay: Rate = 0.0,
    momentum_decay: Rate = 4e-3,
    decoupled_weight_decay: bool = False,
    *,
    maximize: bool = False,
) -> Optimizer:
    """`adam` with the momentum of Nesterov; the momentum grows with the steps.

    Raises: ValueError: an option is out of its range.
    Source: Dozat, "Incorporating Nesterov momentum into Adam", ICLR workshop (2016).
    """
    return _made("nadam", NADAM, locals())


def radam(
    lr: Rate = 1e-3,
    betas: tuple[Any, Any] = (0.9, 0.999),
    eps: Rate = 1e-8,
    weight_decay: Rate = 0.0,
    decoupled_weight_decay: bool = False,
    *,
    maximize: bool = False,
) -> Optimizer:
    """`adam`, with smaller steps while the variance of ``g`` is not known well.

    Raises: ValueError: an option is out of its range.
    Source: Liu et al., "On the variance of the adaptive learning rate and beyond", ICLR (2020).
    """
    return _made("radam", RADAM, locals())


def adagrad(
    lr: Rate = 1e-2,
    lr_decay: Rate = 0.0,
    weight_decay: Rate = 0.0,
    initial_accumulator_value: float = 0.0,
    eps: Rate = 1e-10,
    *,
    maximize: bool = False,
) -> Optimizer:
    """``p -= lr * g / (sqrt(s) + eps)`` with ``s`` the sum of ``g^2``.

    Raises: ValueError: an option is out of its range.
    Source: Duchi, Hazan & Singer, "Adaptive subgradient methods for online learning and stochastic
    optimization", JMLR 12 (2011).
    """
    return _made("adagrad", ADAGRAD, locals())


def adadelta(
    lr: Rate = 1.0,
    rho: Rate = 0.9,
    eps: Rate = 1e-6,
    weight_decay: Rate = 0.0,
    *,
    maximize: bool = False,
) -> Optimizer:
    """Steps as long as the last ones were, over the root mean square of ``g``.

    Raises: ValueError: an option is out of its range.
    Source: Zeiler, "ADADELTA: an adaptive learning rate method", arXiv:1212.5701 (2012).
    """
    return _made("adadelta", ADADELTA, locals())


def rmsprop(
    lr: Rate = 1e-2,
    alpha: Rate = 0.99,
    eps: Rate = 1e-8,
    weight_decay: Rate = 0.0,
    momentum: Rate = 0.0,
    centered: bool = False,
    *,
    maximize: bool = False,
) -> Optimizer:
    """``p -= lr * g / (sqrt(v) + eps)`` with ``v`` the running mean of ``g^2``, or the variance.

    Raises: ValueError: an option is out of its range.
    Source: Tieleman & Hinton, "Neural networks for machine learning", lecture 6.5 (2012).
    """
    return _made("rmsprop", RMSPROP, locals())


def rprop(
    lr: Rate = 1e-2,
    etas: tuple[Any, Any] = (0.5, 1.2),
    step_sizes: tuple[Any, Any] = (1e-6, 50.0),
    *,
    maximize: bool = False,
) -> Optimizer:
    """Steps by signs: longer while the sign of ``g`` stays, shorter after it has changed.

    Raises: ValueError: an option is out of its range.
    Source: Riedmiller & Braun, "A direct adaptive method for faster backpropagation learning: the
    RPROP algorithm", ICNN (1993).
    """
    return _made("rprop", RPROP, locals())


def asgd(
    lr: Rate = 1e-2,
    lambd: Rate = 1e-4,
    alpha: Rate = 0.75,
    t0: Rate = 1e6,
    weight_decay: Rate = 0.0,
    *,
    maximize: bool = False,
) -> Optimizer:
    """Descent with a fading rate; the state "ax" is the mean of the parameters from step `t0` on.

    Raises: ValueError: an option is out of its range.
    Source: Polyak & Juditsky, "Acceleration of stochastic approximation by averaging", SIAM J.
    Control Optim. 30 (1992).
    """
    return _made("asgd", ASGD, locals())


def adafactor(
    lr: Rate = 1e-2,
    beta2_decay: Rate = -0.8,
    eps: tuple[float | None, float] = (None, 1e-3),
    d: Rate = 1.0,
    weight_decay: Rate = 0.0,
    *,
    maximize: bool = False,
) -> Optimizer:
    """Rates relative to the parameters, over a product of the means of ``g^2`` of rows and columns.

    Raises: ValueError: an option is out of its range.
    Source: Shazeer & Stern, "Adafactor: adaptive learning rates with sublinear memory cost", ICML
    (2018).
    """
    return _made("adafactor", ADAFACTOR, locals())


def muon(
    lr: Rate = 1e-3,
    weight_decay: Rate = 0.1,
    momentum: Rate = 0.95,
    nesterov: bool = True,
    ns_coefficients: tuple[float, float, float] = COEFFICIENTS,
    eps: float = 1e-7,
    ns_steps: int = 5,
    adjust_lr_fn: str | None = None,
) -> Optimizer:
    """Steps along the running mean of ``g`` as a matrix whose singular values are brought near 1.

    The mean is multiplied ``ns_steps`` times by ``a + b G + c G^2``, where ``G`` is its product with
    its transpose. All axes but the first are one. `adjust_lr_fn`: "original" makes steps longer by
    ``sqrt(rows / columns)`` where there are more rows, "match_rms_adamw" as long as Adam's are.

    Raises: ValueError: an option is out of its range.
    Source: Jordan et al., "Muon: an optimizer for hidden layers in neural networks" (2024).
    """
    return _made("muon", MUON, locals())
