"""`compat.func`: functional transforms of functions of tensors, over funcgrad's own.

Layer 8. Tensors go in and come out; inside, `f` sees tensors that hold the transform's traced values.
A tape outside goes on recording (NOTE [Levels] in `autograd/levels.py`), and `f` may use a tape of
its own: `backward()`, hooks, in-place operations and custom `Function`s work in it.
"""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

import funcgrad
from funcgrad import tree
from funcgrad.core import Tracer, aval_of
from funcgrad.core import current as current_trace
from funcgrad.ops.complex import conjugate

from . import _func_checks as checks
from .autograd import modes, views
from .autograd.base import TensorBase, tensor
from .autograd.levels import Level, OuterArray, outer_array
from .autograd.tape import cut, record
from .ops.generator import get_rng_state, set_rng_state
from .ops.join import cat


class _Inner:
    """A function of tensors as a transform sees it, of arrays; messages know it as the user's."""

    def __init__(self, call: _Call, f: Callable[..., Any]) -> None:
        self.call = call
        f = inspect.unwrap(f)
        self.__name__ = getattr(f, "__name__", type(f).__name__)
        self.__code__ = getattr(f, "__code__", None)

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        outs = self.call.run_user(args, kwargs)
        return tree.tree_map(_as_array, tree.tree_map(self.call.level.read, outs))


class _Call:
    """One call of a transformed function: how its tensors become arrays and back."""

    def __init__(self, f: Callable[..., Any], randomness: str | None = None) -> None:
        self.f = f
        self.inner = _Inner(self, f)
        self.level = Level(randomness)

    def transform(self, f: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
        """``f(*args, **kwargs)``, a transform of funcgrad's; its errors are PyTorch's."""
        with checks.torchs_words():
            return self.level.transform(f, *args, **kwargs)

    def run(self, f: Callable[..., Any], *args: Any) -> Any:
        """``f(*args)``, what a transform has returned."""
        with checks.torchs_words():
            return self.level.run(f, *args)

    def array(self, x: Any) -> Any:
        """What the transform is given for a tensor."""
        if not isinstance(x, TensorBase):
            return x
        return x._array if views.edge(x) is None else outer_array(x, self.level)

    def arrays(self, x: Any) -> Any:
        return tree.tree_map(self.array, x)

    def tensors(self, x: Any) -> Any:
        """What comes back, as tensors."""
        return tree.tree_map(self._tensor, x)

    def _tensor(self, x: Any) -> Any:
        if x.__class__ is OuterArray and x.level is self.level:
            return x.tensor
        mode = modes.get()
        return _as_tensor(x if mode.level is None or mode.records else cut(x))

    def run_user(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """The user's function of arrays, as tensors."""
        args, kwargs = tree.tree_map(_as_tensor, (args, kwargs))
        return self.level.run(self.f, *args, **kwargs)


class _BatchedCall(_Call):
    """A call of a function that `vmap` has transformed.

    It runs once for each chunk of examples; with the `randomness` "same" all draw the same numbers.
    """

    def __init__(self, f: Callable[..., Any], name: str, out_dims: Any, randomness: str) -> None:
        super().__init__(f, randomness)
        self.name = name
        self.out_dims = out_dims
        self.start: Any = None  # where the stream of random numbers was

    def run_user(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        self.level.batch = current_trace.get()
        if self.level.randomness == "same":
            if self.start is None:
                self.start = get_rng_state()
            else:
                set_rng_state(self.start)
        out = super().run_user(args, kwargs)
        checks.require_outputs(self.name, self.out_dims, out)
        return out


def _as_tensor(x: Any) -> Any:
    return tensor(x) if isinstance(x, Tracer | np.ndarray | np.generic) else x


def _as_array(x: Any) -> Any:
    return x._array if isinstance(x, TensorBase) else x


def _conjugated(x: Any) -> Any:
    """PyTorch's convention for gradients by complex tensors."""
    return record(conjugate, (x,)) if aval_of(x._array).dtype.kind == "c" else x


def _scalar_valued(f: Callable[..., Any], has_aux: bool) -> Callable[..., Any]:
    """`f`, required to return a real tensor without axes, with `has_aux` and something else.

    Raises: RuntimeError: it does not.
    """

    @functools.wraps(f)
    def checked(*args: Any, **kwargs: Any) -> Any:
        out = f(*args, **kwargs)
        if has_aux:
            checks.require_pair(out)
        checks.require_scalar(out[0] if has_aux else out)
        return out

    return checked


def grad_and_value(
    func: Callable[..., Any], argnums: int | tuple[int, ...] = 0, has_aux: bool = False
) -> Callable[..., Any]:
    """The function that returns the gradient of `func` and its value.

    >>> import compat as torch
    >>> torch.func.grad_and_value(lambda x: x**2)(torch.tensor(3.0))
    (tensor(6.), tensor(9.))
    """

    @functools.wraps(func)
    def wrapper(*args: Any, **kwargs: Any) -> Any:
        checks.require_floats("grad", checks.chosen(argnums, args))
        call = _Call(_scalar_valued(func, has_aux))
        transformed = funcgrad.value_and_grad(call.inner, argnums=argnums, has_aux=has_aux)
        value, grads = call.tensors(
            call.transform(transformed, *call.arrays(args), **call.arrays(kwargs))
        )
        return tree.tree_map(_conjugated, grads), value

    return wrapper


def grad(
    func: Callable[..., Any], argnums: int | tuple[int, ...] = 0, has_aux: bool = False
) -> Callable[..., Any]:
    """The function that returns the gradient of `func`, which returns a tensor without axes.

    Raises: RuntimeError: it returns something else.

    >>> import compat as torch
    >>> torch.func.grad(torch.sin)(torch.tensor(0.0))
    tensor(1.)
    """
    both = grad_and_value(func, argnums, has_aux)

    @functools.wraps(func)
    def wrapper(*args: Any, **kwargs: Any) -> Any:
        grads, value = both(*args, **kwargs)
        return (grads, value[1]) if has_aux else grads

    return wrapper


def vjp(func: Callable[..., Any], *primals: Any, has_aux: bool = False) -> tuple[Any, ...]:
    """``func(*primals)`` and the function that pulls cotangents back to the primals.

    >>> import compat as torch
    >>> y, pull = torch.func.vjp(lambda x: x * 2, torch.ones(2))
    >>> pull(torch.ones(2))[0]
    tensor([2., 2.])
    """
    checks.require_floats("vjp", primals)
    call = _Call(func)
    out, pullback, *aux = call.transform(
        funcgrad.vjp, call.inner, *call.arrays(primals), has_aux=has_aux
    )
    out = call.tensors(out)
    outs, treedef = tree.flatten(out)

    def pull(*cotangents: Any) -> tuple[Any, ...]:
        cts = tree.leaves(cotangents)
        checks.require_cotangents(outs, cts)
        given = tree.unflatten(treedef, [call.array(_conjugated(ct)) for ct in cts])
        found = call.run(pullback, given)
        return tuple(tree.tree_map(_conjugated, call.tensors(found)))

    return (out, pull, *map(call.tensors, aux))


def jvp(
    func: Callable[..., Any],
    primals: tuple[Any, ...],
    tangents: tuple[Any, ...],
    *,
    strict: bool = False,
    has_aux: bool = False,
) -> tuple[Any, ...]:
    """``func(*primals)`` and its derivative along the tangents.

    >>> import compat as torch
    >>> torch.func.jvp(torch.sin, (torch.tensor(0.0),), (torch.tensor(2.0),))
    (tensor(0.), tensor(2.))
    """
    checks.require_tangents(primals, tangents)
    call = _Call(func)
    found = call.transform(
        funcgrad.jvp, call.inner, call.arrays(primals), call.arrays(tangents), has_aux=has_aux
    )
    return tuple(map(call.tensors, found))


def linearize(func: Callable[..., Any], *primals: Any) -> tuple[Any, Callable[..., Any]]:
    """``func(*primals)`` and its derivative there, as a function of tangents."""
    checks.require_floats("linearize", primals)
    call = _Call(func)
    out, push = call.transform(funcgrad.linearize, call.inner, *call.arrays(primals))

    def pushforward(*tangents: Any) -> Any:
        return call.tensors(call.run(push, *call.arrays(tangents)))

    return call.tensors(out), pushforward


def vmap(
    func: Callable[..., Any],
    in_dims: Any = 0,
    out_dims: Any = 0,
    randomness: str = "error",
    *,
    chunk_size: int | None = None,
) -> Callable[..., Any]:
    """`func` for a whole batch at once; `in_dims` and `out_dims` say which axis is the batch.

    Keyword arguments are the same for all examples. `randomness`: what drawing random numbers does
    inside, "error", "same" (one draw for all examples) or "different" (each has its own).
    `chunk_size`: how many examples are computed at once.

    Raises: ValueError: the arguments have no such axes, or of different lengths; an output is no
    tensor. RuntimeError: random numbers are drawn with "error", or `randomness` is something else.

    >>> import compat as torch
    >>> torch.func.vmap(torch.dot)(torch.ones(2, 3), torch.ones(2, 3))
    tensor([3., 3.])
    """
    checks.require_randomness(randomness)
    checks.require_chunk_size("vmap", chunk_size)
    name = getattr(func, "__name__", repr(func))

    @functools.wraps(func)
    def wrapper(*args: Any, **kwargs: Any) -> Any:
        checks.require_batch(name, in_dims, args)
        call = _BatchedCall(functools.partial(func, **kwargs), name, out_dims, randomness)
        mapped = funcgrad.vmap(
            call.inner, in_axes=in_dims, out_axes=out_dims, chunk_size=chunk_size
        )
        return call.tensors(call.transform(mapped, *call.arrays(args)))

    return wrapper


# ---------------------------------------------------------------- Jacobians


def _jacobian(
    name: str,
    func: Callable[..., Any],
    argnums: int | tuple[int, ...],
    has_aux: bool,
    randomness: str | None,
) -> Callable[..., Any]:
    @functools.wraps(func)
    def wrapper(*args: Any, **kwargs: Any) -> Any:
        checks.require_floats(name, checks.chosen(argnums, args))
        call = _Call(func, randomness)
        transformed = getattr(funcgrad, name)(call.inner, argnums=argnums, has_aux=has_aux)
        return call.tensors(call.transform(transformed, *call.arrays(args), **call.arrays(kwargs)))

    return wrapper


def jacrev(
    func: Callable[..., Any],
    argnums: int | tuple[int, ...] = 0,
    *,
    has_aux: bool = False,
    chunk_size: int | None = None,
) -> Callable[..., Any]:
    """The function that returns the Jacobian of `func`, row by row (reverse mode).

    `chunk_size`: how many rows are computed at once.

    >>> import compat as torch
    >>> torch.func.jacrev(torch.sin)(torch.zeros(2))
    tensor([[1., 0.],
            [0., 1.]])
    """
    checks.require_chunk_size("jacrev", chunk_size)
    if chunk_size is None:
        return _jacobian("jacrev", func, argnums, has_aux, None)

    @functools.wraps(func)
    def wrapper(*args: Any, **kwargs: Any) -> Any:
        primals = checks.chosen(argnums, args)
        checks.require_floats("jacrev", primals)

        def of_chosen(*values: Any) -> Any:
            given = list(args)
            for n, x in zip(np.atleast_1d(argnums), values, strict=True):
                given[n] = x
            return func(*given, **kwargs)

        out, pull, *aux = vjp(of_chosen, *primals, has_aux=has_aux)
        found = _rows(out, pull, chunk_size)
        if isinstance(argnums, int):
            found = tree.tree_map(lambda _, block: block[0], out, found)
        return (found, *aux) if has_aux else found

    return wrapper


def _rows(out: Any, pull: Callable[..., Any], chunk_size: int) -> Any:
    """The Jacobian of `out`, for each tensor in it like what `pull` returns, some rows at a time."""
    outs, treedef = tree.flatten(out)
    ends = np.cumsum([x.numel() for x in outs])
    parts = []
    for start in range(0, max(int(ends[-1]), 1), chunk_size):
        basis = np.eye(min(chunk_size, ends[-1] - start), ends[-1], start)
        columns = np.split(basis, ends[:-1], axis=1)
        cts = [
            tensor(c.reshape(len(c), *x.shape).astype(x._array.dtype))
            for c, x in zip(columns, outs, strict=True)
        ]
        parts.append(vmap(pull)(*cts))
    rows = tree.tree_map(lambda *xs: cat(xs), *parts)
    blocks = [
        tree.tree_map(
            lambda r, x=x, e=e: r[e - x.numel() : e].reshape((*x.shape, *r.shape[1:])), rows
        )
        for x, e in zip(outs, ends.tolist(), strict=True)
    ]
    return tree.unflatten(treedef, blocks)


def jacfwd(
    func: Callable[..., Any],
    argnums: int | tuple[int, ...] = 0,
    has_aux: bool = False,
    *,
    randomness: str = "error",
) -> Callable[..., Any]:
    """The function that returns the Jacobian of `func`, column by column (forward mode).

    `func` runs once, so its random numbers are the "same" for all columns, or an "error".

    Raises: RuntimeError: random numbers are drawn with "error". NotImplementedError: "different".
    """
    checks.require_randomness(randomness)
    if randomness == "different":
        raise NotImplementedError(
            "jacfwd: randomness='different' would give columns of different functions; here the "
            "function runs once for all of them. Use randomness='same'."
        )
    outer = "error" if randomness == "error" else None
    return _jacobian("jacfwd", func, argnums, has_aux, outer)


def hessian(func: Callable[..., Any], argnums: int | tuple[int, ...] = 0) -> Callable[..., Any]:
    """The function that returns the Hessian of `func`: forward over reverse mode.

    >>> import compat as torch
    >>> torch.func.hessian(lambda x: (x**3).sum())(torch.ones(2))
    tensor([[6., 0.],
            [0., 6.]])
    """
    return jacfwd(jacrev(func, argnums), argnums)


def functionalize(func: Callable[..., Any], *, remove: str = "mutations") -> Callable[..., Any]:
    """`func` as a pure function: what it writes into its arguments is seen by nobody else."""

    @functools.wraps(func)
    def wrapper(*args: Any, **kwargs: Any) -> Any:
        copies = tree.tree_map(_copied, (args, kwargs))
        return func(*copies[0], **copies[1])

    return wrapper


def _copied(x: Any) -> Any:
    return x.clone() if isinstance(x, TensorBase) else x  # type: ignore[attr-defined]


# ---------------------------------------------------------------- modules


def functional_call(
    module: Any,
    parameter_and_buffer_dicts: Any,
    args: Any = None,
    kwargs: dict[str, Any] | None = None,
    *,
    tie_weights: bool = True,
    strict: bool = False,
) -> Any:
    """``module(*args, **kwargs)`` with other parameters and buffers, given by name.

    Raises: RuntimeError: with `strict`, the names are not exactly the module's.
    """
    given = parameter_and_buffer_dicts
    if not isinstance(given, dict):
        given = {k: v for d in given for k, v in d.items()}
    own = {**dict(module.named_parameters()), **dict(module.named_buffers())}
    unexpected, missing = set(given) - set(own), set(own) - set(given)
    if unexpected or (strict and missing):
        raise RuntimeError(
            f"functional_call: the names must be those of the module's parameters and buffers; "
            f"unexpected: {sorted(unexpected)}, missing: {sorted(missing)}"
        )
    swapped: list[tuple[dict[str, Any], str, Any]] = []
    by_identity = {id(own[name]): value for name, value in given.items()} if tie_weights else {}
    try:
        for path, old in _places(module):
            table, key, name = path
            if name in given or id(old) in by_identity:
                swapped.append((table, key, old))
                table[key] = given.get(name, by_identity.get(id(old)))
        positional = () if args is None else args if isinstance(args, tuple) else (args,)
        return module(*positional, **(kwargs or {}))
    finally:
        for table, key, old in swapped:
            table[key] = old


def _places(module: Any) -> list[tuple[tuple[dict[str, Any], str, str], Any]]:
    """Where every parameter and buffer is kept: (table, key, dotted name) and the tensor."""
    found = []
    for prefix, part in module.named_modules():
        dot = f"{prefix}." if prefix else ""
        for table in (part._parameters, part._buffers):
            found += [((table, k, dot + k), v) for k, v in table.items() if v is not None]
    return found


def stack_module_state(models: Sequence[Any]) -> tuple[dict[str, Any], dict[str, Any]]:
    """The parameters and the buffers of several modules of one kind, stacked by name.

    Raises: RuntimeError: there are none, or they differ in class.
    """
    if not models:
        raise RuntimeError("stack_module_state: Expected at least one model, got 0.")
    if len({type(m) for m in models}) > 1:
        raise RuntimeError("stack_module_state: Expected all models to be of the same class.")
    from_parameters = [dict(m.named_parameters()) for m in models]
    from_buffers = [dict(m.named_buffers()) for m in models]
    return _stacked(from_parameters, True), _stacked(from_buffers, False)


def _stacked(tables: Sequence[dict[str, Any]], leaves: bool) -> dict[str, Any]:
    found = {}
    for name, first in tables[0].items():
        out = tensor(np.stack([t[name]._array for t in tables]))
        found[name] = out.requires_grad_() if leaves and views.edge(first) is not None else out
    return found


__all__ = [
    "functional_call",
    "functionalize",
    "grad",
    "grad_and_value",
    "hessian",
    "jacfwd",
    "jacrev",
    "jvp",
    "linearize",
    "stack_module_state",
    "vjp",
    "vmap",
]
