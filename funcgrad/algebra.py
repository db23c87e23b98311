"""The kinds of primitive, each of which derives every rule from one declared piece of mathematics.

Layer 2. A kind is chosen with a decorator; the decorated function is the implementation, written on
`xp`, the array module of the operands, which is its first parameter and no part of the signature:

    @elementwise(lambda y, _x: y)          # d exp(x) = exp(x) dx
    def exp(xp, x, /):
        return xp.exp(x)

| kind        | declared                              | tangent            | cotangent of x        |
|-------------|---------------------------------------|--------------------|-----------------------|
| Elementwise | a coefficient per operand             | sum of t * c       | ct * c, summed to x   |
| Linear      | the transpose                         | f(t)               | transpose(ct)         |
| Bilinear    | the transpose on either side          | f(tx, y) + f(x, ty)| the transposes        |
| General     | the linear map of each tangent        | sum of the maps    | the maps, transposed  |
| Constant    | nothing                               | zero               | zero                  |

NOTE [Unread arguments] A rule's argument whose name begins with an underscore is not read, so it is
not saved; what is passed in its place has a shape and a dtype and nothing else.

NOTE [Transposes are plain] A cotangent pairs with a tangent as ``Re(sum(ct * t))`` without a
conjugate, so rules never conjugate. `compat`, whose users expect the other convention, conjugates
once where cotangents enter and leave.

The derivations use the operators and methods that arrays and tracers share (``t * c``, ``.sum``,
``.reshape``, ``.astype``, ``.real``), so this file needs no primitive.
"""

from __future__ import annotations

import inspect
import operator
from collections.abc import Callable, Sequence
from contextvars import ContextVar
from types import ModuleType
from typing import Any

import numpy as np

from .backend import namespace
from .core import REGISTRY, Aval, Primitive, Tracer, aval_of, current, tangent_dtype
from .errors import MissingRuleError, ShapeError, where
from .short import summed
from .views import record_view
from .weak import OPERATORS

_get_current = current.get

Rule = Callable[..., Any]
ShapeRule = Callable[..., Any]
BatchRule = Callable[..., Any]

# How a tangent or cotangent is multiplied by a coefficient. `strong_zeros` swaps it.
scaling: ContextVar[Callable[[Any, Any], Any]] = ContextVar("scaling", default=operator.mul)


# ---------------------------------------------------------------- shapes


def broadcast_shapes(name: str, shapes: Sequence[tuple[int, ...]]) -> tuple[int, ...]:
    """NumPy's broadcast of the shapes.

    Raises: ShapeError: they do not broadcast, naming the primitive and every shape.
    """
    first = shapes[0]
    if all(s == first for s in shapes):
        return first
    try:
        return np.broadcast_shapes(*shapes)
    except ValueError:
        listed = " and ".join(str(list(s)) for s in shapes)
        raise ShapeError(f"{name}: shapes {listed} do not broadcast together{where()}") from None


def sum_to(x: Any, shape: tuple[int, ...]) -> Any:
    """`x` summed over the axes along which `shape` was broadcast: the transpose of broadcasting."""
    found = x.shape
    lead = len(found) - len(shape)
    if found[lead:] == shape:  # as of the bias of a layer
        if lead == 0:
            return x
        axes = tuple(range(lead))
    else:
        axes = tuple(range(lead)) + tuple(
            i + lead for i, n in enumerate(shape) if n == 1 and found[i + lead] != 1
        )
    x = summed(x, axes)
    return x if x.shape == shape else x.reshape(shape)


def conform(ct: Any, like: Any) -> Any:
    """The cotangent with the shape and dtype of its operand: summed, real part taken, cast."""
    if ct.shape != like.shape:
        ct = sum_to(ct, like.shape)
    dtype = like.dtype
    if ct.dtype is not dtype and ct.dtype != dtype:
        if ct.dtype.kind == "c" and dtype.kind != "c":
            ct = ct.real
        ct = ct.astype(dtype, copy=False)
    return ct


def conform_tangent(t: Any, ans: Any) -> Any:
    """The tangent with the shape and dtype of the result it belongs to."""
    if t.shape != ans.shape:
        t = t + zeros_like(ans)
    if t.dtype is not ans.dtype and t.dtype != ans.dtype:
        if t.dtype.kind == "c" and ans.dtype.kind != "c":
            t = t.real
        t = t.astype(ans.dtype, copy=False)
    return t


def concrete_namespace(x: Any) -> Any:
    """The array module that holds, or will hold, the numbers behind `x`."""
    while isinstance(x, Tracer):
        owner, x = x.owner, x.underlying
        if x is None:
            return owner.namespace()
    return np if x.__class__ is Aval else namespace(x)


def device_namespace(xs: Sequence[Any]) -> ModuleType | None:
    """The array module of the numbers behind `xs`; None if it is NumPy."""
    for x in xs:
        if x.__class__ is not np.ndarray and (xp := concrete_namespace(x)) is not np:
            return xp
    return None


def zeros_like(x: Any) -> Any:
    """Zeros of the shape of `x`, in the dtype of its derivatives, on its device."""
    aval = aval_of(x)
    return concrete_namespace(x).zeros(aval.shape, tangent_dtype(aval.dtype))


def _zero_tangent(x: Any) -> Any:
    """The zero tangent of an operand; a bare number's fits every array module."""
    return 0.0 if aval_of(x).weak else zeros_like(x)


# ---------------------------------------------------------------- what a rule reads


def arguments_read(rule: Rule | None, count: int) -> tuple[bool, ...]:
    """For the first `count` positional arguments of `rule`, whether it reads them."""
    if not callable(rule):
        return (False,) * count
    names: list[str] = []
    rest = None
    for p in inspect.signature(rule).parameters.values():
        if p.kind is p.VAR_POSITIONAL:
            rest = p.name
        elif p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD):
            names.append(p.name)
    if rest is not None:
        names += [rest] * (count - len(names))
    return tuple(not name.startswith("_") for name in names[:count])


class _OneRule(Primitive):
    """Shared by the kinds: one rule per operand, and the shape and batch rules of the family."""

    def __init__(
        self,
        impl: Callable[..., Any],
        rules: Sequence[Any],
        *,
        aval: ShapeRule | None = None,
        batch: BatchRule | None = None,
        multiple: bool = False,
    ) -> None:
        super().__init__(impl)
        self.rules = tuple(rules)
        self.multiple = multiple
        self._aval = aval
        self._batch = batch
        self._saves: dict[tuple[bool, ...], tuple[bool, tuple[bool, ...]]] = {}
        self._dtypes: dict[tuple[Any, ...], Any] = {}

    def rule(self, i: int) -> Any:
        """The rule of operand `i`; a single rule of a variadic primitive serves all of them."""
        return self.rules[i]

    def reads(self, i: int, count: int) -> tuple[bool, tuple[bool, ...]]:
        """Whether operand `i`'s rule reads the result, and which of `count` operands it reads."""
        read = arguments_read(self.rule(i), count + 1)
        return read[0], read[1:]

    def saves(self, wanted: Sequence[bool]) -> tuple[bool, tuple[bool, ...]]:
        key = tuple(wanted)
        if key not in self._saves:
            count = len(key)
            needs = [self.reads(i, count) for i, w in enumerate(key) if w]
            xs = tuple(any(n[1][j] for n in needs) for j in range(count))
            self._saves[key] = (any(n[0] for n in needs), xs)
        return self._saves[key]

    def aval(self, *avals: Aval, **params: Any) -> Any:
        if self._aval is None:
            return super().aval(*avals, **params)
        return self._aval(*avals, **params)

    def batch(self, size: int, xs: Sequence[Any], bdims: Sequence[int | None], params: dict) -> Any:
        if self._batch is None:
            raise MissingRuleError(self.name)
        return self._batch(self, size, xs, bdims, params)


# ---------------------------------------------------------------- elementwise


_DOUBLE = np.dtype(float)


class Selection:
    """A coefficient of booleans, whose zeros are exact; `halved`: where half is taken.

    Where nothing was taken from an operand no cotangent reaches it, an infinite one neither. It
    stands where other coefficients are arrays: ``ct * selection``.
    """

    __slots__ = ("halved", "mask")
    __array_ufunc__ = None

    def __init__(self, mask: Any, halved: Any = None) -> None:
        self.mask, self.halved = mask, halved

    def __rmul__(self, t: Any) -> Any:
        choose = REGISTRY["where"]
        if self.halved is not None:
            t = choose(self.halved, 0.5 * t, t)
        return choose(self.mask, t, 0.0)


class Elementwise(_OneRule):
    """``z = f(x, y, ...)`` element by element, with broadcasting; rules are coefficients.

    ``dz = sum_i c_i(z, x, y, ...) * dx_i``. A coefficient may be a number, or None for an operand
    that carries no derivative (the condition of `where`).
    """

    def aval(self, *avals: Aval, **params: Any) -> Any:
        shape = broadcast_shapes(self.name, [a.shape for a in avals])
        key = (*((a.dtype, a.weak) for a in avals), *params.items())
        dtype = self._dtypes.get(key)
        if dtype is None:
            dtype = self._dtypes[key] = self._result_dtype(avals, params)
        return Aval(shape, dtype, self.name in OPERATORS and all(a.weak for a in avals))

    def _result_dtype(self, avals: Sequence[Aval], params: dict) -> Any:
        """NumPy's own answer, read off the implementation run on empty operands."""
        alone = all(a.weak for a in avals)
        operands = [
            a.dtype.type(0).item() if a.weak and not alone else np.ones(0, a.dtype) for a in avals
        ]
        with np.errstate(all="ignore"):
            return self.impl(np, *operands, **params).dtype

    def tangent(self, ans: Any, xs: Sequence[Any], ts: Sequence[Any], params: dict) -> Any:
        scale = scaling.get()
        total = None
        for c, t in zip(self.rules, ts, strict=True):
            if t is None or c is None:
                continue
            c = narrowed(c(ans, *xs, **params), ans.dtype) if callable(c) else c
            term = _scaled(scale, t, c)
            total = term if total is None else total + term
        return None if total is None else conform_tangent(total, ans)

    def cotangents(
        self, ct: Any, ans: Any, xs: Sequence[Any], wanted: Sequence[bool], params: dict
    ) -> list[Any]:
        scale = scaling.get()
        out: list[Any] = []
        for c, x, want in zip(self.rules, xs, wanted, strict=True):
            if not want or c is None:
                out.append(None)
            else:
                c = narrowed(c(ans, *xs, **params), ct.dtype) if callable(c) else c
                out.append(conform(_scaled(scale, ct, c), x))
        return out

    def batch(self, size: int, xs: Sequence[Any], bdims: Sequence[int | None], params: dict) -> Any:
        xs, bdim = align_batch(xs, bdims)
        return self(*xs, **params), bdim


def narrowed(c: Any, dtype: Any) -> Any:
    """A coefficient that is made of numbers only, as a number: it does not widen single precision."""
    return float(c) if c.__class__ is np.float64 and dtype is not _DOUBLE else c


def _scaled(scale: Callable[[Any, Any], Any], t: Any, c: Any) -> Any:
    """``t * c``, without work where the coefficient is the number 1 or -1."""
    if c.__class__ is int:
        return t if c == 1 else -t if c == -1 else t * c
    return c.__rmul__(t) if c.__class__ is Selection else scale(t, c)


def align_batch(xs: Sequence[Any], bdims: Sequence[int | None]) -> tuple[list[Any], int]:
    """Operands reshaped so that broadcasting pairs batch axis with batch axis, and where it is."""
    shapes = {(b, x.ndim) for x, b in zip(xs, bdims, strict=True) if b is not None}
    flat = all(b is not None or aval_of(x).ndim == 0 for x, b in zip(xs, bdims, strict=True))
    if flat and len(shapes) == 1:
        return list(xs), next(iter(shapes))[0]
    logical = max(aval_of(x).ndim - (b is not None) for x, b in zip(xs, bdims, strict=True))
    return [
        x if b is None else batch_first(x, b, logical) for x, b in zip(xs, bdims, strict=True)
    ], 0


def batch_first(x: Any, bdim: int | None, logical: int | None = None) -> Any:
    """`x` with its batch axis first, and 1s after it so that `logical` axes follow."""
    if bdim:
        axes = (bdim, *(i for i in range(x.ndim) if i != bdim))
        x = x.transpose(axes)
    if logical is not None and x.ndim < logical + 1:
        x = x.reshape((x.shape[0],) + (1,) * (logical + 1 - x.ndim) + x.shape[1:])
    return x


# ---------------------------------------------------------------- linear and bilinear


class Linear(_OneRule):
    """Jointly linear in the operands that have a transpose; the others (None) are parameters.

    A transpose is ``(ct, *xs, **params) -> cotangent of that operand``. A variadic primitive
    declares `variadic`, one rule ``(ct, *xs, **params) -> list``.
    """

    variadic: Rule | None = None
    own_inverse = False  # True: it keeps elements apart, so writes go back through the result
    may_copy = False  # True: NumPy copies where the elements do not lie as the result needs them

    def rule(self, i: int) -> Any:
        return self.variadic or self.rules[i]

    def is_parameter(self, i: int) -> bool:
        """Whether operand `i` is one that the primitive is not linear in."""
        return self.variadic is None and self.rules[i] is None

    def reads(self, i: int, count: int) -> tuple[bool, tuple[bool, ...]]:
        return False, arguments_read(self.rule(i), count + 1)[1:]

    def saves(self, wanted: Sequence[bool]) -> tuple[bool, tuple[bool, ...]]:
        if self.variadic is not None and any(wanted):
            wanted = [True, *[False] * (len(wanted) - 1)]  # one rule: it is asked once, not n times
        return super().saves(wanted)

    def tangent(self, ans: Any, xs: Sequence[Any], ts: Sequence[Any], params: dict) -> Any:
        operands = [
            t if t is not None else x if self.is_parameter(i) else _zero_tangent(x)
            for i, (x, t) in enumerate(zip(xs, ts, strict=True))
        ]
        out = self(*operands, **params)
        return out if self.multiple else conform_tangent(out, ans)

    def cotangents(
        self, ct: Any, ans: Any, xs: Sequence[Any], wanted: Sequence[bool], params: dict
    ) -> list[Any]:
        if self.variadic is not None:
            cts = self.variadic(ct, *xs, **params)
        else:
            cts = [
                r(ct, *xs, **params) if w and r is not None else None
                for r, w in zip(self.rules, wanted, strict=True)
            ]
        return [
            conform(c, x) if w and c is not None else None
            for c, x, w in zip(cts, xs, wanted, strict=True)
        ]


class LinearView(Linear):
    """Linear in one operand, and a view of it: writing into the result writes into the operand.

    `lift` is ``(size, ndim, params) -> params`` of the same view with a batch axis in front of an
    operand of `ndim` axes; batching and writing through chains of views both follow from it.
    """

    is_view = True
    lift: Callable[[int, int, dict], dict]

    def __call__(self, x: Any, /, **params: Any) -> Any:
        out = _get_current().process(self, (x,), params)
        if isinstance(out, Tracer) and isinstance(x, Tracer):
            record_view(out, x, self, params)
        return out

    def batch(self, size: int, xs: Sequence[Any], bdims: Sequence[int | None], params: dict) -> Any:
        x = batch_first(xs[0], bdims[0])
        return self(x, **self.lift(size, x.ndim - 1, params)), 0


class Bilinear(_OneRule):
    """Linear in each of two operands: ``f(x, y)``; rules are ``(ct, x, y, **params)``."""

    def reads(self, i: int, count: int) -> tuple[bool, tuple[bool, ...]]:
        return False, arguments_read(self.rules[i], count + 1)[1:]

    def tangent(self, ans: Any, xs: Sequence[Any], ts: Sequence[Any], params: dict) -> Any:
        x, y = xs
        tx, ty = ts
        total = None if tx is None else self(tx, y, **params)
        if ty is not None:
            term = self(x, ty, **params)
            total = term if total is None else total + term
        return conform_tangent(total, ans)

    def cotangents(
        self, ct: Any, ans: Any, xs: Sequence[Any], wanted: Sequence[bool], params: dict
    ) -> list[Any]:
        return [
            conform(r(ct, *xs, **params), x) if w else None
            for r, x, w in zip(self.rules, xs, wanted, strict=True)
        ]


# ---------------------------------------------------------------- general, constant


class General(_OneRule):
    """Anything else: a linear map ``(t, ans, *xs, **params)`` of each operand's tangent.

    The tangent is the sum of the maps; the cotangent is found by transposing them.
    """

    def reads(self, i: int, count: int) -> tuple[bool, tuple[bool, ...]]:
        read = arguments_read(self.rules[i], count + 2)[1:]
        return read[0], read[1:]

    def tangent(self, ans: Any, xs: Sequence[Any], ts: Sequence[Any], params: dict) -> Any:
        total: Any = None
        for r, t in zip(self.rules, ts, strict=True):
            if t is None or r is None:
                continue
            term = r(t, ans, *xs, **params)
            if total is None:
                total = term
            elif self.multiple:
                total = tuple(a + b for a, b in zip(total, term, strict=True))
            else:
                total = total + term
        if total is None or self.multiple:
            return total
        return conform_tangent(total, ans)


class Constant(_OneRule):
    """Piecewise constant: the derivative is zero wherever there is one."""

    differentiable = False

    def reads(self, i: int, count: int) -> tuple[bool, tuple[bool, ...]]:
        return False, (False,) * count

    def tangent(self, ans: Any, xs: Sequence[Any], ts: Sequence[Any], params: dict) -> Any:
        return None


class ElementwiseConstant(Constant):
    """Piecewise constant and elementwise: comparisons, `sign`, `floor`."""

    aval = Elementwise.aval
    _result_dtype = Elementwise._result_dtype
    batch = Elementwise.batch


# ---------------------------------------------------------------- decorators


def elementwise(*coefficients: Any) -> Callable[[Callable[..., Any]], Elementwise]:
    """Declare an elementwise primitive by the coefficient of each operand's tangent."""
    return lambda impl: Elementwise(impl, coefficients)


def elementwise_constant(impl: Callable[..., Any]) -> ElementwiseConstant:
    """Declare an elementwise primitive whose derivative is zero."""
    return ElementwiseConstant(impl, ())


def linear(
    *transposes: Rule | None,
    variadic: Rule | None = None,
    own_inverse: bool = False,
    **family: Any,
) -> Any:
    """Declare a linear primitive by the transpose of each operand."""

    def make(impl: Callable[..., Any]) -> Linear:
        prim = Linear(impl, transposes, **family)
        prim.variadic = variadic
        prim.own_inverse = own_inverse
        return prim

    return make


def view(
    transpose: Rule,
    *,
    aval: ShapeRule,
    lift: Callable[[int, int, dict], dict],
    may_copy: bool = False,
) -> Any:
    """Declare a linear primitive whose result shares memory with its operand."""

    def make(impl: Callable[..., Any]) -> LinearView:
        prim = LinearView(impl, (transpose,), aval=aval)
        prim.lift = lift
        prim.may_copy = may_copy
        return prim

    return make


def bilinear(left: Rule, right: Rule, **family: Any) -> Callable[[Callable[..., Any]], Bilinear]:
    """Declare a bilinear primitive by its transpose with respect to either operand."""
    return lambda impl: Bilinear(impl, (left, right), **family)


def general(*maps: Rule | None, **family: Any) -> Callable[[Callable[..., Any]], General]:
    """Declare any other primitive by the linear map of each operand's tangent."""
    return lambda impl: General(impl, maps, **family)


def constant(**family: Any) -> Callable[[Callable[..., Any]], Constant]:
    """Declare a primitive whose derivative is zero, with the family's shape and batch rules."""
    return lambda impl: Constant(impl, (), **family)
