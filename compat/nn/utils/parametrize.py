"""Parameters that are functions of others: a tensor of a module is computed whenever it is read.

NOTE [Classes of parametrized modules] A parametrized module has a class of its own, a subclass of
its class that has a property for each of these tensors. It gets a new one when their names change,
so copies of a module never share what is changed.
"""

from __future__ import annotations

import copy
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from typing import Any

from ...autograd import modes
from ...autograd.base import TensorBase
from ...parameter import Parameter
from ..container import ModuleDict, ModuleList
from ..module import Module

_depth = 0  # of `cached`
_values: dict[tuple[int, str], Any] = {}


@contextmanager
def cached() -> Iterator[None]:
    """Within it every parametrized tensor is computed once, when it is first read.

    >>> import compat as torch
    >>> class Doubled(torch.nn.Module):
    ...     def forward(self, x):
    ...         return 2 * x
    >>> layer = register_parametrization(torch.nn.Linear(2, 2), "weight", Doubled())
    >>> with cached():
    ...     layer.weight is layer.weight
    True
    """
    global _depth
    _depth += 1
    try:
        yield
    finally:
        _depth -= 1
        if not _depth:
            _values.clear()


def _check_tensor(what: str, x: Any) -> None:
    if not isinstance(x, TensorBase):
        raise ValueError(f"{what} must return a tensor. Got {type(x).__name__}.")


def _check_same(what: str, found: Any, dtype: Any, shape: Any) -> None:
    """Raises: ValueError: `found` is no tensor of this dtype and shape."""
    _check_tensor(what, found)
    for kind, old, new in (("dtype", dtype, found.dtype), ("shape", shape, found.shape)):
        if new != old:
            raise ValueError(
                f"Registering a parametrization may not change the {kind} of the tensor, unless "
                f"`unsafe` flag is enabled.\nunparametrized {kind}: {old}\n{what}: {new}"
            )


def _register(module: Module, name: str, x: Any) -> None:
    if isinstance(x, Parameter):
        module.register_parameter(name, x)
    else:
        module.register_buffer(name, x)


class ParametrizationList(ModuleList):
    """The functions that one tensor goes through, and what it is computed from.

    That is `original`, or `original0`, `original1` and so on if the first function has several
    arguments: `right_inverse` of the functions, in reverse, finds them. `unsafe`: the functions
    may change the dtype and the shape.

    Raises: ValueError: there are no functions, or dtype or shape change.
    """

    original: Any
    unsafe: bool

    def __init__(self, modules: Sequence[Module], original: Any, unsafe: bool = False) -> None:
        if not modules:
            raise ValueError("ParametrizationList requires one or more modules.")
        super().__init__(modules)
        self.unsafe = unsafe
        shape, dtype = original.shape, original.dtype
        new = self._inverted(original)
        self.is_tensor = isinstance(new, TensorBase)
        self.ntensors = 1 if self.is_tensor else len(new)
        if self.is_tensor:
            if new.dtype != dtype:
                raise ValueError(
                    "When `right_inverse` outputs one tensor, it may not change the dtype.\n"
                    f"original.dtype: {dtype}\nright_inverse(original).dtype: {new.dtype}"
                )
            original.data = new
            _register(self, "original", original)
        else:
            self._keep_several(new, original)
        if not unsafe:
            _check_same("A parametrization", self(), dtype, shape)

    def _inverted(self, x: Any) -> Any:
        """What the functions make `x` of, as far as they know."""
        with modes.no_grad():
            for module in reversed(list(self)):
                if hasattr(module, "right_inverse"):
                    with suppress(NotImplementedError):
                        x = module.right_inverse(x)
        if not isinstance(x, TensorBase | Sequence):
            raise ValueError(
                "'right_inverse' must return a Tensor or a Sequence of tensors (list, tuple...). "
                f"Got {type(x).__name__}"
            )
        return x

    def _keep_several(self, tensors: Sequence[Any], original: Any) -> None:
        for i, x in enumerate(tensors):
            if not isinstance(x, TensorBase):
                raise ValueError(
                    "'right_inverse' must return a Tensor or a Sequence of tensors (list, "
                    f"tuple...). Got element {i} of the sequence with type {type(x).__name__}."
                )
            kept: Any = x
            if isinstance(original, Parameter):
                kept = Parameter(kept, original.requires_grad)
            kept.requires_grad_(original.requires_grad)
            _register(self, f"original{i}", kept)

    def originals(self) -> list[Any]:
        """The tensors that the value is computed from."""
        if self.is_tensor:
            return [self.original]
        return [getattr(self, f"original{i}") for i in range(self.ntensors)]

    def right_inverse(self, value: Any) -> None:
        """Change the originals so that the value becomes `value`.

        Raises: RuntimeError: a function has no right inverse. ValueError: it returned other
        tensors than before.
        """
        with modes.no_grad():
            for module in reversed(list(self)):
                if not hasattr(module, "right_inverse"):
                    raise RuntimeError(
                        f"parametrization {type(module).__name__} does not implement right_inverse."
                    )
                value = module.right_inverse(value)
        if self.is_tensor:
            _check_tensor("`right_inverse`", value)
            value = [value]
        elif not isinstance(value, Sequence):
            raise ValueError(
                f"'right_inverse' must return a sequence of tensors. Got {type(value).__name__}."
            )
        if len(value) != self.ntensors:
            raise ValueError(
                f"'right_inverse' must return a sequence of tensors of length {self.ntensors}. Got "
                f"a sequence of length {len(value)}."
            )
        for i, (old, new) in enumerate(zip(self.originals(), value, strict=True)):
            _check_tensor(f"Element {i} of `right_inverse`", new)
            if old.dtype != new.dtype:
                raise ValueError(
                    f"Tensor {i} returned by `right_inverse` has dtype {new.dtype} while "
                    f"`original{'' if self.is_tensor else i}` has dtype {old.dtype}"
                )
            old.data = new

    def forward(self) -> Any:
        functions = iter(self)
        x = next(functions)(*self.originals())
        for function in functions:
            x = function(x)
        return x


# ---------------------------------------------------------------- the class of the module


def _property(name: str) -> property:
    """The attribute `name` of a parametrized module."""

    def get(self: Any) -> Any:
        parametrization = self.parametrizations[name]
        if not _depth:
            return parametrization()
        key = (id(self), name)
        if key not in _values:
            _values[key] = parametrization()
        return _values[key]

    def put(self: Any, value: Any) -> None:
        self.parametrizations[name].right_inverse(value)

    return property(get, put)


def _no_state(self: Any) -> Any:
    raise RuntimeError(
        "Serialization of parametrized modules is only supported through state_dict()."
    )


def _deepcopy(self: Any, memo: dict[int, Any]) -> Any:
    made = object.__new__(type(self))
    memo[id(self)] = made
    made.__dict__.update(copy.deepcopy(self.__dict__, memo))
    return made


def _renew_class(module: Any, base: type) -> None:
    """See NOTE [Classes of parametrized modules]."""
    members: dict[str, Any] = {name: _property(name) for name in module.parametrizations}
    members["__getstate__"] = _no_state
    if not hasattr(base, "__deepcopy__"):
        members["__deepcopy__"] = _deepcopy
    module.__class__ = type(f"Parametrized{base.__name__}", (base,), members)


# ---------------------------------------------------------------- on modules


def register_parametrization(
    module: Any, tensor_name: str, parametrization: Any, *, unsafe: bool = False
) -> Any:
    """From now on ``module.tensor_name`` is ``parametrization(original)``, computed at every read.

    A second one is applied to the value of the first. If the parametrization has a method
    `right_inverse`, it says what `original` should be for the value to stay as it is, and the
    tensor can be assigned to. `unsafe`: dtype and shape may change.

    Raises: ValueError: there is no such tensor, or dtype or shape change.

    >>> import compat as torch
    >>> class Symmetric(torch.nn.Module):
    ...     def forward(self, x):
    ...         return x.triu() + x.triu(1).T
    >>> layer = register_parametrization(torch.nn.Linear(3, 3), "weight", Symmetric())
    >>> bool((layer.weight == layer.weight.T).all())
    True
    >>> list(layer.state_dict())
    ['bias', 'parametrizations.weight.original']
    """
    parametrization.train(module.training)
    if is_parametrized(module, tensor_name):
        if not unsafe:
            _check_added(getattr(module, tensor_name), parametrization)
        functions = module.parametrizations[tensor_name]
        functions.append(parametrization)
        functions.unsafe |= unsafe
    elif tensor_name in module._buffers or tensor_name in module._parameters:
        original = getattr(module, tensor_name)
        functions = ParametrizationList([parametrization], original, unsafe=unsafe)
        base = type_before_parametrizations(module)
        delattr(module, tensor_name)
        if not is_parametrized(module):
            module.parametrizations = ModuleDict()
        module.parametrizations[tensor_name] = functions
        _renew_class(module, base)
    else:
        raise ValueError(
            f"Module '{module}' does not have a parameter, a buffer, or a parametrized element "
            f"with name '{tensor_name}'"
        )
    return module


def _check_added(value: Any, parametrization: Any) -> None:
    """Raises: ValueError: the function, or its right inverse, changes the dtype or the shape."""
    found = parametrization(value)
    _check_same("A parametrization", found, value.dtype, value.shape)
    if hasattr(parametrization, "right_inverse"):
        try:
            back = parametrization.right_inverse(found)
        except NotImplementedError:
            return
        _check_same("parametrization.right_inverse", back, value.dtype, value.shape)


def is_parametrized(module: Any, tensor_name: str | None = None) -> bool:
    """Whether this tensor of the module, or any if no name is given, is parametrized."""
    found = getattr(module, "parametrizations", None)
    if not isinstance(found, ModuleDict):
        return False
    return len(found) > 0 if tensor_name is None else tensor_name in found


def remove_parametrizations(module: Any, tensor_name: str, leave_parametrized: bool = True) -> Any:
    """Make the tensor an ordinary one again: with its present value, or as `original` is.

    Raises: ValueError: it is not parametrized, or has several originals and is not to be left as it
    is.
    """
    if not is_parametrized(module, tensor_name):
        raise ValueError(f"Module {module} does not have a parametrization on {tensor_name}")
    functions = module.parametrizations[tensor_name]
    if functions.is_tensor:
        kept = functions.original
        if leave_parametrized:
            with modes.no_grad():
                kept.data = getattr(module, tensor_name)
    elif leave_parametrized:
        value = getattr(module, tensor_name)
        kept = Parameter(value) if value.requires_grad else value
    else:
        raise ValueError(
            "Cannot leave unparametrized (`leave_parametrized=False`) a tensor that is "
            "parametrized in terms of a sequence of tensors."
        )
    base = type_before_parametrizations(module)
    del module.parametrizations[tensor_name]
    if is_parametrized(module):
        _renew_class(module, base)
    else:
        del module.parametrizations
        module.__class__ = base
    _register(module, tensor_name, kept)
    return module


def type_before_parametrizations(module: Any) -> type:
    """The class that the module had before it was parametrized."""
    return type(module).__bases__[0] if is_parametrized(module) else type(module)


def transfer_parametrizations_and_params(
    from_module: Any, to_module: Any, tensor_name: str | None = None
) -> Any:
    """Give `to_module` the parametrizations and originals of one tensor of `from_module`, or all."""
    if not is_parametrized(from_module):
        return to_module
    for name in from_module.parametrizations if tensor_name is None else [tensor_name]:
        functions = from_module.parametrizations[name]
        if not hasattr(to_module, name):
            setattr(to_module, name, Parameter(getattr(from_module, name)))
        for function in functions:
            register_parametrization(to_module, name, function)
        target = to_module.parametrizations[name]
        for key in [*functions._parameters, *functions._buffers]:
            setattr(target, key, getattr(functions, key))
    return to_module


__all__ = [
    "ParametrizationList",
    "cached",
    "is_parametrized",
    "register_parametrization",
    "remove_parametrizations",
    "transfer_parametrizations_and_params",
    "type_before_parametrizations",
]
