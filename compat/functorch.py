"""`functorch`, the package that `torch.func` was before: its transforms, and modules as functions.

>>> import compat as torch
>>> from compat import functorch
>>> f, params = functorch.make_functional(torch.nn.Linear(2, 1))
>>> loss = lambda params, x: f(params, x).sum()
>>> [g.tolist() for g in functorch.grad(loss)(params, torch.tensor([[1.0, 2.0]]))]
[[[1.0, 2.0]], [1.0]]
"""

from __future__ import annotations

import copy
from collections.abc import Sequence
from typing import Any

from .func import (
    functional_call,
    functionalize,
    grad,
    grad_and_value,
    hessian,
    jacfwd,
    jacrev,
    jvp,
    stack_module_state,
    vjp,
    vmap,
)
from .nn.module import Module

Tensors = tuple[Any, ...]


class FunctionalModuleWithBuffers(Module):
    """A module as a function: ``f(params, buffers, *args)``, both as tuples in the module's order.

    Raises: ValueError: another number of tensors.
    """

    def __init__(self, stateless_model: Any) -> None:
        super().__init__()
        self.stateless_model = stateless_model
        self.param_names = tuple(dict(stateless_model.named_parameters()))
        self.buffer_names = tuple(dict(stateless_model.named_buffers()))

    def forward(
        self, params: Sequence[Any], buffers: Sequence[Any], /, *args: Any, **kwargs: Any
    ) -> Any:
        state = dict(zip(self.param_names, params, strict=True))
        state.update(zip(self.buffer_names, buffers, strict=True))
        return functional_call(self.stateless_model, state, args, kwargs)


class FunctionalModule(FunctionalModuleWithBuffers):
    """A module without buffers as a function ``f(params, *args)``.

    Raises: ValueError: another number of tensors.
    """

    def forward(self, params: Sequence[Any], /, *args: Any, **kwargs: Any) -> Any:
        return super().forward(params, (), *args, **kwargs)


def make_functional(
    model: Any, disable_autograd_tracking: bool = False
) -> tuple[FunctionalModule, Tensors]:
    """A copy of a module without buffers as a function ``f(params, *args)``, and its parameters.

    With `disable_autograd_tracking` these require no grad.

    Raises: RuntimeError: `model` has buffers.
    """
    if any(True for _ in model.buffers()):
        raise RuntimeError(
            "make_functional(model): `model` has buffers. Please use "
            "make_functional_with_buffers(model) instead."
        )
    f = FunctionalModule(copy.deepcopy(model))
    return f, _parameters(f, disable_autograd_tracking)


def make_functional_with_buffers(
    model: Any, disable_autograd_tracking: bool = False
) -> tuple[FunctionalModuleWithBuffers, Tensors, Tensors]:
    """A copy of a module as a function ``f(params, buffers, *args)``, its parameters and buffers.

    What `f` writes into buffers, as batch norms do, is written into those that it is given.
    """
    f = FunctionalModuleWithBuffers(copy.deepcopy(model))
    return f, _parameters(f, disable_autograd_tracking), tuple(f.buffers())


def _parameters(f: Module, disable_autograd_tracking: bool) -> Tensors:
    return tuple(
        p.requires_grad_(p.requires_grad and not disable_autograd_tracking) for p in f.parameters()
    )


def combine_state_for_ensemble(
    models: Sequence[Any],
) -> tuple[FunctionalModuleWithBuffers, Tensors, Tensors]:
    """Several modules of one kind as a function for `vmap`, with their parameters and buffers stacked.

    Raises: RuntimeError: there are none, or they differ (as for `stack_module_state`).
    """
    stacked = stack_module_state(models)
    params, buffers = (tuple(x.detach() for x in table.values()) for table in stacked)
    return FunctionalModuleWithBuffers(copy.deepcopy(models[0])), params, buffers


__all__ = [
    "FunctionalModule",
    "FunctionalModuleWithBuffers",
    "combine_state_for_ensemble",
    "functionalize",
    "grad",
    "grad_and_value",
    "hessian",
    "jacfwd",
    "jacrev",
    "jvp",
    "make_functional",
    "make_functional_with_buffers",
    "vjp",
    "vmap",
]
