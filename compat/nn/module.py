"""`Module`: a part of a model, which owns parameters, buffers and other modules.

Hooks and calling are in `hooks.py`, saving and loading in `state.py`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from types import FunctionType
from typing import TYPE_CHECKING, Any, TypeVar

from .. import dtypes
from ..autograd import modes
from ..autograd.base import TensorBase
from ..ops.convert import target, typename
from ..ops.like import empty_like
from ..parameter import Parameter
from ..size import device
from .global_hooks import registered
from .hooks import Hooked
from .meta import OnMeta, on_meta, with_memory
from .state import Stateful

if TYPE_CHECKING:
    from .._tensor import Tensor

_M = TypeVar("_M", bound="Module")

FROM_ABOVE: dict[str, Any] = {}  # "compile", which needs modules; `compiling.py` puts it in


def _is_ours(defined: Any) -> bool:
    return str(defined.__module__).partition(".")[0] == __name__.partition(".")[0]


class Module(Hooked, Stateful):
    """The base class of everything that has parameters; subclasses define `forward`.

    A `Parameter`, a `Module` or a registered buffer that is assigned to an attribute becomes a part
    of the module: it is found by `parameters()`, moved by `to()` and saved by `state_dict()`.

    >>> import compat as torch
    >>> class Doubled(torch.nn.Module):
    ...     def __init__(self):
    ...         super().__init__()
    ...         self.factor = torch.nn.Parameter(torch.tensor([2.0]))
    ...
    ...     def forward(self, x):
    ...         return x * self.factor
    >>> module = Doubled()
    >>> module(torch.tensor([3.0]))
    tensor([6.], grad_fn=<MulBackward0>)
    >>> [name for name, _ in module.named_parameters()]
    ['factor']
    """

    # See `funcgrad/compile/captures.py`.
    __program_reads__ = ("training", "_parameters", "_buffers", "_modules")

    training: bool
    _version = 1  # of what `state_dict` saves
    call_super_init = False

    def __init_subclass__(cls, **given: Any) -> None:
        """Functions of the package in a class's body get no `self`, as PyTorch's compiled ones."""
        super().__init_subclass__(**given)
        if not _is_ours(cls):
            for name, value in list(vars(cls).items()):
                ours = isinstance(value, FunctionType) and _is_ours(value)
                if ours and "." not in value.__qualname__:  # there is one in a method's
                    setattr(cls, name, staticmethod(value))

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        if not self.call_super_init and (args or kwargs):
            name = type(self).__name__
            if kwargs:
                raise TypeError(
                    f"{name}.__init__() got an unexpected keyword argument '{next(iter(kwargs))}'"
                )
            raise TypeError(
                f"{name}.__init__() takes 1 positional argument but {len(args) + 1} were given"
            )
        # Into the dictionary, since `__setattr__` looks at these.
        self.__dict__.update(
            training=True,
            _parameters={},
            _buffers={},
            _modules={},
            _non_persistent_buffers_set=set(),
            **self._no_hooks(),
            **self._no_state_hooks(),
        )
        if self.call_super_init:
            super().__init__(*args, **kwargs)

    def forward(self, *args: Any, **kwargs: Any) -> Any:
        """What the module computes; call the module itself, which runs the hooks too."""
        raise NotImplementedError(
            f'Module [{type(self).__name__}] is missing the required "forward" function'
        )

    # ------------------------------------------------------------ attributes

    def __getattr__(self, name: str) -> Any:
        own = self.__dict__
        try:
            return own["_parameters"][name]
        except KeyError:
            pass
        for kind in ("_modules", "_buffers"):
            members = own.get(kind)
            if members is not None and name in members:
                return members[name]
        raise AttributeError(f"'{type(self).__name__}' object has no attribute '{name}'")

    def __setattr__(self, name: str, value: Any) -> None:
        own = self.__dict__
        if isinstance(value, Parameter):
            if "_parameters" not in own:
                raise AttributeError(_too_early("parameters"))
            self._forget(name, "_parameters")
            self.register_parameter(name, value)
            return
        if isinstance(value, Module) and name not in own.get("_parameters", ()):
            if "_modules" not in own:
                raise AttributeError(_too_early("module"))
            self._forget(name, "_modules")
            own["_modules"][name] = registered("module", self, name, value)
            return
        for kind, allowed, what in _KINDS:
            members = own.get(kind)
            if members is not None and name in members:
                if value is not None and not isinstance(value, allowed):
                    raise TypeError(f"cannot assign '{typename(value)}' as " + what.format(name))
                if kind == "_buffers" and getattr(value, "_is_buffer", False):
                    break  # it says whether it is saved
                members[name] = value
                return
        if isinstance(value, TensorBase) and getattr(value, "_is_buffer", False):  # see `Buffer`
            # Without its third argument where that says nothing: subclasses may not have it.
            kept = getattr(value, "persistent", True)
            self.register_buffer(name, value, *([] if kept else [False]))
            return
        object.__setattr__(self, name, value)

    def __delattr__(self, name: str) -> None:
        for kind in ("_parameters", "_buffers", "_modules"):
            if self.__dict__[kind].pop(name, self) is not self:
                self._non_persistent_buffers_set.discard(name)
                return
        object.__delattr__(self, name)

    def __dir__(self) -> list[str]:
        names = [*super().__dir__(), *self._parameters, *self._buffers, *self._modules]
        return sorted(name for name in set(names) if not name[0].isdigit())

    def _forget(self, name: str, kept: str) -> None:
        """Make room for a member of the kind `kept`, where it keeps its place, under this name."""
        self.__dict__.pop(name, None)
        for kind in ("_parameters", "_buffers", "_modules"):
            if kind != kept:
                self.__dict__[kind].pop(name, None)
        self._non_persistent_buffers_set.discard(name)

    def _check_name(self, kind: str, members: str, name: Any) -> None:
        """Raises: AttributeError, TypeError, KeyError: nothing can be registered as `name`."""
        if members not in self.__dict__:
            raise AttributeError(_too_early(kind))
        if not isinstance(name, str):
            raise TypeError(f"{kind} name should be a string. Got {typename(name)}")
        if "." in name:
            raise KeyError(f'{kind} name can\'t contain "."')
        if name == "":
            raise KeyError(f'{kind} name can\'t be empty string ""')
        if hasattr(self, name) and name not in self.__dict__[members]:
            raise KeyError(f"attribute '{name}' already exists")

    def register_parameter(self, name: str, param: Any) -> None:
        """Add a parameter, or None to keep its name for one.

        Raises: KeyError: the name is taken or no name. TypeError: `param` is no `Parameter`.
        """
        self._check_name("parameter", "_parameters", name)
        if param is not None and not isinstance(param, Parameter):
            raise TypeError(
                f"cannot assign '{typename(param)}' object to parameter '{name}' "
                "(torch.nn.Parameter or None required)"
            )
        if param is not None and param.grad_fn is not None:
            raise ValueError(
                f"Cannot assign non-leaf Tensor to parameter '{name}'. Model parameters must be "
                f"created explicitly. To express '{name}' as a function of another Tensor, compute "
                "the value in the forward() method."
            )
        if param is not None:
            param = registered("parameter", self, name, param)
        self._parameters[name] = param

    def register_buffer(self, name: str, tensor: Any, persistent: bool = True) -> None:
        """Add a tensor that is state but not a parameter; `persistent`: it is saved.

        Raises: KeyError: the name is taken or no name. TypeError: `tensor` is none.
        """
        self._check_name("buffer", "_buffers", name)
        if tensor is not None and not isinstance(tensor, TensorBase):
            raise TypeError(
                f"cannot assign '{typename(tensor)}' object to buffer '{name}' "
                "(torch Tensor or None required)"
            )
        self._buffers[name] = registered("buffer", self, name, tensor)
        if persistent:
            self._non_persistent_buffers_set.discard(name)
        else:
            self._non_persistent_buffers_set.add(name)

    def add_module(self, name: str, module: Any) -> None:
        """Add a child under a name, or None to keep the name for one.

        Raises: KeyError: the name is taken or no name. TypeError: `module` is no `Module`.
        """
        if module is not None and not isinstance(module, Module):
            raise _no_module(module)
        self._check_name("module", "_modules", name)
        self._modules[name] = registered("module", self, name, module)

    def register_module(self, name: str, module: Any) -> None:
        """`add_module`, by another name."""
        self.add_module(name, module)

    # ------------------------------------------------------------ members by their path

    def get_submodule(self, target: str) -> Any:
        """The module at a path such as ``"encoder.0"``; itself at ``""``.

        Raises: AttributeError: there is none.
        """
        found: Any = self
        for name in target.split(".") if target else ():
            if not hasattr(found, name):
                raise AttributeError(f"{found._get_name()} has no attribute `{name}`")
            found = getattr(found, name)
            if not isinstance(found, Module):
                raise AttributeError(f"`{name}` is not an nn.Module")
        return found

    def set_submodule(self, target: str, module: Module, strict: bool = False) -> None:
        """Put `module` at a path; `strict`: there must be one already.

        Raises: AttributeError: the path leads nowhere. ValueError: it is empty, or `module` is none.
        """
        if target == "":
            raise ValueError("Cannot set the submodule without a target name!")
        if not isinstance(module, Module):
            raise ValueError(f"`module` is not an nn.Module, found {type(module)}")
        path, _, name = target.rpartition(".")
        parent = self.get_submodule(path)
        if strict and not hasattr(parent, name):
            raise AttributeError(f"{parent._get_name()} has no attribute `{name}`")
        if hasattr(parent, name) and not isinstance(getattr(parent, name), Module):
            raise AttributeError(f"`{name}` is not an nn.Module")
        setattr(parent, name, module)

    def get_parameter(self, target: str) -> Any:
        """The parameter at a path such as ``"encoder.0.weight"``.

        Raises: AttributeError: there is none.
        """
        return self._member(target, "_parameters", "an nn.Parameter")

    def get_buffer(self, target: str) -> Any:
        """The buffer at a path.

        Raises: AttributeError: there is none.
        """
        return self._member(target, "_buffers", "a buffer")

    def _member(self, target: str, members: str, what: str) -> Any:
        path, _, name = target.rpartition(".")
        owner = self.get_submodule(path)
        if not hasattr(owner, name):
            raise AttributeError(f"{owner._get_name()} has no attribute `{name}`")
        if name not in owner.__dict__[members]:
            raise AttributeError(f"`{name}` is not {what}")
        return owner.__dict__[members][name]

    # ------------------------------------------------------------ iteration

    def named_modules(
        self, memo: set[Any] | None = None, prefix: str = "", remove_duplicate: bool = True
    ) -> Iterator[tuple[str, Any]]:
        """Pairs of a path and a module: this one, and all below it."""
        memo = set() if memo is None else memo
        if self in memo:
            return
        if remove_duplicate:
            memo.add(self)
        yield prefix, self
        for name, module in self._modules.items():
            if module is not None:
                yield from module.named_modules(memo, _joined(prefix, name), remove_duplicate)

    def modules(self, remove_duplicate: bool = True) -> Iterator[Any]:
        """This module and all below it."""
        for _, module in self.named_modules(remove_duplicate=remove_duplicate):
            yield module

    def named_children(self) -> Iterator[tuple[str, Any]]:
        """Pairs of a name and a module directly below this one."""
        seen = set()
        for name, module in self._modules.items():
            if module is not None and module not in seen:
                seen.add(module)
                yield name, module

    def children(self) -> Iterator[Any]:
        """The modules directly below this one."""
        for _, module in self.named_children():
            yield module

    def named_parameters(
        self, prefix: str = "", recurse: bool = True, remove_duplicate: bool = True
    ) -> Iterator[tuple[str, Parameter]]:
        """Pairs of a path and a parameter; `recurse`: of the modules below too."""
        return self._named_members(
            lambda module: module._parameters.items(), prefix, recurse, remove_duplicate
        )

    def parameters(self, recurse: bool = True) -> Iterator[Parameter]:
        """The parameters, each once: what an optimizer is given."""
        for _, param in self.named_parameters(recurse=recurse):
            yield param

    def named_buffers(
        self, prefix: str = "", recurse: bool = True, remove_duplicate: bool = True
    ) -> Iterator[tuple[str, Tensor]]:
        """Pairs of a path and a buffer."""
        return self._named_members(
            lambda module: module._buffers.items(), prefix, recurse, remove_duplicate
        )

    def buffers(self, recurse: bool = True) -> Iterator[Tensor]:
        """The buffers, each once."""
        for _, buffer in self.named_buffers(recurse=recurse):
            yield buffer

    def _named_members(
        self,
        get_members_fn: Callable[[Any], Iterable[tuple[str, Any]]],
        prefix: str = "",
        recurse: bool = True,
        remove_duplicate: bool = True,
    ) -> Iterator[tuple[str, Any]]:
        seen = set()
        modules = (
            self.named_modules(prefix=prefix, remove_duplicate=remove_duplicate)
            if recurse
            else [(prefix, self)]
        )
        for path, module in modules:
            for name, member in get_members_fn(module):
                if member is not None and member not in seen:
                    if remove_duplicate:
                        seen.add(member)
                    yield _joined(path, name), member

    # ------------------------------------------------------------ on all at once

    def apply(self: _M, fn: Callable[[Any], Any]) -> _M:
        """Call ``fn(module)`` on all modules below and then on this one, for example to initialise."""
        for module in self.children():
            module.apply(fn)
        fn(self)
        return self

    def _apply(self: _M, fn: Callable[[Any], Any], recurse: bool = True) -> _M:
        """Replace the numbers of every parameter, gradient and buffer by those of ``fn(tensor)``.

        Parameters stay the same objects, so an optimizer that holds them keeps working.
        """
        if recurse:
            for module in self.children():
                module._apply(fn)
        with modes.no_grad():
            for param in self._parameters.values():
                if param is not None:
                    grad = param.grad
                    param.data = fn(param)
                    if grad is not None:
                        grad.data = fn(grad)
            for name, buffer in self._buffers.items():
                if buffer is not None:
                    self._buffers[name] = fn(buffer)
        return self

    def to(self: _M, *args: Any, **kwargs: Any) -> _M:
        """Move the module to a device, a floating dtype, or both, in place; integers keep theirs.

        Call it as ``to(device)``, ``to(dtype)``, ``to(device, dtype)`` or ``to(tensor)``.

        Raises: TypeError: the dtype is neither floating nor complex, or the arguments are none of these
        forms. RuntimeError: they ask for a copy.
        """
        where, dtype = target_of(*args, **kwargs)
        if dtype is not None and dtype.category < 2:
            raise TypeError(
                "nn.Module.to only accepts floating point or complex dtypes, but got desired "
                f"dtype={dtype}"
            )

        if where is not None and device(where).type == "meta":
            return self._replace(on_meta)

        def converted(x: Any) -> Any:
            kept = None if x.dtype.category < 2 else dtype
            if where is not None and kept is not None:
                return x.to(where, kept)
            return x if where is None and kept is None else x.to(kept if where is None else where)

        return self._apply(converted)

    def type(self: _M, dst_type: Any) -> _M:
        """Convert everything, integers too, to a dtype."""
        return self._apply(lambda x: x.to(dst_type))

    def float(self: _M) -> _M:
        """Convert parameters and buffers of floats to float32."""
        return self._floats_to(dtypes.float32)

    def double(self: _M) -> _M:
        """Convert parameters and buffers of floats to float64."""
        return self._floats_to(dtypes.float64)

    def half(self: _M) -> _M:
        """Convert parameters and buffers of floats to float16."""
        return self._floats_to(dtypes.float16)

    def bfloat16(self: _M) -> _M:
        """Convert parameters and buffers of floats to bfloat16.

        Raises: AttributeError: the package `ml_dtypes` is not installed.
        """
        found = getattr(dtypes, "bfloat16", None)
        if found is None:
            raise AttributeError(
                "torch.bfloat16 needs the package ml_dtypes: pip install ml_dtypes"
            )
        return self._floats_to(found)

    def _floats_to(self: _M, dtype: dtypes.dtype) -> _M:
        return self._apply(lambda x: x.to(dtype) if x.is_floating_point() else x)

    def cpu(self: _M) -> _M:
        """Move parameters and buffers to the CPU."""
        return self._apply(lambda x: x.to("cpu"))

    def cuda(self: _M, device: Any = None) -> _M:
        """Move parameters and buffers to a GPU."""
        return self._apply(lambda x: x.to("cuda" if device is None else device))

    def to_empty(self: _M, *, device: Any, recurse: bool = True) -> _M:
        """Give every parameter and buffer memory on the device, with whatever numbers are in it."""
        self._replace(lambda x: with_memory(x, device) if isinstance(x, OnMeta) else x, recurse)
        return self._apply(lambda x: empty_like(x, device=device), recurse)

    def _replace(self: _M, fn: Callable[[Any], Any], recurse: bool = True) -> _M:
        """Put ``fn(tensor)`` in the place of every parameter and buffer."""
        made: dict[Any, Any] = {}  # what is shared stays so
        for module in self.modules() if recurse else [self]:
            for held in (module._parameters, module._buffers):
                for name, x in held.items():
                    if x is not None:
                        held[name] = made[x] = made[x] if x in made else fn(x)
        return self

    def train(self: _M, mode: bool = True) -> _M:
        """Set `training`, here and below; it changes what dropout and batch norm do, nothing else.

        Raises: ValueError: `mode` is no bool.
        """
        if not isinstance(mode, bool):
            raise ValueError("training mode is expected to be boolean")
        self.training = mode
        for module in self.children():
            module.train(mode)
        return self

    def eval(self: _M) -> _M:
        """``train(False)``. It never changes what requires a gradient."""
        return self.train(False)

    def requires_grad_(self: _M, requires_grad: bool = True) -> _M:
        """Say for all parameters whether their gradients are wanted: False freezes the module."""
        for param in self.parameters():
            param.requires_grad_(requires_grad)
        return self

    def zero_grad(self, set_to_none: bool = True) -> None:
        """Reset the `.grad` of all parameters, to None or to zeros."""
        for param in self.parameters():
            reset_grad(param, set_to_none)

    def compile(self, *args: Any, **kwargs: Any) -> None:
        """Run `forward` as a program from now on, see `compat.compile`; hooks run around it."""
        compiled = FROM_ABOVE["compile"](type(self).forward.__get__(self), *args, **kwargs)
        self.__dict__["forward"] = compiled

    def __getstate__(self) -> dict[str, Any]:
        """The attributes; programs stay with the object that they were made for."""
        state = dict(self.__dict__)
        if hasattr(state.get("forward"), "explain"):
            del state["forward"]
        return state

    # ------------------------------------------------------------ printing

    def _get_name(self) -> str:
        return type(self).__name__

    def extra_repr(self) -> str:
        """What is printed between the parentheses, besides the modules below."""
        return ""

    def __repr__(self) -> str:
        extra = self.extra_repr()
        children = [
            f"({name}): {_indented(repr(module))}" for name, module in self._modules.items()
        ]
        if not children and "\n" not in extra:
            return f"{self._get_name()}({extra})"
        lines = [*(extra.split("\n") if extra else ()), *children]
        return f"{self._get_name()}(\n  " + "\n  ".join(lines) + "\n)"


# Members by the attribute that holds them: what may be assigned to one, and what it is called.
_KINDS: tuple[tuple[str, Any, str], ...] = (
    ("_parameters", Parameter, "parameter '{}' (torch.nn.Parameter or None expected)"),
    ("_modules", Module, "child module '{}' (torch.nn.Module or None expected)"),
    ("_buffers", TensorBase, "buffer '{}' (torch.nn.Buffer, torch.Tensor or None expected)"),
)


def reset_grad(param: Any, set_to_none: bool) -> None:
    """Make the `.grad` of `param` None, or zeros in the same memory and with no history."""
    grad = param.grad
    if grad is None:
        return
    if set_to_none:
        param.grad = None
        return
    if grad.grad_fn is not None:
        grad.detach_()
    else:
        grad.requires_grad_(False)
    grad.zero_()


def _no_module(x: Any) -> TypeError:
    """The error for what should be a module; a class of modules has only to be called."""
    if not (isinstance(x, type) and issubclass(x, Module)):
        return TypeError(f"{typename(x)} is not a Module subclass")
    name = x.__name__
    call = f"nn.{name}(...)" if x.__module__.startswith(f"{__package__}.") else f"{name}(...)"
    return TypeError(
        f"{x.__module__}.{x.__qualname__} is not a Module subclass. {name} is a class: write {call}"
    )


def _too_early(what: str) -> str:
    return f"cannot assign {what} before Module.__init__() call: call super().__init__() first"


def _joined(path: str, name: str) -> str:
    return f"{path}.{name}" if path else name


def _indented(text: str) -> str:
    return text.replace("\n", "\n  ")


def target_of(
    *args: Any,
    dtype: Any = None,
    device: Any = None,
    non_blocking: bool = False,
    copy: bool = False,
    memory_format: Any = None,
    tensor: Any = None,
) -> tuple[Any, Any]:
    """The device and the dtype, None if not given, that the arguments of `Module.to` name.

    Raises: TypeError: they are none of its forms. RuntimeError: they ask for a copy.
    """
    flags: Any = ()
    if args or tensor is not None:
        dtype, device, flags = target(args if tensor is None else (tensor, *args), dtype, device)
    if copy or True in flags[1:]:
        raise RuntimeError(
            ".to() does not accept copy argument: copy.deepcopy(module).to(...) copies"
        )
    return device, None if dtype is None else dtypes.as_dtype(dtype, "to")
