"""Functions with MyGrad's arguments, made from NumPy's: one class for each way of being called."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ..autograd.base import tensor
from ..autograd.tape import tape_array
from ._graph import (
    NO_VIEWS,
    NONE,
    Options,
    Recorded,
    TensorCore,
    apply,
    array_of,
    arrays_of,
    finish,
    gather,
    plain,
    traced,
)
from ._memory import state
from ._writing import write

__all__ = ["Function", "SequenceFunction", "Ufunc", "ufunc"]

ndarray = np.ndarray
_new = object.__new__

# Which of ours answers for which of NumPy's.
OVERRIDES: dict[Any, Callable[..., Any]] = {}


class Function:
    """A function of tensors: its first arguments, which gradients go to, and options.

    `arrays` is it on arrays, `traced` on traced ones if that is another, `fast` on tensors of `compat`
    of one floating dtype. `parameters` are those after the operands. `views`: results may show the
    memory of the first operand.
    """

    def __init__(
        self,
        name: str,
        arrays: Callable[..., Any],
        parameters: str = "",
        *,
        operands: str = "a",
        fast: Callable[..., Any] | None = None,
        traced: Callable[..., Any] | None = None,
        views: bool = False,
        numbers: bool = False,
        overrides: Sequence[Any] = (),
        does: str = "",
    ) -> None:
        self.__name__ = self.__qualname__ = name
        self.arrays = arrays
        self.traced = arrays if traced is None else traced
        self.fast = fast
        self.operands = tuple(operands.split())
        self.parameters = tuple(parameters.split())
        self.views = views
        self.numbers = numbers
        self.copies_numbers: Callable[..., bool] | None = None
        self.__doc__ = does or f"As ``np.{name}``, on tensors."
        words = name.strip("_").split("_")
        kind = "".join(word[:1].upper() + word[1:] for word in words)
        self.step: type[Recorded] = type(
            kind, (Recorded,), {"__slots__": (), "function": self, "__module__": __name__}
        )
        for f in overrides:
            OVERRIDES[f] = self

    def __call__(self, *args: Any, **options: Any) -> Any:
        constant = options.pop("constant", None)
        given, options = self._arguments(args, options)
        return self._called(given, options, constant)

    def _arguments(self, args: Sequence[Any], options: Options) -> tuple[Sequence[Any], Options]:
        """The operands, and everything else by name.

        Raises: TypeError: there are too many arguments, too few, or one twice.
        """
        count = len(self.operands)
        given = list(args[:count])
        for name in self.operands[len(given) :]:
            if name not in options:
                raise TypeError(f"{self.__name__}() missing 1 required argument: {name!r}")
            given.append(options.pop(name))
        rest = args[count:]
        if len(rest) > len(self.parameters):
            most = count + len(self.parameters)
            raise TypeError(
                f"{self.__name__}() takes {most} positional arguments but {len(args)} were given"
            )
        for name, value in zip(self.parameters, rest, strict=False):
            if name in options:
                raise TypeError(f"{self.__name__}() got multiple values for argument {name!r}")
            options[name] = value
        for name in options:
            if name not in self.parameters:
                raise TypeError(f"{self.__name__}() got an unexpected keyword argument {name!r}")
        return given, options

    def _called(self, operands: Sequence[Any], options: Options, constant: bool | None) -> Any:
        out = options.pop("out", None)
        if out is not None:
            return into(self, operands, (), options, constant, out)
        return apply(self, operands, (), options, constant)

    def __get__(self, instance: Any, owner: Any = None) -> Any:
        return self if instance is None else Bound(self, instance)

    def write(
        self, to: Any, operands: Sequence[Any], args: Sequence[Any], options: Options
    ) -> None:
        """Write the result into `to`, an array or a traced one."""
        f = self.arrays if to.__class__ is ndarray else self.traced
        to[...] = f(*operands, *args, **options)

    @property
    def __signature__(self) -> inspect.Signature:
        kinds = inspect.Parameter
        first = [kinds(n, kinds.POSITIONAL_OR_KEYWORD) for n in self.operands]
        more = [kinds(n, kinds.POSITIONAL_OR_KEYWORD, default=None) for n in self.parameters]
        return inspect.Signature(
            [*first, *more, kinds("constant", kinds.KEYWORD_ONLY, default=None)]
        )

    def __repr__(self) -> str:
        return f"<function {self.__name__}>"

    def __reduce__(self) -> str:
        return self.__name__


class Bound:
    """A function as a method of a tensor."""

    __slots__ = ("__func__", "__self__")

    def __init__(self, function: Function, instance: Any) -> None:
        self.__func__ = function
        self.__self__ = instance

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        return self.__func__(self.__self__, *args, **kwargs)

    @property
    def __doc__(self) -> str | None:  # type: ignore[override]
        return self.__func__.__doc__


class SequenceFunction(Function):
    """A function whose first argument is a sequence of tensors."""

    def __call__(self, *args: Any, **options: Any) -> Any:
        constant = options.pop("constant", None)
        (given,), options = self._arguments(args, options)
        return self._called(tuple(given), options, constant)


# ---------------------------------------------------------------- ufuncs


class Ufunc(Function):
    """A function of elements, with NumPy's `out`, `where` and `dtype`."""

    def __init__(self, name: str, ufunc: Any, fast: Any = None, *, numbers: bool = False) -> None:
        super().__init__(
            name,
            ufunc,
            "out where dtype" if ufunc.signature is None else "out dtype",
            operands="x1 x2" if ufunc.nin == 2 else "x",
            fast=fast,
            numbers=numbers,
            overrides=[ufunc],
            does=f"As ``np.{name}``, element by element.",
        )
        self.ufunc = ufunc

    def _called(self, operands: Sequence[Any], options: Options, constant: bool | None) -> Any:
        out = options.pop("out", None)
        if out.__class__ is tuple:
            (out,) = out
        where = options.get("where", True)
        if where is True:
            options.pop("where", None)
        else:
            options["where"] = array_of(where)
        if options.get("dtype") is None:
            options.pop("dtype", None)
        if out is None and "where" in options:
            out = _unset(self.ufunc, operands, options)
        if out is not None:
            return into(self, operands, (), options, constant, out)
        return apply(self, operands, (), options, constant)

    def write(
        self, to: Any, operands: Sequence[Any], args: Sequence[Any], options: Options
    ) -> None:
        if to.__class__ is ndarray:
            self.ufunc(*operands, *args, out=to, **options)
        else:
            self.traced(*operands, *args, out=(to,), **options)

    def __getattr__(self, name: str) -> Any:
        """What NumPy says of the ufunc: `nin`, `nout`, `identity`, `types` ..."""
        if name in ("at", "accumulate", "outer", "reduce", "reduceat"):
            raise NotImplementedError(
                f"{self.__name__}.{name}: MyGrad has no derivative of it; use the function for it, "
                "such as sum for add.reduce"
            )
        if name == "types":
            return [t for t in self.ufunc.types if not set(t) & set("FDGMmO")]
        if name == "ntypes":
            return len(self.types)
        if name in ("nin", "nout", "nargs", "identity", "signature", "resolve_dtypes"):
            return getattr(self.ufunc, name)
        raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")

    def __repr__(self) -> str:
        return f"<mygrad-ufunc {self.__name__!r}>"


class MyGradUnaryUfunc(Ufunc):
    """A function of one array, element by element."""

    def __call__(self, *args: Any, **options: Any) -> Any:
        if len(args) == 1 and not options:
            return apply(self, args)
        return super().__call__(*args, **options)


class MyGradBinaryUfunc(Ufunc):
    """A function of two arrays, element by element."""

    def __call__(self, *args: Any, **options: Any) -> Any:
        if len(args) == 2 and not options:
            return apply(self, args)
        return super().__call__(*args, **options)


class _UfuncType(type):
    """MyGrad's ufuncs are classes; ours count as subclasses, too."""

    def __subclasscheck__(cls, other: Any) -> bool:
        return isinstance(other, Ufunc) or (isinstance(other, type) and issubclass(other, Ufunc))

    def __instancecheck__(cls, other: Any) -> bool:
        return isinstance(other, Ufunc)


class ufunc(metaclass=_UfuncType):
    """What all of MyGrad's ufuncs are.

    >>> import compat.mygrad as mg
    >>> isinstance(mg.add, mg.ufunc), mg.add.nin
    (True, 2)
    """


def _unset(of: Any, operands: Sequence[Any], options: Options) -> ndarray:
    """An array for the result of a ufunc under a mask; where the mask is False, that is 0."""
    arrays = [array_of(a) for a in operands]
    dtype = options.get("dtype")
    dtypes = (*(a.dtype for a in arrays), *[None] * of.nout)
    wanted = {}
    if dtype is not None:
        wanted["signature"] = (None,) * of.nin + (np.dtype(dtype),) * of.nout
    found = of.resolve_dtypes(dtypes, casting="same_kind", **wanted)[-1]
    shape = np.broadcast_shapes(*(a.shape for a in arrays), np.shape(options["where"]))
    return np.zeros(shape, found)


# ---------------------------------------------------------------- out=


def into(
    f: Function,
    operands: Sequence[Any],
    args: Sequence[Any],
    options: Options,
    constant: bool | None,
    out: Any,
) -> Any:
    """The function with `out`: a tensor gets the value in place, an array becomes the result's.

    Raises: TypeError: the dtype of the result does not fit. ValueError: the shape does not.
    """
    if out.__class__ is tuple:
        (out,) = out
    if isinstance(out, TensorCore):
        return write(out, f, operands, args, options)
    if not isinstance(out, ndarray):
        raise TypeError(
            f"{f.__name__}: out= needs an array or a tensor, found {type(out).__name__}"
        )
    if not state.tracks:
        f.write(out, [array_of(a) for a in operands], args, options)
        return plain(out, constant)
    inputs, sources, live, _ = gather(operands, False)
    old = out.copy() if live else out
    if live and any(np.may_share_memory(out, a) for a in arrays_of(inputs)):
        raise ValueError(
            f"{f.__name__}: out= is memory of an operand, whose values gradients need; give the tensor "
            "itself, or another array"
        )
    f.write(out, arrays_of(inputs), args, options)
    if not live:
        t = tensor(out)
    else:
        t = traced(_writing(f, old, args, options), inputs, (), NONE)
        t._array = out
    return finish(NO_VIEWS, _new(f.step), operands, inputs, sources, live, t, (), NONE, constant)


def _writing(f: Function, old: ndarray, args: Sequence[Any], options: Options) -> Any:
    """The function as one of its operands that gives what `old` is after the write."""

    def written(*operands: Any) -> Any:
        face = tape_array(tensor(old))
        f.write(face, operands, args, options)
        return face

    return written
