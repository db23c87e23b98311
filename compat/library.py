"""`torch.library`: operators of the user's own, opaque to transforms, with a registered derivative.

An operator is a function that is called as it is: what it does inside (NumPy, another language) is
not recorded. Its derivative is what `register_autograd` was given, through `Function`.

>>> import numpy as np
>>> import compat as torch
>>> @torch.library.custom_op("doc::sine", mutates_args=())
... def sine(x: torch.Tensor) -> torch.Tensor:
...     return torch.from_numpy(np.sin(x.numpy()))
>>> def setup_context(ctx, inputs, output):
...     ctx.save_for_backward(*inputs)
>>> def backward(ctx, g):
...     (x,) = ctx.saved_tensors
...     return g * x.cos()
>>> sine.register_autograd(backward, setup_context=setup_context)
>>> x = torch.tensor([0.0], requires_grad=True)
>>> torch.ops.doc.sine(x).backward()
>>> x.grad
tensor([1.])
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable, Sequence
from types import SimpleNamespace
from typing import Any

from . import ops
from ._missing import explain as _explain_missing
from ._tensor import Tensor
from .autograd import is_grad_enabled, no_grad
from .autograd.base import UNCOUNTED
from .autograd.function import Function
from .autograd.graph import increment_version
from .utils._pytree import tree_flatten, tree_leaves, tree_unflatten

__all__ = [
    "CustomOpDef",
    "custom_op",
    "register_autograd",
    "register_fake",
    "register_kernel",
    "register_vmap",
]

_defined: dict[str, CustomOpDef] = {}


class CustomOpDef:
    """An operator: called like its function, and found as ``torch.ops.<namespace>.<name>``."""

    def __init__(self, name: str, function: Callable[..., Any], mutates_args: Any) -> None:
        self._qualname = name
        self._function = function
        self._signature = inspect.signature(function)
        self._mutated = _mutated(name, self._signature, mutates_args)
        self._applied = _as_function(self, None, None, None)
        self._derivative: tuple[Any, Any] = (None, None)
        self._vmap: Any = None
        self.__name__ = name.partition("::")[2]
        self.__doc__ = function.__doc__

    def __repr__(self) -> str:
        return f"<CustomOpDef({self._qualname})>"

    @property
    def default(self) -> CustomOpDef:
        """The operator itself: there is one kind of arguments."""
        return self

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        bound = self._signature.bind(*args, **kwargs)
        bound.apply_defaults()
        if bound.kwargs and any(map(_is_tensor, tree_leaves(bound.kwargs))):
            raise NotImplementedError(
                f"{self._qualname}: custom_op with kwarg-only Tensor args, for which backward returns "
                f"no gradient. Take tensors by position too: {', '.join(bound.kwargs)}"
            )
        if self._mutated:
            return self._called_in_place(bound)
        leaves, tree = tree_flatten((bound.args, bound.kwargs))
        return self._applied.apply(tree, *leaves)

    def _called_in_place(self, bound: inspect.BoundArguments) -> Any:
        written = [
            x for x in tree_leaves([bound.arguments[n] for n in self._mutated]) if _is_tensor(x)
        ]
        if is_grad_enabled() and any(map(_requires_grad, tree_leaves(bound.arguments))):
            raise RuntimeError(
                f"{self._qualname}: an operator that writes into its arguments has no derivative. "
                "Call it inside of torch.no_grad(), or write a torch.autograd.Function."
            )
        with no_grad():
            out = self._function(*bound.args, **bound.kwargs)
        self._require_new(out, tree_leaves(bound.arguments))
        increment_version(written)
        return out

    def _require_new(self, out: Any, arguments: Sequence[Any]) -> None:
        """Raises: RuntimeError: a result is an argument or another result, or a view of it."""
        known = [x for x in arguments if _is_tensor(x)]
        for y in filter(_is_tensor, tree_leaves(out)):
            if any(_share_memory(x, y) for x in known):
                raise RuntimeError(
                    f"{self._qualname}: a result may not alias an argument or another result, whose "
                    f"derivative it would not have. Return a copy: x.clone()"
                )
            known.append(y)

    def register_autograd(
        self, backward: Callable[..., Any], /, *, setup_context: Callable[..., Any] | None = None
    ) -> None:
        """Give the operator its derivative.

        `backward` takes a context and a gradient by each result, and returns one by each positional
        argument; `setup_context` takes ``(ctx, inputs, output)`` and, if there are arguments that are
        given by name only, ``keyword_only_inputs``.

        Raises: RuntimeError: the operator writes into its arguments.
        """
        if self._mutated:
            raise RuntimeError(
                f"Cannot register autograd formula for non-functional operator {self._qualname}: it "
                f"writes into {', '.join(self._mutated)}"
            )
        self._derivative = backward, setup_context
        self._applied = _as_function(self, backward, setup_context, self._vmap)

    def register_vmap(self, func: Any = None) -> Any:
        """Give the operator a rule ``func(info, in_dims, *args)`` for `torch.func.vmap`."""

        def register(f: Callable[..., Any]) -> Callable[..., Any]:
            self._vmap = f
            self._applied = _as_function(self, *self._derivative, f)
            return f

        return register if func is None else register(func)

    def register_kernel(self, device_types: Any, func: Any = None, /) -> Any:
        """Replace the function, for the CPU: other devices are left to the function there is."""
        kinds = [device_types] if isinstance(device_types, str) else device_types

        def register(f: Callable[..., Any]) -> Callable[..., Any]:
            if kinds is None or "cpu" in kinds:
                self._function = f
            return f

        return register if func is None else register(func)

    def register_fake(self, func: Callable[..., Any], /) -> Callable[..., Any]:
        """Take what computes shapes only. Nothing here asks for it: operators run as they are."""
        return func


def _is_tensor(x: Any) -> bool:
    return isinstance(x, Tensor)


def _share_memory(x: Tensor, y: Tensor) -> bool:
    return x is y or (x._counter is y._counter and x._counter is not UNCOUNTED)


def _requires_grad(x: Any) -> bool:
    return isinstance(x, Tensor) and x.requires_grad


def _mutated(name: str, signature: inspect.Signature, mutates_args: Any) -> tuple[str, ...]:
    if mutates_args == "unknown":
        return tuple(signature.parameters)
    if isinstance(mutates_args, str):
        raise ValueError(
            f"custom_op {name}: mutates_args must be names, or 'unknown'; got {mutates_args!r}"
        )
    names = tuple(mutates_args)
    for unknown in set(names) - signature.parameters.keys():
        raise ValueError(f"custom_op {name}: mutates_args has {unknown!r}, which is no argument")
    return names


def _as_function(op: CustomOpDef, backward: Any, setup: Any, vmap: Any) -> type[Function]:
    """The operator as a `Function` of a tree and its leaves."""

    def forward(tree: Any, *leaves: Any) -> Any:
        args, kwargs = tree_unflatten(leaves, tree)
        out = op._function(*args, **kwargs)
        op._require_new(out, leaves)
        return tuple(out) if isinstance(out, list) else out

    def setup_context(ctx: Any, inputs: Any, output: Any) -> None:
        tree, *leaves = inputs
        args, kwargs = tree_unflatten(leaves, tree)
        ctx.op_arguments = len(leaves), args
        if setup is not None and any(ctx.needs_input_grad):
            named = {"keyword_only_inputs": kwargs} if kwargs else {}
            setup(ctx=ctx, inputs=args, output=output, **named)

    def gradients(ctx: Any, *by_results: Any) -> Any:
        if backward is None:
            raise RuntimeError(
                f"Trying to backward through {op._qualname} but no autograd formula was registered. "
                "Please use register_autograd to add one."
            )
        found = backward(ctx, *by_results)
        found = found if isinstance(found, tuple) else (found,)
        number, args = ctx.op_arguments
        if len(found) != len(args):
            raise RuntimeError(
                f"{op._qualname}: backward returned {len(found)} gradients for {len(args)} arguments"
            )
        flat: list[Any] = []
        for g, x in zip(found, args, strict=True):
            leaves, tree = tree_flatten(x)
            if tree.is_leaf():
                flat.append(g)
                continue
            found_leaves, found_tree = (
                ([None] * len(leaves), tree) if g is None else tree_flatten(g)
            )
            if found_tree != tree:
                raise RuntimeError(
                    f"{op._qualname}: backward returned gradients of another structure than an "
                    f"argument that is a {type(x).__name__}: return one with a gradient for each of "
                    f"its {len(leaves)} elements"
                )
            flat.extend(found_leaves)
        return (None, *flat, *[None] * (number - len(flat)))

    methods = {
        "forward": staticmethod(forward),
        "setup_context": staticmethod(setup_context),
        "backward": staticmethod(gradients),
    }
    if vmap is not None:

        def batched(info: Any, in_dims: Any, tree: Any, *leaves: Any) -> Any:
            args, kwargs = tree_unflatten(leaves, tree)
            dims, _ = tree_unflatten(in_dims[1:], tree)
            return vmap(info, dims, *args, **kwargs)

        methods["vmap"] = staticmethod(batched)
    return type(op._qualname.replace("::", "_"), (Function,), methods)


def custom_op(
    name: str,
    fn: Callable[..., Any] | None = None,
    /,
    *,
    mutates_args: str | Iterable[str],
    device_types: Any = None,
    schema: str | None = None,
    tags: Sequence[Any] | None = None,
) -> Any:
    """Make an operator ``namespace::name`` of a function of tensors.

    `mutates_args` are the names of the arguments that it writes into. Types are not looked at, so
    `schema` and `tags` change nothing.

    Raises: ValueError: the name has no namespace, or `mutates_args` is none of the arguments.
    """

    def define(function: Callable[..., Any]) -> CustomOpDef:
        namespace, _, own = name.partition("::")
        if not own:
            raise ValueError(f"custom_op {name!r}: the name must be 'namespace::name'")
        op = _defined[name] = CustomOpDef(name, function, mutates_args)
        space = vars(ops).setdefault(namespace, SimpleNamespace())
        if not isinstance(space, SimpleNamespace):
            raise ValueError(f"custom_op {name!r}: the namespace {namespace!r} is taken")
        setattr(space, own, op)
        return op

    return define if fn is None else define(fn)


def _found(op: str | CustomOpDef) -> CustomOpDef:
    if isinstance(op, CustomOpDef):
        return op
    if op not in _defined:
        raise RuntimeError(f"{op}: no operator of this name was made by torch.library.custom_op")
    return _defined[op]


def register_autograd(
    op: str | CustomOpDef,
    backward: Callable[..., Any],
    /,
    *,
    setup_context: Callable[..., Any] | None = None,
    lib: Any = None,
) -> None:
    """`CustomOpDef.register_autograd` of the operator of a name.

    Raises: RuntimeError: there is none, or it writes into its arguments.
    """
    _found(op).register_autograd(backward, setup_context=setup_context)


def register_vmap(op: str | CustomOpDef, func: Any = None, /, *, lib: Any = None) -> Any:
    """`CustomOpDef.register_vmap` of the operator of a name.

    Raises: RuntimeError: there is none.
    """
    return _found(op).register_vmap(func)


def register_kernel(
    op: str | CustomOpDef, device_types: Any, func: Any = None, /, *, lib: Any = None
) -> Any:
    """`CustomOpDef.register_kernel` of the operator of a name.

    Raises: RuntimeError: there is none.
    """
    return _found(op).register_kernel(device_types, func)


def register_fake(op: str | CustomOpDef, func: Any = None, /, **_: Any) -> Any:
    """`CustomOpDef.register_fake` of the operator of a name.

    Raises: RuntimeError: there is none.
    """
    found = _found(op)
    return found.register_fake if func is None else found.register_fake(func)


_explain_missing("torch.library", globals())
