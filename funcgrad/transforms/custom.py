"""Functions with derivative rules of their own: `custom_rule`, `custom_jvp`, `custom_vjp`."""

from __future__ import annotations

import functools
import inspect
import types
from collections.abc import Callable, Sequence
from typing import Any, Generic, ParamSpec, Self, TypeVar, overload

import numpy as np

from .. import tree
from ..backend import unfit
from ..errors import ArgumentError, MissingRuleError, RuleError, where
from .arguments import global_name, is_array, require_callable
from .custom_call import Rules, custom_call, require_fit

_NUMBERS = (bool, int, float, complex)
_P = ParamSpec("_P")
_R = TypeVar("_R")
_OF_NUMPY = (np.ufunc, types.BuiltinFunctionType, type(np.mean))
_F = TypeVar("_F", bound=Callable[..., Any])


class _Call:
    """One call: which arguments are differentiable, and trees to and from flat lists."""

    def __init__(
        self,
        f: Callable[..., Any],
        args: tuple[Any, ...],
        kwargs: dict[str, Any],
        nondiff: set[int] | None = None,
    ) -> None:
        """`nondiff` is None where rules see the arguments that were given, and no defaults."""
        self.args = positional(f, args, kwargs, fill=nondiff is not None)
        nondiff = nondiff or set()
        self.nondiff = [a for i, a in enumerate(self.args) if i in nondiff]
        self.places = [i for i in range(len(self.args)) if i not in nondiff]
        self.f = f
        self.leaves, self.treedef = tree.flatten(tuple(self.args[i] for i in self.places))
        for x, path in zip(self.leaves, self.treedef.paths(), strict=True):
            if not is_array(x):
                name = f"{self.places[path[0].key]}{tree.key_str(path[1:])}"
                found = unfit(x, "list it in nondiff_argnums")
                raise ArgumentError(f"{_name(f)}: argument {name} {found}{where()}")
        self.out_def: Any = None
        self.residual_def: Any = None

    def arguments(self, leaves: Sequence[Any]) -> list[Any]:
        """The full argument list with the differentiable ones taken from `leaves`."""
        args = list(self.args)
        for i, x in zip(self.places, tree.unflatten(self.treedef, leaves), strict=True):
            args[i] = x
        return args

    def run(self, *leaves: Any) -> list[Any]:
        outs, self.out_def = tree.flatten(self.f(*self.arguments(leaves)))
        return _as_arrays(outs)

    def flat_output(self, what: str, out: Any) -> list[Any]:
        """The leaves of something that must have the output's tree."""
        leaves, found = tree.flatten(out)
        if self.out_def is None:
            self.out_def = found
        if found != self.out_def:
            raise RuleError(
                f"{_name(self.f)}: its {what} returned the structure {found}; the function's output "
                f"is {self.out_def}{where()}"
            )
        return _as_arrays(leaves)

    def flat_cotangents(self, what: str, cts: Any) -> list[Any]:
        """The leaves of the cotangents that a user's rule returned; None stands for zero."""
        if not isinstance(cts, tuple | list) or len(cts) != len(self.places):
            found = f"{len(cts)} values" if isinstance(cts, tuple | list) else type(cts).__name__
            raise RuleError(
                f"{_name(self.f)}: its {what} must return a tuple of {len(self.places)} cotangents, "
                f"one per differentiable argument; found {found}{where()}"
            )
        out: list[Any] = []
        primals = tree.unflatten(self.treedef, self.leaves)
        for i, ct, x in zip(self.places, cts, primals, strict=True):
            leaves, needed = tree.flatten(x)
            if ct is None:
                out += [None] * len(leaves)
                continue
            given, found_def = tree.flatten(ct)
            if found_def != needed:
                raise RuleError(
                    f"{_name(self.f)}: its {what} returned {found_def} for argument {i}, which is "
                    f"{needed}{where()}"
                )
            for g, leaf in zip(given, leaves, strict=True):
                require_fit(f"{_name(self.f)}: its {what} returned", g, f"argument {i}", leaf)
            out += given
        return out

    def bind(self, **rules: Any) -> Any:
        rules = {key: rule for key, rule in rules.items() if rule is not None}
        outs = custom_call(*self.leaves, rules=Rules(_name(self.f), self.run, **rules))
        return tree.unflatten(self.out_def, outs)


def _as_arrays(outs: list[Any]) -> list[Any]:
    """Python's numbers as NumPy's, which values of operations are everywhere."""
    return [np.asarray(y)[()] if y.__class__ in _NUMBERS else y for y in outs]


def _name(f: Callable[..., Any]) -> str:
    return getattr(f, "__name__", "function")


def positional(
    f: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any], *, fill: bool = True
) -> list[Any]:
    """The call's arguments by position, keywords filled in, and defaults.

    `fill` False: defaults only where keywords are given.
    """
    if not kwargs and (not fill or _is_complete(f, args)):
        return list(args)
    try:
        bound = inspect.signature(f).bind(*args, **kwargs)
    except ValueError:  # a function in C that does not say what it takes
        if kwargs:
            raise
        return list(args)
    except TypeError as error:
        raise ArgumentError(f"{_name(f)}: {error}{where()}") from None
    bound.apply_defaults()
    by_name = [name for name in bound.kwargs if name in kwargs]
    if by_name:
        raise ArgumentError(
            f"{_name(f)}: keyword-only arguments ({', '.join(by_name)}) cannot be traced{where()}"
        )
    return list(bound.args)


def _places(what: str, f: Callable[..., Any], names: Sequence[str]) -> list[int]:
    """The places of arguments that are given by name."""
    names = (names,) if isinstance(names, str) else names
    known = list(inspect.signature(f).parameters) if names else []
    for name in names:
        if name not in known:
            raise ArgumentError(f"{what}: {_name(f)} has no argument {name!r}{where()}")
    return [known.index(name) for name in names]


def _is_complete(f: Any, args: tuple[Any, ...]) -> bool:
    """Whether there is surely no default to fill in, or it is NumPy's own, such as `out=None`."""
    if isinstance(f, _OF_NUMPY):
        return True
    code = getattr(f, "__code__", None)
    return code is not None and not hasattr(f, "__wrapped__") and len(args) >= code.co_argcount


class _Custom(Generic[_P, _R]):
    """A function with rules of its own, which is bound, copied and pickled as functions are."""

    def __init__(
        self,
        f: Callable[_P, _R],
        nondiff_argnums: Sequence[int] = (),
        nondiff_argnames: Sequence[str] = (),
    ) -> None:
        require_callable(type(self).__name__, f, makes=True)
        functools.update_wrapper(self, f)
        self.f = f
        self.nondiff = {*nondiff_argnums, *_places(type(self).__name__, f, nondiff_argnames)}

    def __call__(self, *args: _P.args, **kwargs: _P.kwargs) -> _R:
        raise NotImplementedError

    @overload
    def __get__(self, instance: None, owner: Any = None) -> Self: ...
    @overload
    def __get__(self, instance: object, owner: Any = None) -> Callable[..., _R]: ...
    def __get__(self, instance: Any, owner: Any = None) -> Any:
        return self if instance is None else functools.partial(self, instance)

    def __reduce__(self) -> Any:
        """By its name where that leads here, otherwise by the functions that it is made of."""
        name = global_name(self)
        if name is not None:
            return name
        copied = (*functools.WRAPPER_ASSIGNMENTS, "__wrapped__")
        state = {k: v for k, v in self.__dict__.items() if k not in copied}
        return type(self), (self.f,), state

    def __copy__(self) -> Any:
        return self

    def __deepcopy__(self, memo: Any) -> Any:
        return self


class custom_jvp(_Custom[_P, _R]):
    """A function whose derivative is given by ``rule(primals, tangents) -> (out, tangent)``.

    Arguments listed in `nondiff_argnums`, or by name in `nondiff_argnames`, are passed to the rule
    first, as they are. Defaults that a call leaves out are arguments like others. Reverse mode
    transposes the rule, `vmap` maps it.

    >>> import funcgrad, numpy as np
    >>> @funcgrad.custom_jvp
    ... def softabs(x):
    ...     return np.sqrt(x * x + 1e-12)
    >>> @softabs.defjvp
    ... def rule(primals, tangents):
    ...     (x,), (t,) = primals, tangents
    ...     return softabs(x), t * np.sign(x)
    >>> float(funcgrad.grad(softabs)(-2.0))
    -1.0
    """

    def __init__(
        self,
        f: Callable[_P, _R],
        nondiff_argnums: Sequence[int] = (),
        nondiff_argnames: Sequence[str] = (),
    ) -> None:
        super().__init__(f, nondiff_argnums, nondiff_argnames)
        self.rule: Callable[..., Any] | None = None

    def defjvp(self, rule: _F) -> _F:
        """Set the rule; usable as a decorator."""
        self.rule = rule
        return rule

    def defjvps(self, *rules: Callable[..., Any] | None) -> None:
        """Set one rule ``(t, ans, *primals) -> tangent`` per argument; None for a zero derivative."""

        def rule(primals: Any, tangents: Any) -> Any:
            ans = self(*primals)  # type: ignore[call-arg]
            terms = [
                r(t, ans, *primals) for r, t in zip(rules, tangents, strict=True) if r is not None
            ]
            total = terms[0]
            for term in terms[1:]:
                total = tree.map(lambda a, b: a + b, total, term)
            return ans, total

        self.rule = rule

    def __call__(self, *args: _P.args, **kwargs: _P.kwargs) -> _R:
        if self.rule is None:
            raise MissingRuleError(f"{_name(self.f)}: no rule; give one with defjvp{where()}")
        call = _Call(self.f, args, kwargs, self.nondiff)
        user_rule = self.rule

        def jvp(primals: Sequence[Any], tangents: Sequence[Any]) -> Any:
            result = user_rule(
                *call.nondiff,
                tree.unflatten(call.treedef, primals),
                tree.unflatten(call.treedef, tangents),
            )
            if not isinstance(result, tuple | list) or len(result) != 2:
                raise RuleError(
                    f"{_name(self.f)}: its jvp rule must return a pair (out, tangent); found "
                    f"{type(result).__name__}{where()}"
                )
            out = call.flat_output("jvp rule's value", result[0])
            return out, call.flat_output("jvp rule's tangent", result[1])

        return call.bind(jvp=jvp)


class custom_vjp(_Custom[_P, _R]):
    """A function whose pullback is given: ``fwd(*args) -> (out, residual)``, ``bwd(residual, ct)``.

    `bwd` returns a tuple, one cotangent (or None) per differentiable argument. Arguments listed in
    `nondiff_argnums`, or by name in `nondiff_argnames`, are passed to `bwd` first. Defaults
    that a call leaves out are arguments like others. Forward mode transposes `bwd`, `vmap` maps both.

    >>> import funcgrad
    >>> @funcgrad.custom_vjp
    ... def reverse_gradient(x):
    ...     return x
    >>> reverse_gradient.defvjp(lambda x: (x, None), lambda residual, ct: (-ct,))
    >>> float(funcgrad.grad(reverse_gradient)(1.0))
    -1.0
    """

    def __init__(
        self,
        f: Callable[_P, _R],
        nondiff_argnums: Sequence[int] = (),
        nondiff_argnames: Sequence[str] = (),
    ) -> None:
        super().__init__(f, nondiff_argnums, nondiff_argnames)
        self.fwd: Callable[..., Any] | None = None
        self.bwd: Callable[..., Any] | None = None

    def defvjp(self, fwd: Callable[..., Any], bwd: Callable[..., Any]) -> None:
        """Set the forward and backward rules."""
        self.fwd = fwd
        self.bwd = bwd

    def __call__(self, *args: _P.args, **kwargs: _P.kwargs) -> _R:
        if self.fwd is None or self.bwd is None:
            raise MissingRuleError(f"{_name(self.f)}: no rule; give one with defvjp{where()}")
        call = _Call(self.f, args, kwargs, self.nondiff)
        fwd, bwd = self.fwd, self.bwd

        def forward(*leaves: Any) -> Any:
            result = fwd(*call.arguments(leaves))
            if not isinstance(result, tuple | list) or len(result) != 2:
                raise RuleError(
                    f"{_name(self.f)}: its fwd rule must return a pair (out, residual); found "
                    f"{type(result).__name__}{where()}"
                )
            outs = call.flat_output("fwd rule", result[0])
            residual, call.residual_def = tree.flatten(result[1])
            return outs, residual

        def backward(residual: Sequence[Any], cts: Sequence[Any]) -> list[Any]:
            saved = tree.unflatten(call.residual_def, residual)
            found = bwd(*call.nondiff, saved, tree.unflatten(call.out_def, cts))
            return call.flat_cotangents("bwd rule", found)

        return call.bind(forward=forward, backward=backward)


def custom_rule(
    f: _F,
    *,
    jvp: Callable[..., Any] | None = None,
    vjp: Callable[..., Any] | None = None,
    transpose: Callable[..., Any] | None = None,
    batch: Callable[..., Any] | None = None,
) -> _F:
    """`f` with any subset of its rules given; the others are derived from those.

    jvp:       ``(primals, tangents) -> (out, tangent)``
    vjp:       ``(ct, ans, *args) -> tuple of cotangents``
    transpose: ``(ct) -> tuple of cotangents``, for a linear `f`
    batch:     ``(size, in_axes, *args) -> (out, out_axes)``, flat tuples of axes (None: not batched)

    Raises: ArgumentError: no rule is given. RuleError: a rule returns the wrong structure or shape.

    >>> import funcgrad, numpy as np
    >>> double = custom_rule(lambda x: 2 * x, transpose=lambda ct: (2 * ct,))
    >>> float(funcgrad.grad(double)(1.0)), float(funcgrad.jvp(double, (1.0,), (3.0,))[1])
    (2.0, 6.0)
    """
    require_callable("custom_rule", f, makes=True)
    if jvp is None and vjp is None and transpose is None and batch is None:
        raise ArgumentError(
            f"custom_rule: give at least one of jvp, vjp, transpose, batch{where()}"
        )

    @functools.wraps(f)
    def called(*args: Any, **kwargs: Any) -> Any:
        call = _Call(f, args, kwargs)
        rules: dict[str, Any] = {}
        if jvp is not None:
            rules["jvp"] = _flat_jvp(call, jvp)
        if vjp is not None:
            rules["backward"] = _flat_vjp(call, vjp)
        if transpose is not None:
            rules["transpose"] = lambda cts, known: call.flat_cotangents(
                "transpose rule", transpose(tree.unflatten(call.out_def, cts))
            )
        if batch is not None:
            rules["batch"] = _flat_batch(call, batch)
        return call.bind(**rules)

    return called  # type: ignore[return-value]


def _flat_jvp(call: _Call, rule: Callable[..., Any]) -> Callable[..., Any]:
    def jvp(primals: Sequence[Any], tangents: Sequence[Any]) -> Any:
        out, dot = rule(
            tree.unflatten(call.treedef, primals), tree.unflatten(call.treedef, tangents)
        )
        return call.flat_output("jvp rule's value", out), call.flat_output("jvp rule", dot)

    return jvp


def _flat_vjp(call: _Call, rule: Callable[..., Any]) -> Callable[..., Any]:
    def backward(saved: Sequence[Any], cts: Sequence[Any]) -> list[Any]:
        count = len(cts)
        ans = tree.unflatten(call.out_def, saved[:count])
        args = call.arguments(saved[count:])
        found = rule(tree.unflatten(call.out_def, cts), ans, *args)
        return call.flat_cotangents("vjp rule", found)

    return backward


def _flat_batch(call: _Call, rule: Callable[..., Any]) -> Callable[..., Any]:
    def batch(size: int, bdims: tuple[int | None, ...], *xs: Any) -> Any:
        out, axes = rule(size, bdims, *call.arguments(xs))
        outs = call.flat_output("batch rule", out)
        return tuple(outs), tuple(tree.flatten_axes("batch rule's out_axes", call.out_def, axes))

    return batch
