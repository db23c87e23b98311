"""From users' calls to flat lists and back: trees of arrays, argnums, and one clear error each."""

from __future__ import annotations

import inspect
import reprlib
import sys
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from .. import tree
from ..backend import NAMESPACES, register, unfit
from ..core import Aval, Tracer, aval_of, require_live, tangent_dtype
from ..errors import ArgumentError, ShapeError, where
from ..views import shows_another, snapshot

FLOAT0 = np.dtype([("float0", np.void, 0)])  # the dtype of the derivative by an integer, as in JAX


class Flat:
    """`f` as a function of a flat list that returns a flat list; remembers the output's tree."""

    __slots__ = ("_aux", "f", "has_aux", "origin", "out_def", "treedef")

    def __init__(
        self, f: Callable[..., Any], treedef: Any, *, has_aux: bool = False, origin: Any = None
    ) -> None:
        self.f = f
        self.origin = origin or f
        self.treedef = treedef
        self.has_aux = has_aux
        self.out_def: Any = None
        self._aux: Any = None

    def __call__(self, *leaves: Any) -> list[Any]:
        out = self.f(*tree.unflatten(self.treedef, leaves))
        if isinstance(out, Tracer) and not self.has_aux:
            require_live("result", out)
            self.out_def = tree.LEAF
            return [out]
        if self.has_aux:
            if not (isinstance(out, tuple) and len(out) == 2):
                raise ArgumentError(
                    f"has_aux=True: the function must return a pair (output, aux), found "
                    f"{type(out).__name__}{where()}"
                )
            out, self._aux = out
        outs, self.out_def = flat_outputs(out)
        for x, path in zip(outs, self.out_def.paths(), strict=True):
            if not is_array(x):
                raise ArgumentError(
                    f"the function's output{tree.key_str(path)} "
                    f"{unfit(x, 'need arrays or numbers')}{where()}"
                )
        return outs

    def aux_values(self, value_of: Callable[[Any], Any]) -> Any:
        """The auxiliary output with tracers replaced by their values."""
        return tree.map(value_of, self._aux)


def flat_outputs(out: Any) -> tuple[list[Any], Any]:
    """The leaves of what a traced function returned, and the tree.

    A value type (`core.EvalTrace`) may be returned: its attribute `__traced__` is the array it holds.

    Raises: EscapedTracerError: a leaf was kept from another trace.
    """
    outs, out_def = tree.flatten(out)
    outs = [x.__traced__ if hasattr(x.__class__, "__traced__") else x for x in outs]
    for x in outs:
        require_live("result", x)
    return outs, out_def


def origin(f: Any) -> Any:
    """The user's function behind a flat one, for messages."""
    return getattr(f, "origin", f)


def is_array(x: Any) -> bool:
    """Whether `x` is an array, a traced value or a number."""
    if x.__class__ in NAMESPACES or isinstance(x, Tracer):
        return True
    try:
        register(x.__class__)
    except (KeyError, ArgumentError):
        return False
    return True


def require_arrays(transform: str, leaves: Sequence[Any], treedef: Any, depth: int) -> None:
    """Raise unless the leaves are arrays, numbers or types, and no traced value of an earlier trace.

    `depth` is how many keys of a leaf's path come before the argument's own.
    """
    for i, x in enumerate(leaves):
        if not is_array(x) and x.__class__ is not Aval:
            name = argument_name(treedef.paths()[i], depth)
            raise ArgumentError(f"{transform}: argument {name} {unfit(x)}{where()}")
        require_live(transform, x)


def argument_name(path: Any, depth: int = 0) -> str:
    """How an error names a leaf of the arguments: ``0['w']`` or ``x[1]``."""
    return f"{path[depth].key}{tree.key_str(path[depth + 1 :])}"


def as_primal(transform: str, name: str, x: Any, *, allow_int: bool = False) -> Any:
    """An argument to differentiate by: a bare Python number becomes a NumPy scalar.

    Raises: ArgumentError: not an array, or (unless `allow_int`) an integer or boolean array.
    """
    if x.__class__ is float or x.__class__ is int:
        return np.float64(x)
    if x.__class__ is complex:
        return np.complex128(x)
    if not is_array(x):
        raise ArgumentError(f"{transform}: argument {name} {unfit(x)}{where()}")
    aval = aval_of(x)
    if aval.weak and aval.dtype.kind == "i":
        return x * 1.0
    if aval.dtype.kind not in "fc" and not allow_int:
        raise ArgumentError(
            f"{transform}: argument {name} is {aval}; need a floating or complex array: "
            f"convert it with .astype(float){where()}"
        )
    return x


def flatten_primals(transform: str, primals: tuple[Any, ...]) -> tuple[list[Any], Any]:
    """The leaves of the arguments of `vjp` and `linearize`."""
    leaves, treedef = tree.flatten(primals)
    checked = [
        as_primal(transform, argument_name(path), x)
        for x, path in zip(leaves, treedef.paths(), strict=True)
    ]
    return checked, treedef


def _like(transform: str, what: str, path: Any, x: Any, aval: Aval) -> Any:
    """`x` checked to be a tangent or cotangent of a value of type `aval`, cast to its dtype."""
    name = f"{what}{tree.key_str(path)}"
    if not is_array(x):
        raise ArgumentError(
            f"{transform}: {name} {unfit(x, f'need an array of type {aval}')}{where()}"
        )
    found = aval_of(x)
    if found.shape != aval.shape:
        raise ShapeError(
            f"{transform}: {name} has shape {list(found.shape)}; need the shape of the value it "
            f"belongs to, {list(aval.shape)}{where()}"
        )
    dtype = tangent_dtype(aval.dtype)
    if found.dtype == dtype and not found.weak:
        return x
    if not np.can_cast(found.dtype, dtype, "same_kind"):
        raise ArgumentError(f"{transform}: {name} is {found}; need dtype {dtype.name}{where()}")
    return dtype.type(x) if found.weak and not isinstance(x, Tracer) else x.astype(dtype)


def flat_tangents(
    transform: str, treedef: Any, primals: Sequence[Any], tangents: tuple[Any, ...]
) -> list[Any]:
    """The leaves of `tangents`, which must match the primals in structure, shape and dtype."""
    leaves, found = tree.flatten(tuple(tangents))
    if found != treedef:
        raise ArgumentError(
            f"{transform}: tangents have the structure {found}, primals {treedef}{where()}"
        )
    return [
        _like(transform, "tangent", path, t, aval_of(x))
        for t, x, path in zip(leaves, primals, treedef.paths(), strict=True)
    ]


def flat_cotangents(transform: str, out_def: Any, outs: Sequence[Any], ct: Any) -> list[Any]:
    """The leaves of `ct`, which must match the outputs in structure, shape and dtype."""
    leaves, found = tree.flatten(ct)
    if found != out_def:
        raise ArgumentError(
            f"{transform}: the cotangent has the structure {found}, the output {out_def}{where()}"
        )
    return [
        _like(transform, "cotangent", path, c, x.aval if hasattr(x, "aval") else aval_of(x))
        for c, x, path in zip(leaves, outs, out_def.paths(), strict=True)
    ]


def own(results: Sequence[Any], foreign: Sequence[Any] = ()) -> list[Any]:
    """Results that the caller may write into: no views, no array twice, none of `foreign`."""
    seen = {id(x) for x in foreign}
    out = []
    for x in results:
        if isinstance(x, np.generic):  # nobody can write into it
            pass
        elif isinstance(x, Tracer):
            x = snapshot(x, copy=False) if id(x) in seen or shows_another(x) else x
        elif NAMESPACES.get(x.__class__) is not None:
            writeable = getattr(x.flags, "writeable", True)
            x = x if writeable and x.base is None and id(x) not in seen else x.copy()
        seen.add(id(x))
        out.append(x)
    return out


# ---------------------------------------------------------------- what a transform is made of


def global_name(f: Any) -> str | None:
    """The qualified name by which a function is found in its module, and pickled; None if it is not."""
    name, module = getattr(f, "__qualname__", ""), getattr(f, "__module__", None)
    found: Any = sys.modules.get(module or "")
    for part in name.split("."):
        found = getattr(found, part, None)
    return name if found is f else None


def require_callable(transform: str, f: Any, *, makes: bool = False) -> None:
    """Raise unless `f` can be called; `makes`: the transform returns a function."""
    if not callable(f):
        hint = f"; write {transform}(f)(x), not {transform}(f(x))" if makes else ""
        raise ArgumentError(
            f"{transform}: the first argument must be a function, found {type(f).__name__}{hint}"
            f"{where()}"
        )


def require_selection(transform: str, argnums: Any, argnames: Any) -> None:
    """Raise unless `argnums` are positions and `argnames` names."""
    for name, found, cls, what in (
        ("argnums", argnums, int | np.integer, "an int or several"),
        ("argnames", argnames, str, "a name or several"),
    ):
        if found is None or isinstance(found, cls):
            continue
        if not (isinstance(found, list | tuple | range) and all(isinstance(i, cls) for i in found)):
            raise ArgumentError(
                f"{transform}: {name} must be {what}, found {reprlib.repr(found)}; positions go "
                f"into argnums, names into argnames, arguments into {transform}(f)(...){where()}"
            )


# ---------------------------------------------------------------- argnums and argnames


class Selection:
    """Which arguments of a call are differentiated, and how their gradients are returned."""

    __slots__ = ("args", "keys", "kwargs", "single", "values")
    keys: list[int | str]

    def __init__(
        self,
        transform: str,
        f: Callable[..., Any],
        args: tuple[Any, ...],
        kwargs: dict[str, Any],
        argnums: int | Sequence[int] | None,
        argnames: str | Sequence[str] | None,
    ) -> None:
        if argnums is None and argnames is None:
            argnums = 0
        self.args = args
        self.kwargs = kwargs
        if argnums.__class__ is int and argnames is None and 0 <= argnums < len(args):
            self.single = True
            self.keys = [argnums]
            self.values = [args[argnums]]
            return
        if isinstance(argnums, np.integer):
            argnums = int(argnums)
        self.single = isinstance(argnums, int) != isinstance(argnames, str)
        if argnums is not None and argnames is not None:
            self.single = False
        nums = () if argnums is None else (argnums,) if isinstance(argnums, int) else argnums
        names = () if argnames is None else (argnames,) if isinstance(argnames, str) else argnames
        self.keys = [self._place(transform, f, int(n)) for n in nums]
        for name in names:
            self.keys.append(self._named(transform, f, name))
        if len(set(self.keys)) != len(self.keys):
            raise ArgumentError(f"{transform}: an argument is selected twice{where()}")
        self.values = [args[k] if isinstance(k, int) else kwargs[k] for k in self.keys]

    def _place(self, transform: str, f: Callable[..., Any], n: int) -> int | str:
        """The position or keyword under which argument number `n` was passed."""
        count = len(self.args)
        if -count <= n < count:
            return n % count
        names = _parameter_names(f)
        if 0 <= n < len(names) and names[n] in self.kwargs:
            return names[n]
        raise ArgumentError(
            f"{transform}: argnums={n}, but the call has {count} positional arguments"
            + (f" and keywords {', '.join(self.kwargs)}" if self.kwargs else "")
            + where()
        )

    def _named(self, transform: str, f: Callable[..., Any], name: str) -> int | str:
        if name in self.kwargs:
            return name
        names = _parameter_names(f)
        if name in names and names.index(name) < len(self.args):
            return names.index(name)
        raise ArgumentError(
            f"{transform}: argnames={name!r}, but the call has no such argument{where()}"
        )

    def call(self, f: Callable[..., Any], values: Sequence[Any]) -> Any:
        """`f` with the selected arguments replaced by `values`."""
        args = list(self.args)
        if self.single and self.keys[0].__class__ is int:
            args[self.keys[0]] = values[0]
            return f(*args, **self.kwargs)
        kwargs = dict(self.kwargs)
        for key, value in zip(self.keys, values, strict=True):
            if isinstance(key, int):
                args[key] = value
            else:
                kwargs[key] = value
        return f(*args, **kwargs)

    def leaves(self, transform: str, *, allow_int: bool = False) -> tuple[list[Any], Any]:
        """The arrays to differentiate by, and their tree (a tuple, one entry per argument)."""
        leaves, treedef = tree.flatten(tuple(self.values))
        if all(x.__class__ is np.ndarray and x.dtype.kind in "fc" for x in leaves):
            return leaves, treedef
        out = []
        for x, path in zip(leaves, treedef.paths(), strict=True):
            key = self.keys[path[0].key]
            out.append(
                as_primal(transform, f"{key}{tree.key_str(path[1:])}", x, allow_int=allow_int)
            )
        return out, treedef

    def result(self, per_argument: tuple[Any, ...]) -> Any:
        """One gradient, or the tuple of them."""
        return per_argument[0] if self.single else per_argument


def _parameter_names(f: Callable[..., Any]) -> list[str]:
    try:
        parameters = inspect.signature(f).parameters.values()
    except (TypeError, ValueError):
        return []
    return [p.name for p in parameters if p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD)]


def zero_derivative(aval: Aval, xp: Any) -> Any:
    """The derivative by a value that nothing depends on; of dtype float0 for an integer."""
    if aval.dtype.kind not in "fc":
        return np.zeros(aval.shape, FLOAT0)
    return xp.zeros(aval.shape, aval.dtype)


def is_bound(cell: Any) -> bool:
    """Whether a variable of an enclosing function has a value by now."""
    try:
        cell.cell_contents  # noqa: B018
    except ValueError:
        return False
    return True


def require_tuples(name: str, **given: Any) -> None:
    """Require values for the arguments of a function, one entry each.

    Raises: ArgumentError: it is another thing than a tuple or list.
    """
    for what, value in given.items():
        if not isinstance(value, tuple | list):
            raise ArgumentError(
                f"{name}: {what} must be a tuple, one entry per argument of the function; found "
                f"{type(value).__name__}{where()}"
            )
