"""Functions that are called with values alone, and whose derivatives are given: `primitive`, `defvjp`.

The rules may read and compute with anything that is differentiable here, so derivatives of any order
follow from them; of `defvjp` and `defjvp` one is enough, but where a rule calls a primitive again.
"""

from __future__ import annotations

import functools
import itertools
import warnings
import weakref
from collections.abc import Callable, Iterable, Sequence
from typing import Any

from .. import numpy as fnp
from .. import tree
from ..algebra import zeros_like
from ..core import Tracer as Box
from ..errors import ArgumentError, MissingRuleError, where
from ..transforms.custom import custom_rule
from .util import subval, subvals
from .vspaces import VSpace, vspace

__all__ = [
    "Box",
    "VSpace",
    "def_linear",
    "defjvp",
    "defjvp_argnum",
    "defjvp_argnums",
    "defvjp",
    "defvjp_argnum",
    "defvjp_argnums",
    "primitive",
    "vspace",
]

Rule = Callable[..., Any]
primitives: weakref.WeakSet[Any] = weakref.WeakSet()  # all that there are


class primitive:
    """`fun` with derivatives of its own, which `defvjp` or `defjvp` give; it is not looked into.

    `fun` may do anything that Python can with its arguments, which are arrays, numbers and containers.
    Under `vmap` it is called for one example after another; under `jit` it must be traceable.

    Derivative: as given, in all modes and orders.
    Raises: MissingRuleError: there is none, or none by an argument that is traced.
    Source: Maclaurin, Duvenaud & Adams, "Autograd: effortless gradients in NumPy", AutoML (2015).

    >>> import numpy as np
    >>> from funcgrad.autograd import grad
    >>> @primitive
    ... def cube(x):
    ...     return x.item() ** 3
    >>> defvjp(cube, lambda ans, x: lambda g: g * 3.0 * x**2)
    >>> float(grad(cube)(np.array(2.0))), float(grad(grad(cube))(np.array(2.0)))
    (12.0, 12.0)
    """

    def __init__(self, fun: Callable[..., Any]) -> None:
        functools.update_wrapper(self, fun)
        self.fun = fun
        self.vjp: Rule | None = None
        self.jvp: Rule | None = None
        primitives.add(self)

    def __get__(self, instance: Any, owner: Any = None) -> Any:
        return self if instance is None else functools.partial(self, instance)

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        places = tuple(
            i for i, a in enumerate(args) if any(isinstance(x, Box) for x in tree.leaves(a))
        )
        if not places:
            return self.fun(*args, **kwargs)

        def merged(values: Sequence[Any]) -> tuple[Any, ...]:
            return subvals(args, zip(places, values, strict=True))

        def value(*traced: Any) -> Any:
            return self.fun(*merged(traced), **kwargs)

        def pullback(ct: Any, ans: Any, *traced: Any) -> tuple[Any, ...]:
            if self.vjp is None:
                raise MissingRuleError(
                    f"{_name(self)}: it has no derivative; give one with defvjp{where()}"
                )
            return tuple(self.vjp(places, ans, merged(traced), kwargs)(ct))

        def pushforward(primals: Sequence[Any], tangents: Sequence[Any]) -> Any:
            full = merged(primals)
            ans = self(*full, **kwargs)
            dot = self.jvp(places, tangents, ans, full, kwargs)  # type: ignore[misc]
            return ans, tree.map(zeros_like, ans) if dot is None else dot

        value.__name__ = _name(self)

        def mapped(size: int, axes: Sequence[int | None], *traced: Any) -> tuple[Any, int]:
            """One example after another: nothing is known of the function."""
            leaves, treedef = tree.flatten(traced)
            rows = [
                x if b is None else fnp.moveaxis(x, b, 0) for x, b in zip(leaves, axes, strict=True)
            ]
            examples = [
                [x if b is None else x[i] for x, b in zip(rows, axes, strict=True)]
                for i in range(size)
            ]
            outs = [self(*merged(tree.unflatten(treedef, x)), **kwargs) for x in examples]
            return tree.map(lambda *ys: fnp.stack(ys), *outs), 0

        along = None if self.jvp is None else pushforward
        back = pullback if self.vjp is not None or along is None else None
        return custom_rule(value, jvp=along, vjp=back, batch=mapped)(*(args[i] for i in places))


def _name(f: Any) -> str:
    return getattr(f, "__name__", "function")


def _set(fun: Any, name: str, **rule: Rule) -> None:
    """Give a primitive a rule; what is none goes on without, as with autograd, which says nothing."""
    if not isinstance(fun, primitive):
        warnings.warn(
            f"{name}: {_name(fun)} is no primitive, so it is differentiated itself, and this rule is "
            f"not used{where()}",
            stacklevel=3,
        )
        return
    vars(fun).update(rule)


def _rule_of(rules: dict[int, Any], fun: Any, kind: str, argnum: int) -> Any:
    if argnum not in rules:
        raise MissingRuleError(f"{kind} of {_name(fun)} wrt argnum {argnum} not defined{where()}")
    return rules[argnum]


def _by_argnum(
    name: str, rules: Sequence[Rule | str | None], argnums: Iterable[int] | None
) -> dict[int, Any]:
    """Which argument each rule is for; None for no derivative.

    Raises: ArgumentError: a rule is neither a function nor None (nor "same", for `defjvp`).
    """
    for rule in rules:
        if not (rule is None or callable(rule) or (rule == "same" and name == "defjvp")):
            raise ArgumentError(f"{name}: need functions or None as rules, found {rule!r}{where()}")
    return dict(zip(itertools.count() if argnums is None else argnums, rules, strict=False))


# ---------------------------------------------------------------- reverse mode


def defvjp_argnums(fun: Any, vjpmaker: Rule) -> None:
    """Pullbacks by several arguments: ``vjpmaker(argnums, ans, args, kwargs)(g)`` gives all."""
    _set(fun, "defvjp_argnums", vjp=vjpmaker)


def defvjp_argnum(fun: Any, vjpmaker: Rule) -> None:
    """The pullback by any one argument: ``vjpmaker(argnum, ans, args, kwargs)(g)``."""

    def by_several(argnums: Sequence[int], ans: Any, args: Any, kwargs: Any) -> Rule:
        pulls = [vjpmaker(i, ans, args, kwargs) for i in argnums]
        return lambda g: [pull(g) for pull in pulls]

    _set(fun, "defvjp_argnum", vjp=by_several)


def defvjp(fun: Any, *vjpmakers: Rule | None, argnums: Iterable[int] | None = None) -> None:
    """Pullbacks, one for each argument (or those at `argnums`): ``vjpmaker(ans, *args, **kwargs)(g)``.

    None: the derivative is 0.

    Raises: ArgumentError: a rule is no function.

    >>> import numpy as np
    >>> from funcgrad.autograd import grad
    >>> product = primitive(lambda x, y: float(x) * float(y))
    >>> defvjp(product, lambda ans, x, y: lambda g: g * y, lambda ans, x, y: lambda g: g * x)
    >>> [float(g) for g in grad(product, (0, 1))(2.0, 3.0)]
    [3.0, 2.0]
    """
    rules = _by_argnum("defvjp", vjpmakers, argnums)

    def by_several(places: Sequence[int], ans: Any, args: Any, kwargs: Any) -> Rule:
        makers = [_rule_of(rules, fun, "VJP", i) for i in places]
        pulls = [m if m is None else m(ans, *args, **kwargs) for m in makers]
        return lambda g: [None if pull is None else pull(g) for pull in pulls]

    _set(fun, "defvjp", vjp=by_several)


# ---------------------------------------------------------------- forward mode


def defjvp_argnums(fun: Any, jvpmaker: Rule) -> None:
    """The derivative along several arguments' `gs`: ``jvpmaker(argnums, gs, ans, args, kwargs)``."""
    _set(fun, "defjvp_argnums", jvp=jvpmaker)


def defjvp_argnum(fun: Any, jvpmaker: Rule) -> None:
    """The derivative along any one argument's `g`: ``jvpmaker(argnum, g, ans, args, kwargs)``."""

    def by_several(argnums: Sequence[int], gs: Any, ans: Any, args: Any, kwargs: Any) -> Any:
        return _sum([jvpmaker(i, g, ans, args, kwargs) for i, g in zip(argnums, gs, strict=True)])

    _set(fun, "defjvp_argnum", jvp=by_several)


def defjvp(fun: Any, *jvpfuns: Rule | str | None, argnums: Iterable[int] | None = None) -> None:
    """Derivatives, one for each argument (or those at `argnums`): ``jvpfun(g, ans, *args, **kwargs)``.

    "same": `fun` is linear in the argument; reverse mode then takes a `defvjp`, otherwise it follows.
    None: the derivative is 0.

    Raises: ArgumentError: a rule is no function.

    >>> from funcgrad.autograd import deriv
    >>> double = primitive(lambda x: 2.0 * float(x))
    >>> defjvp(double, "same")
    >>> float(deriv(double)(3.0))
    2.0
    """
    rules = _by_argnum("defjvp", jvpfuns, argnums)

    def along(argnum: int, g: Any, ans: Any, args: Any, kwargs: Any) -> Any:
        rule = _rule_of(rules, fun, "JVP", argnum)
        if rule == "same":
            return fun(*subval(args, argnum, g), **kwargs)
        return None if rule is None else rule(g, ans, *args, **kwargs)

    defjvp_argnum(fun, along)


def def_linear(fun: Any) -> None:
    """`fun` is linear in each of its arguments: forward mode; reverse mode takes a `defvjp`."""

    def along(argnum: int, g: Any, ans: Any, args: Any, kwargs: Any) -> Any:
        return fun(*subval(args, argnum, g), **kwargs)

    defjvp_argnum(fun, along)


def _sum(dots: Sequence[Any]) -> Any:
    """The sum of trees; None stands for 0."""
    there = [d for d in dots if d is not None]
    if not there:
        return None
    return functools.reduce(lambda a, b: tree.map(lambda x, y: x + y, a, b), there)
