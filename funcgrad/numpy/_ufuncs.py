"""NumPy's ufuncs: the options ``out=``, ``where=``, ``dtype=``, ``casting=``, and the methods.

A primitive, or a composition, that NumPy has as a ufunc is made one here. A call without options is
not concerned. One with options is a call of NumPy's own ufunc, which does everything for plain arrays
and asks `call_with_options`, through its protocol, where there are traced ones.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from ..algebra import broadcast_shapes
from ..core import Primitive, Tracer, aval_of, current
from ..errors import ArgumentError, HandoverError, where
from ..ops.select import where as _choose
from ..ops.structural import broadcast_to
from ._arguments import contains_foreign, converted, operand, written

_get_current = current.get

# A point where the functions and their slopes are finite: it stands where a mask leaves elements out.
_HARMLESS = {"f": 0.5, "c": 0.5, "i": 1, "u": 1, "b": True}
_HARMLESS_OF = {"arccosh": 2.0}


# ---------------------------------------------------------------- what users call


class Ufunc:
    """What all of NumPy's ufuncs have: their attributes and methods, on traced arrays too."""

    theirs: np.ufunc

    @property
    def nin(self) -> int:
        return self.theirs.nin

    @property
    def nout(self) -> int:
        return self.theirs.nout

    @property
    def nargs(self) -> int:
        return self.theirs.nargs

    @property
    def ntypes(self) -> int:
        return self.theirs.ntypes

    @property
    def types(self) -> list[str]:
        return self.theirs.types

    @property
    def identity(self) -> Any:
        return self.theirs.identity

    @property
    def signature(self) -> str | None:
        return self.theirs.signature

    def resolve_dtypes(self, *args: Any, **options: Any) -> tuple[Any, ...]:
        """The dtypes of the loop that NumPy takes for operands of given dtypes."""
        return self.theirs.resolve_dtypes(*args, **options)

    def reduce(self, array: Any, *args: Any, **options: Any) -> Any:
        """``f(f(x_0, x_1), ...)`` along axes; NumPy's arguments."""
        return _ask(self.theirs.reduce, (array, *args), options)

    def accumulate(self, array: Any, *args: Any, **options: Any) -> Any:
        """The reductions of all beginnings along an axis; NumPy's arguments."""
        return _ask(self.theirs.accumulate, (array, *args), options)

    def reduceat(self, array: Any, *args: Any, **options: Any) -> Any:
        """The reductions of slices along an axis; NumPy's arguments."""
        return _ask(self.theirs.reduceat, (array, *args), options)

    def outer(self, *args: Any, **options: Any) -> Any:
        """Of every element of the first array with every one of the second."""
        return _ask(self.theirs.outer, args, options)

    def at(self, a: Any, indices: Any, *b: Any) -> None:
        """``a[i] = f(a[i], b_i)``, one after the other, also where an index is there twice."""
        _ask(self.theirs.at, (a, indices, *b), {})


def _with_options(theirs: np.ufunc, args: tuple[Any, ...], options: Mapping[str, Any]) -> Any:
    """A call of a ufunc with more than its operands."""
    if options.get("where", True) is not True and len(args) == theirs.nin:
        require_out(theirs.__name__, options.get("out"))
    return _ask(theirs, args, options)


def _ask(function: Callable[..., Any], args: Sequence[Any], options: Mapping[str, Any]) -> Any:
    """``function(*args, **options)`` of NumPy's, with arrays in place of lists of traced values.

    NumPy looks for traced values among operands and results only: where one is in another place
    (a mask, an initial value), the first operand becomes a traced constant.
    """
    args = [_assembled(a) for a in args]
    others = [a for a in options.values() if isinstance(a, Tracer)]
    others += [a for a in args[1:] if isinstance(a, Tracer)]
    if others and not isinstance(args[0], Tracer):
        args[0] = others[0].owner.lift(np.asarray(args[0]))
    return function(*args, **options)


def _assembled(x: Any) -> Any:
    return operand(x) if isinstance(x, list | tuple) and contains_foreign(x) else x


class _Unary(Ufunc):
    """The call of a primitive with one operand; looking for options costs it 15 ns."""

    def __call__(self, *args: Any, **options: Any) -> Any:
        try:
            (_,) = args
        except ValueError:
            return _with_options(self.theirs, args, options)  # `out` among them, or too few
        if options:
            return _with_options(self.theirs, args, options)
        try:
            return _get_current().process(self, args, options)  # type: ignore[arg-type]
        except TypeError:
            return self(*_without_lists(args))


class _Binary(Ufunc):
    """The call of a primitive with two operands; looking for options costs it 15 ns."""

    def __call__(self, *args: Any, **options: Any) -> Any:
        try:
            _, _ = args
        except ValueError:
            return _with_options(self.theirs, args, options)  # `out` among them, or too few
        if options:
            return _with_options(self.theirs, args, options)
        try:
            return _get_current().process(self, args, options)  # type: ignore[arg-type]
        except TypeError:
            return self(*_without_lists(args))


def _without_lists(args: tuple[Any, ...]) -> list[Any]:
    """The operands with arrays in place of lists of traced values.

    Raises: the exception that is being handled, where there are none.
    """
    made = [_assembled(a) for a in args]
    if all(a is b for a, b in zip(args, made, strict=True)):
        raise
    return made


def with_options(name: str, args: tuple[Any, ...], options: Mapping[str, Any]) -> Any:
    """A call of a composition that NumPy has as a ufunc, with more than its operands."""
    return _with_options(getattr(np, name), args, options)


_KINDS: dict[Any, type[Primitive]] = {}


def _kind(kind: type[Primitive], nin: int) -> type[Primitive]:
    """The kind of primitive that is a ufunc, too."""
    if (kind, nin) not in _KINDS:
        bases = (_Unary if nin == 1 else _Binary, kind)
        _KINDS[kind, nin] = type(f"{kind.__name__}Ufunc", bases, {})
    return _KINDS[kind, nin]


def make_ufuncs(functions: Mapping[str, Any]) -> None:
    """Turn the primitives that bear the names of NumPy's ufuncs into ufuncs."""
    for name, prim in functions.items():
        theirs = getattr(np, name, None)
        if not isinstance(theirs, np.ufunc) or hasattr(prim, "nin"):  # an alias
            continue
        if isinstance(prim, Primitive):
            prim.__class__ = _kind(type(prim), theirs.nin)
            prim.theirs = theirs  # type: ignore[attr-defined]
        else:
            _give_methods(prim, theirs)


def _give_methods(function: Any, theirs: np.ufunc) -> None:
    """The attributes and methods of a ufunc, to a composition."""
    methods = Ufunc()
    methods.theirs = theirs
    for name in vars(Ufunc):
        if not name.startswith("_"):
            setattr(function, name, getattr(methods, name))
    function.__signature__ = _signature(function, theirs)


def _signature(function: Any, theirs: np.ufunc) -> inspect.Signature:
    """That of the function, with NumPy's options in place of what collects them."""
    kinds = inspect.Parameter
    shown = inspect.signature(function).parameters.values()
    own = [p for p in shown if p.kind not in (kinds.VAR_POSITIONAL, kinds.VAR_KEYWORD)]
    out = inspect.Parameter(
        "out",
        kinds.POSITIONAL_OR_KEYWORD,
        default=None if theirs.nout == 1 else (None,) * theirs.nout,
    )
    options = {"where": True, "casting": "same_kind", "dtype": None, "subok": True}
    if theirs.signature is not None:
        del options["where"]
    own[theirs.nin : theirs.nin] = [out]
    own += [kinds(n, kinds.KEYWORD_ONLY, default=d) for n, d in options.items()]
    return inspect.Signature(own)


# ---------------------------------------------------------------- calls with options


def call_with_options(
    ufunc: Any, answer: Callable[..., Any], inputs: Sequence[Any], kwargs: dict[str, Any]
) -> Any:
    """``ufunc(*inputs, **kwargs)`` where something is traced; `answer`: our counterpart.

    Raises: ArgumentError: NumPy has no loop for the dtypes, casts nothing so, or `out` is no array.
    HandoverError: an option that is not supported, a mask without `out`, or an `out` that is a plain
    array.
    """
    outs = kwargs.pop("out", None) or (None,) * ufunc.nout
    mask = kwargs.pop("where", True)
    casting = kwargs.pop("casting", "same_kind")
    signature = kwargs.pop("signature", None)
    dtype = kwargs.pop("dtype", None)
    kwargs.pop("subok", None)
    name = ufunc.__name__
    if kwargs.pop("order", "K") == "F":
        raise ArgumentError(f"np.{name}: order='F'; traced arrays are in C order{where()}")
    options = {}
    if ufunc is np.vecdot:
        options = {k: kwargs.pop(k) for k in ("axis", "keepdims") if k in kwargs}
    refused = [k for k, v in kwargs.items() if v is not None]
    if refused:
        raise HandoverError(f"np.{name}: {refused[0]}= is not supported on traced values{where()}")
    loop: Sequence[Any] = (None,) * ufunc.nargs
    if mask is not True:
        require_out(name, outs)
        require_booleans(name, mask)
    if mask is not True or dtype is not None or signature is not None or casting != "same_kind":
        loop = _loop(ufunc, inputs, dtype, signature, casting)
    inputs = [converted(x, d) for x, d in zip(inputs, loop, strict=False)]
    if mask is not True:
        inputs = [_harmless(ufunc, mask, x) for x in inputs]
    result = answer(*inputs, **options)
    results = result if ufunc.nout > 1 else (result,)
    what = f"np.{name} with out=, or an in-place operator such as +=,"
    results = tuple(
        _finished(what, y, d, out, mask, casting)
        for y, d, out in zip(results, loop[ufunc.nin :], outs, strict=True)
    )
    return results if ufunc.nout > 1 else results[0]


def _finished(what: str, y: Any, dtype: Any, out: Any, mask: Any, casting: str) -> Any:
    """The result in the dtype of the loop, under the mask, in `out`."""
    y = converted(y, dtype)
    if out is None:
        return y
    if not hasattr(out, "shape"):
        raise ArgumentError(f"{what} needs an array, found {type(out).__name__}{where()}")
    shape = broadcast_shapes(what, [y.shape, out.shape])  # a ufunc repeats its operands
    y = y if shape == y.shape else broadcast_to(y, shape=shape)
    return written(what, y, out, casting, mask)


def _loop(ufunc: Any, inputs: Any, dtype: Any, signature: Any, casting: str) -> Sequence[Any]:
    """The dtypes of operands and results that NumPy computes in.

    Raises: ArgumentError: there is no such loop, or the operands are not cast to it.
    """
    if isinstance(signature, str):
        signature = tuple(signature.replace("->", ""))
    elif dtype is not None:
        signature = (None,) * ufunc.nin + (np.dtype(dtype),) * ufunc.nout
    given = [_dtype_or_type(x) for x in inputs] + [None] * ufunc.nout
    try:
        if signature is not None:
            signature = tuple(None if d is None else np.dtype(d) for d in signature)
            return ufunc.resolve_dtypes(tuple(given), signature=signature, casting=casting)
        return ufunc.resolve_dtypes(tuple(given), casting=casting)
    except (TypeError, ValueError) as error:
        raise ArgumentError(f"np.{ufunc.__name__}: {error}{where()}") from None


def _dtype_or_type(x: Any) -> Any:
    """A dtype, or the type of a bare number, which does not widen the others."""
    aval = aval_of(x)
    kinds = {"i": int, "u": int, "f": float, "c": complex}
    return kinds.get(aval.dtype.kind, aval.dtype) if aval.weak else aval.dtype


def _harmless(ufunc: Any, mask: Any, x: Any) -> Any:
    """`x`, with a point where nothing is singular in place of what the mask leaves out."""
    kind = aval_of(x).dtype.kind
    point = _HARMLESS_OF.get(ufunc.__name__) if kind in "fc" else None
    return _choose(mask, x, _HARMLESS[kind] if point is None else point)


def require_booleans(name: str, mask: Any) -> None:
    if aval_of(operand(mask)).dtype.kind != "b":
        raise ArgumentError(
            f"np.{name}: where= must be of booleans, found {aval_of(operand(mask))}{where()}"
        )


def require_out(name: str, out: Any) -> None:
    outs = out if isinstance(out, tuple) else (out,)
    if any(o is None for o in outs):
        raise HandoverError(
            f"np.{name}: where= without out= leaves elements undefined; give "
            f"out=fnp.zeros(...), or use fnp.where(mask, result, other){where()}"
        )
