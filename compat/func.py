"""`compat.func`: functional transforms of functions of tensors, over funcgrad's own.

Layer 8. Tensors go in and come out; inside, `f` sees tensors that hold the transform's traced values.
A tape outside goes on recording (NOTE [Levels] in `autograd/levels.py`), and `f` may use a tape of
its own: `backward()`, hooks, in-place operations and custom `Function`s work in it.
"""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable
from typing import Any

import numpy as np

import funcgrad
from funcgrad import tree
from funcgrad.core import Tracer, aval_of
from funcgrad.core import current as current_trace
from funcgrad.ops.complex import conjugate

from . import _func_checks as checks
from ._func_modules import functional_call, replace_all_batch_norm_modules_, stack_module_state
from .autograd import modes, views
from .autograd.base import TensorBase, tensor
from .autograd.cutting import cut
from .autograd.graph import refuse_hooks
from .autograd.levels import Level, is_outside, outer_array
from .autograd.tape import record
from .ops.generator import get_rng_state, set_rng_state
from .ops.join import cat
from .ops.shape import movedim


class _Inner:
    """A function of tensors as a transform sees it, of arrays; messages know it as the user's.

    It returns ``(out, (aux, written))``: the last are the arguments that it wrote into, as they are
    afterwards (see `_Call.keep`).
    """

    def __init__(self, call: _Call, f: Callable[..., Any]) -> None:
        self.call = call
        f = inspect.unwrap(f)
        self.__name__ = getattr(f, "__name__", type(f).__name__)
        self.__code__ = getattr(f, "__code__", None)

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        out, written = self.call.level.run(self.call.run_user, args, kwargs)
        found = tree.map(_as_array, tree.map(self.call.level.read, out))
        return self.call.returned(found, written)


class _Call:
    """One call of a transformed function: how its tensors become arrays and back."""

    def __init__(
        self,
        f: Callable[..., Any],
        *,
        has_aux: bool = False,
        randomness: str | None = None,
        reverse: bool = False,
    ) -> None:
        self.f = f
        self.has_aux = has_aux
        self.level = Level(randomness)
        self.level.refuses_hooks = reverse
        self.given: list[Any] = []  # the leaves of the arguments
        self.places: list[int] = []  # which of them were written into
        self.dtypes: Any = None  # of the output

    @property
    def inner(self) -> _Inner:
        """The function as the transform sees it, which holds this call, and not the other way."""
        return _Inner(self, self.f)

    def transform(self, f: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
        """``f(*args, **kwargs)``, a transform of funcgrad's; its errors are PyTorch's."""
        self.given = tree.leaves((args, kwargs))
        arrays, named = tree.map(self.array, (args, kwargs))
        if self.level.refuses_hooks:
            refuse_hooks()
        with checks.torchs_words():
            return self.level.transform(f, *arrays, **named)

    def run(self, f: Callable[..., Any], *args: Any, records: bool) -> Any:
        """``f(*args)``, what a transform has returned; `records`: on the tape outside."""
        with checks.torchs_words(), self.level.recording(records):
            return self.level.resume(f, *args)

    def here(self) -> _Call:
        """The call that runs what the transform has returned, on the tape where that is called.

        What it was computed from are arrays there if the transform was called on a tape outside.
        """
        return self if modes.get().level is self.level.outside.level else _Call(self.f)

    def array(self, x: Any) -> Any:
        """What the transform is given for a tensor."""
        if not isinstance(x, TensorBase):
            return x
        return x._array if views.edge(x) is None else outer_array(x, self.level)

    def arrays(self, x: Any) -> Any:
        return tree.map(self.array, x)

    def tensors(self, x: Any) -> Any:
        """What comes back, as tensors."""
        return tree.map(self._tensor, x)

    def _tensor(self, x: Any) -> Any:
        if is_outside(x, self.level):
            # Another transform on this tape may have been called where it recorded.
            mine = x.level is self.level or self.level.outside.records
            return x.tensor if mine else x.tensor.detach()
        mode = modes.get()
        return _as_tensor(x if mode.level is None or mode.records else cut(x))

    def run_user(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> tuple[Any, list[Any]]:
        """The user's function of arrays, as tensors, and what it has written into its arguments."""
        args, kwargs = tree.map(_as_tensor, (args, kwargs))
        leaves = tree.leaves((args, kwargs))
        before = [x._array if isinstance(x, TensorBase) else None for x in leaves]
        out = self.f(*args, **kwargs)
        return out, self.keep(leaves, before)

    def keep(self, leaves: list[Any], before: list[Any]) -> list[Any]:
        """The arrays of the arguments that were written into; `places` says which they are."""
        changed = [x for x in leaves if isinstance(x, TensorBase) and x._counter[0]]
        if not changed:
            return []
        pairs = list(zip(self.given, leaves, before, strict=False))  # tangents come after
        self.places = [i for i, x in enumerate(leaves) if any(x is y for y in changed)]
        for i in self.places:
            checks.require_own_memory(i, pairs)
        return [leaves[i]._array for i in self.places]

    def returned(self, out: Any, written: list[Any]) -> Any:
        """What the transform is to see of the output and the written arguments."""
        out, aux = out if self.has_aux else (out, None)
        self.dtypes = tree.map(lambda x: aval_of(x).dtype, out)
        return out, (aux, written)

    def finish(self, aux_and_written: tuple[Any, list[Any]]) -> tuple[Any, ...]:
        """Write what was written inside into the arguments themselves; ``(aux,)`` if there is one."""
        aux, written = aux_and_written
        for i, array in zip(self.places, written, strict=True):
            self.write(i, self._tensor(array))
        self.given = []
        return (self.tensors(aux),) if self.has_aux else ()

    def write(self, i: int, new: Any) -> None:
        x = self.given[i]
        views.check_writable(x)
        views.assign(x, new, f"{self.inner.__name__} in a transform", whole=True)

    def with_integers(self, derivatives: Any) -> Any:
        """Derivatives of the output; those of integers are zeros of the same dtype, as in PyTorch."""

        def fitted(dtype: Any, found: Any) -> Any:
            if dtype.kind in "fcV":
                return found
            return tree.map(lambda x: tensor(np.zeros(x.shape, dtype)), found)

        return tree.map(fitted, self.dtypes, derivatives)


class _BatchedCall(_Call):
    """A call of a function that `vmap` has transformed.

    It runs once for each chunk of examples; with the `randomness` "same" all draw the same numbers.
    """

    def __init__(self, f: Callable[..., Any], name: str, out_dims: Any, randomness: str) -> None:
        super().__init__(f, randomness=randomness)
        self.name = name
        self.out_dims = out_dims
        self.in_dims: list[Any] = []  # of the leaves of the arguments
        self.is_single = False  # one tensor, whose axis is in a tuple
        self.start: Any = None  # where the stream of random numbers was

    def run_user(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> tuple[Any, list[Any]]:
        self.level.batch = current_trace.get()
        if self.level.randomness == "same":
            if self.start is None:
                self.start = get_rng_state()
            else:
                set_rng_state(self.start)
        try:
            out, written = super().run_user(args, kwargs)
        finally:
            self.level.batch = None  # whose function is this call
        dims = self.out_dims
        if isinstance(dims, tuple) and len(dims) == 1 and isinstance(out, TensorBase):
            self.is_single, out = True, (out,)
        checks.require_outputs(self.name, self.out_dims, out)
        return out, written

    def returned(self, out: Any, written: list[Any]) -> Any:
        """The output, what has the batch in front, and what is the same for all examples."""
        parts: tuple[list[Any], list[Any]] = ([], [])
        for i, array in zip(self.places, written, strict=True):
            if self.in_dims[i] is None:
                checks.require_unbatched(self.name, array)
            parts[self.in_dims[i] is None].append(array)
        return out, *parts

    def results(self, found: Any) -> Any:
        """The output as tensors; writes what was written into the arguments themselves."""
        out, moved, shared = found
        batched = [i for i in self.places if self.in_dims[i] is not None]
        for i, array in zip(batched, moved, strict=True):
            self.write(i, movedim(self._tensor(array), 0, self.in_dims[i]))
        for i, array in zip([i for i in self.places if i not in batched], shared, strict=True):
            self.write(i, self._tensor(array))
        self.given = []
        return self.tensors(out)


def _as_tensor(x: Any) -> Any:
    return tensor(x) if isinstance(x, Tracer | np.ndarray | np.generic) else x


def _as_array(x: Any) -> Any:
    return x._array if isinstance(x, TensorBase) else x


def _conjugated(x: Any) -> Any:
    """PyTorch's convention for gradients by complex tensors."""
    return record(conjugate, (x,)) if aval_of(x._array).dtype.kind == "c" else x


def _checked(
    f: Callable[..., Any], name: str, has_aux: bool, require: Callable[[Any], None]
) -> Callable[..., Any]:
    """`f`, whose output must satisfy `require`; with `has_aux` it returns something else too."""

    @functools.wraps(f)
    def checked(*args: Any, **kwargs: Any) -> Any:
        out = f(*args, **kwargs)
        if has_aux:
            checks.require_pair(name, out)
        require(out[0] if has_aux else out)
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
        scalar = _checked(func, "grad_and_value(f)(*args)", has_aux, checks.require_scalar)
        call = _Call(scalar, has_aux=has_aux, reverse=True)
        transformed = funcgrad.value_and_grad(call.inner, argnums=argnums, has_aux=True)
        (value, rest), grads = call.transform(transformed, *args, **kwargs)
        value, grads = call.tensors((value, grads))
        checks.require_numbers("grad", grads)
        aux = call.finish(rest)
        return tree.map(_conjugated, grads), (value, *aux) if has_aux else value

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

    That records on the tape outside with `create_graph`, by default if gradients are recorded then.

    Raises: RuntimeError: `func` returns something else than tensors of floating point numbers.

    >>> import compat as torch
    >>> y, pull = torch.func.vjp(lambda x: x * 2, torch.ones(2))
    >>> pull(torch.ones(2))[0]
    tensor([2., 2.])
    """
    checks.require_floats("vjp", primals)
    name = "vjp(f, *primals)"
    checked = _checked(func, name, has_aux, checks.require_float_outputs)
    call = _Call(checked, has_aux=has_aux, reverse=True)
    out, pullback, rest = call.transform(
        functools.partial(funcgrad.vjp, call.inner, has_aux=True), *primals
    )
    out = call.tensors(out)
    aux = call.finish(rest)
    outs, treedef = tree.flatten(out)
    types = [aval_of(x._array) for x in outs]

    def pull(
        cotangents: Any, retain_graph: bool = True, create_graph: bool | None = None
    ) -> tuple[Any, ...]:
        cts = checks.cotangents(treedef, types, cotangents)
        here = call.here()
        given = tree.unflatten(treedef, [here.array(_conjugated(ct)) for ct in cts])
        records = modes.get().records if create_graph is None else create_graph
        found = here.tensors(here.run(pullback, given, records=records))
        checks.require_numbers("vjp", found)
        return tuple(tree.map(_conjugated, found))

    return (out, pull, *aux)


def jvp(
    func: Callable[..., Any],
    primals: tuple[Any, ...],
    tangents: tuple[Any, ...],
    *,
    strict: bool = False,
    has_aux: bool = False,
) -> tuple[Any, ...]:
    """``func(*primals)`` and its derivative along the tangents.

    Raises: RuntimeError: `func` returns something else than tensors; with `strict`, one of them does
    not depend on the primals.

    >>> import compat as torch
    >>> torch.func.jvp(torch.sin, (torch.tensor(0.0),), (torch.tensor(2.0),))
    (tensor(0.), tensor(2.))
    """
    checks.require_tangents(primals, tangents)
    name = "jvp(f, primals, tangents)"
    require = functools.partial(checks.require_jvp_outputs, strict=strict)
    call = _Call(_checked(func, name, has_aux, require), has_aux=has_aux)

    def transformed(*primals: Any, tangents: Any) -> Any:
        return funcgrad.jvp(call.inner, primals, tangents, has_aux=True)

    out, dots, rest = call.transform(transformed, *primals, tangents=tangents)
    out, dots = call.tensors((out, dots))
    aux = call.finish(rest)
    return (out, call.with_integers(dots), *aux)


def linearize(func: Callable[..., Any], *primals: Any) -> tuple[Any, Callable[..., Any]]:
    """``func(*primals)`` and its derivative there, as a function of tangents."""
    checks.require_floats("linearize", primals)
    call = _Call(func)
    out, push, rest = call.transform(
        functools.partial(funcgrad.linearize, call.inner, has_aux=True), *primals
    )
    out = call.tensors(out)
    call.finish(rest)
    leaves, treedef = tree.flatten(primals)
    types = [aval_of(x._array) for x in leaves]

    def pushforward(*tangents: Any) -> Any:
        checks.require_tangents_like(treedef, types, tangents)
        here, records = call.here(), modes.get().records
        dots = here.tensors(here.run(push, *here.arrays(tangents), records=records))
        return call.with_integers(dots)

    return out, pushforward


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
        call = _BatchedCall(functools.partial(func, **kwargs), name, out_dims, randomness)
        call.in_dims = checks.batch_axes(name, in_dims, args)
        mapped = funcgrad.vmap(
            call.inner, in_axes=in_dims, out_axes=(out_dims, 0, None), chunk_size=chunk_size
        )
        out = call.results(call.transform(mapped, *args))
        return out[0] if call.is_single else out

    return wrapper


# ---------------------------------------------------------------- Jacobians


def _jacobian(
    name: str,
    func: Callable[..., Any],
    argnums: int | tuple[int, ...],
    has_aux: bool,
    randomness: str | None,
) -> Callable[..., Any]:
    require = checks.require_float_outputs if name == "jacrev" else checks.require_jvp_outputs
    of_tensors = _checked(func, name, has_aux, require)

    @functools.wraps(func)
    def wrapper(*args: Any, **kwargs: Any) -> Any:
        checks.require_floats(name, checks.chosen(argnums, args))
        call = _Call(of_tensors, has_aux=has_aux, randomness=randomness, reverse=name == "jacrev")
        transformed = getattr(funcgrad, name)(call.inner, argnums=argnums, has_aux=True)
        blocks, rest = call.transform(transformed, *args, **kwargs)
        blocks = call.with_integers(call.tensors(blocks))
        if name == "jacrev":
            checks.require_numbers(name, blocks)
        aux = call.finish(rest)
        return (blocks, *aux) if has_aux else blocks

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
            found = tree.map(lambda _, block: block[0], out, found)
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
        parts.append(vmap(pull)(tree.unflatten(treedef, cts)))
    rows = tree.map(lambda *xs: cat(xs), *parts)
    blocks = [
        tree.map(lambda r, x=x, e=e: r[e - x.numel() : e].reshape((*x.shape, *r.shape[1:])), rows)
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
    """`func`: every transform here takes writes apart already, so nothing is left to remove.

    Raises: RuntimeError: `remove` is neither "mutations" nor "mutations_and_views".
    """
    if remove not in ("mutations", "mutations_and_views"):
        raise RuntimeError(
            f"functionalize(f, remove='mutations'): received invalid argument for remove={remove}. "
            f"Valid options are 'mutations' and 'mutations_and_views'."
        )
    return func


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
    "replace_all_batch_norm_modules_",
    "stack_module_state",
    "vjp",
    "vmap",
]
