"""What a workload is, and the gradient of a scalar function in every library.

funcgrad, JAX and `torch.func` have the same transforms, so that one program, a function of the
library and of its array functions, serves all three. HIPS autograd and eager PyTorch have their own.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from types import SimpleNamespace
from typing import Any

Function = Callable[..., Any]
Program = Callable[[Any, Any], Function]  # of the library and of its array functions
Wrap = Callable[[Function], Function]  # torch.compile, or nothing


@dataclass(frozen=True)
class Workload:
    """One computation, and how each library spells it; what is None is left out.

    `program` is what funcgrad and JAX compile, `function` what it is the derivative of. `hips` is given
    `autograd` and `autograd.numpy`. `torch` is given the module, tensors and what wraps the function
    that is differentiated; it returns a call without arguments.
    """

    name: str
    arguments: Callable[[], tuple[Any, ...]]
    program: Program
    function: Program | None = None
    by_hand: Function | None = None
    hips: Callable[[Any, Any], Function] | None = None
    torch: Callable[[Any, tuple[Any, ...], Wrap], Callable[[], Any]] | None = None
    torch_func: bool = True
    heavy: bool = False  # left out by --quick
    rtol: float = 1e-6


def map_tree(f: Function, node: Any) -> Any:
    """The same tuples, lists and dicts with `f` of every leaf."""
    if isinstance(node, tuple | list):
        return type(node)(map_tree(f, child) for child in node)
    if isinstance(node, dict):
        return {key: map_tree(f, child) for key, child in node.items()}
    return f(node)


def leaves_of(node: Any) -> list[Any]:
    """The leaves in order."""
    found: list[Any] = []
    map_tree(found.append, node)
    return found


def torch_transforms(torch: Any) -> Any:
    """The transforms of `torch.func` under the names that funcgrad and JAX give them."""

    def value_and_grad(f: Function, argnums: Any = 0) -> Function:
        both = torch.func.grad_and_value(f, argnums)
        return lambda *args: both(*args)[::-1]

    def vmap(f: Function, in_axes: Any = 0) -> Function:
        return torch.func.vmap(f, in_dims=in_axes)

    names = ("grad", "jacrev", "jacfwd", "hessian", "jvp", "vjp")
    same = {name: getattr(torch.func, name) for name in names}
    return SimpleNamespace(value_and_grad=value_and_grad, vmap=vmap, **same)


def torch_gradient(
    function: Callable[[Any], Function], argnums: Sequence[int], with_value: bool = True
) -> Callable[[Any, tuple[Any, ...], Wrap], Callable[[], Any]]:
    """Value and gradients in eager PyTorch."""

    def make(torch: Any, args: tuple[Any, ...], wrap: Wrap) -> Callable[[], Any]:
        f = wrap(function(torch))
        leaves = leaves_of([args[i] for i in argnums])
        for leaf in leaves:
            leaf.requires_grad_()

        def call() -> Any:
            value = f(*args)
            gradients = torch.autograd.grad(value, leaves)
            return (value, gradients) if with_value else gradients

        return call

    return make


def gradient(
    function: Callable[[Any], Function], argnums: int | tuple[int, ...] = 0, with_value: bool = True
) -> dict[str, Any]:
    """The fields of a workload: a scalar function's gradients, with its value."""
    name = "value_and_grad" if with_value else "grad"
    each = (argnums,) if isinstance(argnums, int) else argnums
    return {
        "program": lambda lib, xp: getattr(lib, name)(function(xp), argnums),
        "function": lambda lib, xp: function(xp),
        "hips": lambda autograd, anp: getattr(autograd, name)(function(anp), argnums),
        "torch": torch_gradient(function, each, with_value),
    }


def special(xp: Any) -> Any:
    """The special functions that go with a module of array functions: `erf` and `logsumexp`."""
    name = xp.__name__
    if name == "jax.numpy":
        import jax.scipy.special

        return jax.scipy.special
    if name == "autograd.numpy":
        import autograd.scipy.special

        return autograd.scipy.special
    if name == "torch":
        return xp
    import funcgrad.scipy.special

    return funcgrad.scipy.special
