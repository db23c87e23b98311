"""Derivatives that are given as functions: ``jax.custom_derivatives``."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any, ParamSpec, TypeVar

from .. import numpy as fnp
from .. import tree
from ..core import Tracer, aval_of
from ..jaxpr import Jaxpr, eval_jaxpr
from ..transforms.custom import custom_jvp as _custom_jvp
from ..transforms.custom import custom_rule
from ..transforms.custom import custom_vjp as _custom_vjp
from ..transforms.custom_call import perturbed
from ..transforms.trace import make_jaxpr
from ..tree_util import Partial
from ._absent import absent

__all__ = [
    "CustomVJPPrimal",
    "SymbolicZero",
    "closure_convert",
    "custom_gradient",
    "custom_jvp",
    "custom_vjp",
    "linear_call",
]

_INSTEAD = "functions with rules are one primitive here, custom_call"
custom_jvp_call_p = absent("custom_jvp_call_p", _INSTEAD)
custom_vjp_call_p = absent("custom_vjp_call_p", _INSTEAD)
_P = ParamSpec("_P")
_R = TypeVar("_R")
_F = TypeVar("_F", bound=Callable[..., Any])


class SymbolicZero:
    """A derivative of a type that is known to be zero, as rules that ask for it are given."""

    def __init__(self, aval: Any) -> None:
        self.aval = aval


def _filled(derivatives: Any) -> Any:
    """Derivatives with zeros in the place of what is known to be zero."""
    return tree.map(
        lambda t: fnp.zeros(t.aval.shape, t.aval.dtype) if isinstance(t, SymbolicZero) else t,
        derivatives,
    )


class CustomVJPPrimal:
    """An argument as a forward rule with ``symbolic_zeros=True`` sees it, which is no tree."""

    def __init__(self, value: Any, perturbed: bool = True) -> None:
        self.value = value
        self.perturbed = perturbed


class custom_jvp(_custom_jvp[_P, _R]):
    """`funcgrad.custom_jvp`; with `symbolic_zeros` the rule sees which arguments do not move.

    >>> import funcgrad
    >>> @custom_jvp
    ... def f(x, y):
    ...     return x * y
    >>> def rule(xs, ts):
    ...     moved = [0.0 if isinstance(t, SymbolicZero) else t for t in ts]
    ...     return f(*xs), 10.0 * (moved[0] * xs[1] + moved[1] * xs[0])
    >>> _ = f.defjvp(rule, symbolic_zeros=True)
    >>> float(funcgrad.grad(f)(2.0, 3.0))
    30.0
    """

    def defjvp(self, rule: _F, symbolic_zeros: bool = False) -> _F:
        """Set the rule; usable as a decorator."""

        @functools.wraps(rule)
        def filled(*args: Any) -> Any:
            if symbolic_zeros:
                flags = iter(perturbed.get())
                marked = tree.map(
                    lambda t: t if next(flags) else SymbolicZero(aval_of(t)), args[-1]
                )
                args = (*args[:-1], marked)
            found = rule(*args)
            if isinstance(found, tuple | list) and len(found) == 2:
                return found[0], _filled(found[1])
            return found

        super().defjvp(filled)
        return rule


class custom_vjp(_custom_vjp[_P, _R]):
    """`funcgrad.custom_vjp`; with `symbolic_zeros` the forward rule sees which arguments move.

    >>> import funcgrad
    >>> f = custom_vjp(lambda x, y: x * y)
    >>> f.defvjp(
    ...     lambda x, y: (x.value * y.value, (x.value, y.value) if x.perturbed else None),
    ...     lambda kept, ct: (10.0 * ct * kept[1], None),
    ...     symbolic_zeros=True,
    ... )
    >>> float(funcgrad.grad(f)(2.0, 3.0))
    30.0
    """

    def defvjp(
        self,
        fwd: Callable[..., Any],
        bwd: Callable[..., Any],
        symbolic_zeros: bool = False,
        optimize_remat: bool = False,
    ) -> None:
        """Set the forward and backward rules; `optimize_remat` changes nothing."""

        def forward(*args: Any) -> Any:
            flags = iter(perturbed.get())
            seen = [
                a
                if i in self.nondiff
                else tree.map(lambda x: CustomVJPPrimal(x, next(flags, True)), a)
                for i, a in enumerate(args)
            ]
            return fwd(*seen)

        super().defvjp(forward if symbolic_zeros else fwd, lambda *args: _filled(bwd(*args)))


def closure_convert(
    fun: Callable[..., Any], *example_args: Any
) -> tuple[Callable[..., Any], list[Any]]:
    """`fun` as a function of its arguments and of what it closes over that is traced.

    The arguments of the result have the types of `example_args`; what is traced comes after them.

    Raises: ConcretizationError: `fun` asks for values.
    Source: JAX reference, ``jax.closure_convert``.

    >>> import funcgrad
    >>> def f(a):
    ...     scaled, traced = closure_convert(lambda x: a * x, 1.0)
    ...     return scaled(3.0, *traced)
    >>> float(funcgrad.grad(f)(2.0))
    3.0
    """
    found: list[Any] = []

    def flat(*args: Any) -> Any:
        leaves, treedef = tree.flatten(fun(*args))
        found.append(treedef)
        return leaves

    program = make_jaxpr(flat)(*example_args)
    held = list(zip(program.const_vars, program.consts, strict=True))
    moved = [pair for pair in held if isinstance(pair[1], Tracer)]
    stay = [pair for pair in held if not isinstance(pair[1], Tracer)]
    inner = Jaxpr(
        [*program.in_vars, *(var for var, _ in moved)],
        program.eqns,
        program.outs,
        [var for var, _ in stay],
        [value for _, value in stay],
    )

    def converted(*args: Any) -> Any:
        given = args[: len(example_args)]
        traced = args[len(example_args) :]
        return tree.unflatten(found[-1], eval_jaxpr(inner, *tree.leaves(given), *traced))

    return converted, [value for _, value in moved]


def custom_gradient(fun: Callable[..., Any]) -> Callable[..., Any]:
    """A function from one that returns its value and its pullback.

    Raises: RuleError: cotangents do not fit the arguments.
    Source: JAX reference, ``jax.custom_gradient``; TensorFlow, ``tf.custom_gradient``.

    >>> import funcgrad
    >>> @custom_gradient
    ... def clipped(x):
    ...     return x, lambda ct: ct.clip(-1.0, 1.0)
    >>> float(funcgrad.grad(lambda x: 5.0 * clipped(x))(2.0))
    1.0
    """

    @functools.wraps(fun)
    def value(*args: Any) -> Any:
        return fun(*args)[0]

    def forward(*args: Any) -> Any:
        ans, pull = fun(*args)
        converted, traced = closure_convert(pull, ans)
        return ans, Partial(converted, *traced)

    def backward(pull: Partial, ct: Any) -> Any:
        cts = pull.func(ct, *pull.args)
        return tuple(cts) if isinstance(cts, tuple | list) else (cts,)

    custom = custom_vjp(value)
    custom.defvjp(forward, backward)
    return custom


def linear_call(
    fun: Callable[..., Any], fun_transpose: Callable[..., Any], residual_args: Any, linear_args: Any
) -> Any:
    """``fun(residual_args, linear_args)``, linear in the second, and transposed by `fun_transpose`.

    That takes the same `residual_args` and a cotangent of the result. By `residual_args` the derivative
    is zero.

    Raises: RuleError: cotangents do not fit `linear_args`.
    Source: JAX reference, ``jax.custom_derivatives.linear_call``.

    >>> import funcgrad
    >>> third = lambda x: linear_call(lambda r, x: x / r, lambda r, ct: ct / r, 3.0, x)
    >>> float(third(6.0)), float(funcgrad.grad(third)(6.0).round(4))
    (2.0, 0.3333)
    """

    def tangent(primals: Any, tangents: Any) -> Any:
        return fun(*primals), linear_call(fun, fun_transpose, primals[0], tangents[1])

    def cotangent(ct: Any, ans: Any, residual: Any, x: Any) -> Any:
        return tree.map(fnp.zeros_like, residual), linear_call(fun_transpose, fun, residual, ct)

    return custom_rule(fun, jvp=tangent, vjp=cotangent)(residual_args, linear_args)
