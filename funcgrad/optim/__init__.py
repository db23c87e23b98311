"""Optimizers as pure functions: a state and gradients in, parameters and a new state out.

`optimizer = adam(lr=1e-3)`, `state = optimizer.init(params)`, then
`params, state = optimizer.update(grads, state, params)`; parameters are any tree of arrays. Options
are PyTorch's, and may be functions of the number of updates so far. All of it may be compiled,
batched and differentiated.

>>> import funcgrad, numpy as np
>>> optimizer = funcgrad.optim.adam(lr=0.1)
>>> @funcgrad.jit
... def step(params, state):
...     grads = funcgrad.grad(lambda p: np.sum((p["w"] - 3.0) ** 2))(params)
...     return optimizer.update(grads, state, params)
>>> params = {"w": np.zeros(2)}
>>> state = optimizer.init(params)
>>> for _ in range(200):
...     params, state = step(params, state)
>>> params["w"].round(2).tolist()
[3.0, 3.0]
"""

from .make import (
    adadelta,
    adafactor,
    adagrad,
    adam,
    adamax,
    adamw,
    asgd,
    muon,
    nadam,
    radam,
    rmsprop,
    rprop,
    sgd,
)
from .optimizer import Optimizer

__all__ = [
    "Optimizer",
    "adadelta",
    "adafactor",
    "adagrad",
    "adam",
    "adamax",
    "adamw",
    "asgd",
    "muon",
    "nadam",
    "radam",
    "rmsprop",
    "rprop",
    "sgd",
]
