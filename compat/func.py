"""`compat.func`: functional transforms of functions of tensors, over funcgrad's own.

Layer 8. Tensors go in and come out; inside, `f` sees tensors that hold the transform's traced values.
A tape outside goes on recording (NOTE [Levels] in `autograd/levels.py`), and `f` may use a tape of
its own: `backward()`, hooks, in-place operations and custom `Function`s work in it.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

import funcgrad
from funcgrad import tree
from funcgrad.core import Tracer, aval_of
from funcgrad.ops.complex import conjugate

from .autograd import views
from .autograd.base import TensorBase, tensor
from .autograd.levels import Level, OuterArray, outer_array
from .autograd.tape import record


class _Call:
    """One call of a transformed function: how its tensors become arrays and back."""

    def __init__(self, f: Callable[..., Any]) -> None:
        self.f = f
        self.level = Level()

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
        return _as_tensor(x)

    def inner(self, *args: Any, **kwargs: Any) -> Any:
        """The function as the transform sees it: of arrays."""
        args, kwargs = tree.tree_map(_as_tensor, (args, kwargs))
        return tree.tree_map(_as_array, self.level.run(self.f, *args, **kwargs))


def _as_tensor(x: Any) -> Any:
    return tensor(x) if isinstance(x, Tracer | np.ndarray | np.generic) else x


def _as_array(x: Any) -> Any:
    return x._array if isinstance(x, TensorBase) else x


def _conjugated(x: Any) -> Any:
    """PyTorch's convention for gradients by complex tensors."""
    return record(conjugate, (x,)) if aval_of(x._array).dtype.kind == "c" else x


def _scalar_valued(f: Callable[..., Any], has_aux: bool) -> Callable[..., Any]:
    """`f`, required to return a tensor without axes.

    Raises: RuntimeError: it does not.
    """

    @functools.wraps(f)
    def checked(*args: Any, **kwargs: Any) -> Any:
        out = f(*args, **kwargs)
        value = out[0] if has_aux and isinstance(out, tuple) and len(out) == 2 else out
        if not isinstance(value, TensorBase):
            raise RuntimeError(
                f"Expected f(*args) to return a scalar tensor, got {type(value).__name__}"
            )
        if value._array.shape:
            raise RuntimeError(
                f"Expected f(*args) to return a scalar tensor, got tensor with "
                f"{len(value._array.shape)} dims. Did you mean to use the vjp API instead?"
            )
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
        call = _Call(_scalar_valued(func, has_aux))
        transformed = funcgrad.value_and_grad(call.inner, argnums=argnums, has_aux=has_aux)
        value, grads = call.tensors(
            call.level.transform(transformed, *call.arrays(args), **call.arrays(kwargs))
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
    call = _Call(func)
    out, pullback, *aux = call.level.transform(
        funcgrad.vjp, call.inner, *call.arrays(primals), has_aux=has_aux
    )
    treedef = tree.structure(out)

    def pull(*cotangents: Any) -> tuple[Any, ...]:
        cts = [_conjugated(ct) for ct in tree.flatten(cotangents)[0]]
        given = tree.unflatten(treedef, [call.array(ct) for ct in cts])
        found = call.level.run(pullback, given)
        return tuple(tree.tree_map(_conjugated, call.tensors(found)))

    return (call.tensors(out), pull, *map(call.tensors, aux))


def jvp(
    func: Callable[..., Any],
    primals: Sequence[Any],
    tangents: Sequence[Any],
    *,
    strict: bool = False,
    has_aux: bool = False,
) -> tuple[Any, ...]:
    """``func(*primals)`` and its derivative along the tangents.

    >>> import compat as torch
    >>> torch.func.jvp(torch.sin, (torch.tensor(0.0),), (torch.tensor(2.0),))
    (tensor(0.), tensor(2.))
    """
    call = _Call(func)
    found = call.level.transform(
        funcgrad.jvp,
        call.inner,
        tuple(call.arrays(tuple(primals))),
        tuple(call.arrays(tuple(tangents))),
        has_aux=has_aux,
    )
    return tuple(map(call.tensors, found))


def linearize(func: Callable[..., Any], *primals: Any) -> tuple[Any, Callable[..., Any]]:
    """``func(*primals)`` and its derivative there, as a function of tangents."""
    call = _Call(func)
    out, push = call.level.transform(funcgrad.linearize, call.inner, *call.arrays(primals))

    def pushforward(*tangents: Any) -> Any:
        return call.tensors(call.level.run(push, *call.arrays(tangents)))

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

    >>> import compat as torch
    >>> torch.func.vmap(torch.dot)(torch.ones(2, 3), torch.ones(2, 3))
    tensor([3., 3.])
    """

    @functools.wraps(func)
    def wrapper(*args: Any, **kwargs: Any) -> Any:
        call = _Call(func)
        mapped = funcgrad.vmap(
            call.inner, in_axes=in_dims, out_axes=out_dims, chunk_size=chunk_size
        )
        return call.tensors(call.level.transform(mapped, *call.arrays(args), **call.arrays(kwargs)))

    return wrapper


def _jacobian_like(transform: Callable[..., Any]) -> Callable[..., Any]:
    def make(
        func: Callable[..., Any],
        argnums: int | tuple[int, ...] = 0,
        has_aux: bool = False,
        **options: Any,
    ) -> Callable[..., Any]:
        @functools.wraps(func)
        def wrapper(*args: Any, **kwargs: Any) -> Any:
            call = _Call(func)
            transformed = transform(call.inner, argnums=argnums, has_aux=has_aux)
            return call.tensors(
                call.level.transform(transformed, *call.arrays(args), **call.arrays(kwargs))
            )

        return wrapper

    return make


def jacrev(
    func: Callable[..., Any],
    argnums: int | tuple[int, ...] = 0,
    *,
    has_aux: bool = False,
    chunk_size: int | None = None,
) -> Callable[..., Any]:
    """The function that returns the Jacobian of `func`, row by row (reverse mode).

    >>> import compat as torch
    >>> torch.func.jacrev(torch.sin)(torch.zeros(2))
    tensor([[1., 0.],
            [0., 1.]])
    """
    return _jacobian_like(funcgrad.jacrev)(func, argnums, has_aux)


def jacfwd(
    func: Callable[..., Any],
    argnums: int | tuple[int, ...] = 0,
    has_aux: bool = False,
    *,
    randomness: str = "error",
) -> Callable[..., Any]:
    """The function that returns the Jacobian of `func`, column by column (forward mode)."""
    return _jacobian_like(funcgrad.jacfwd)(func, argnums, has_aux)


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
