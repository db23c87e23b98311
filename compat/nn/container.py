"""Modules that hold others, in a chain, a list or a dictionary, and such that hold parameters."""

from __future__ import annotations

import operator
import warnings
from collections import OrderedDict
from collections.abc import Callable, Iterable, Iterator, Mapping
from itertools import groupby
from typing import Any, TypeVar

from ..autograd.base import TensorBase
from ..parameter import Parameter
from .module import Module, typename

_S = TypeVar("_S", bound="_Sequence")


class _Sequence(Module):
    """What `Sequential` and `ModuleList` have in common: modules in an order."""

    def __len__(self) -> int:
        return len(self._modules)

    def __iter__(self) -> Iterator[Any]:
        return iter(self._modules.values())

    def _key(self, index: Any) -> str:
        """The name of the module at a position, which may count from the end.

        Raises: IndexError: there is none.
        """
        at = operator.index(index)
        if not -len(self) <= at < len(self):
            raise IndexError(f"index {at} is out of range")
        return list(self._modules)[at]

    def _part(self: _S, index: slice) -> _S:
        raise NotImplementedError

    def __getitem__(self, index: Any) -> Any:
        return self._part(index) if isinstance(index, slice) else self._modules[self._key(index)]

    def __setitem__(self, index: int, module: Module) -> None:
        setattr(self, self._key(index), module)

    def __delitem__(self, index: Any) -> None:
        names = list(self._modules)[index] if isinstance(index, slice) else [self._key(index)]
        for name in names:
            del self._modules[name]
        self._renumber(list(self._modules.values()))

    def _renumber(self, modules: list[Any]) -> None:
        self._modules = {str(i): module for i, module in enumerate(modules)}

    def append(self: _S, module: Module) -> _S:
        """Add a module at the end."""
        self.add_module(str(len(self)), module)
        return self

    def extend(self: _S, modules: Iterable[Module]) -> _S:
        """Add modules at the end."""
        if not isinstance(modules, Iterable):
            raise TypeError(
                f"{self._get_name()}.extend should be called with an iterable, but got "
                f"{type(modules).__name__}"
            )
        for module in list(modules):
            self.append(module)
        return self

    def insert(self: _S, index: int, module: Module) -> _S:
        """Put a module before the one at `index`."""
        if not isinstance(module, Module):
            raise AssertionError(f"module should be of type: {Module}, found {typename(module)}")
        if not -len(self) <= index <= len(self):
            raise IndexError(f"Index out of range: {index}")
        modules = list(self)
        modules.insert(index, module)
        self._renumber(modules)
        return self

    def pop(self, key: Any) -> Any:
        """Take out the module at a position."""
        found = self[key]
        del self[key]
        return found

    def __iadd__(self: _S, other: Iterable[Module]) -> _S:
        return self.extend(other)


class Container(Module):
    """Modules by their names. Deprecated: a subclass of `Module` does the same."""

    def __init__(self, **kwargs: Any) -> None:
        warnings.warn(
            "`nn.Container` is deprecated. All of its functionality is now implemented in "
            "`nn.Module`. Subclass that instead.",
            FutureWarning,
            stacklevel=2,
        )
        super().__init__()
        for name, module in kwargs.items():
            self.add_module(name, module)


class Sequential(_Sequence):
    """Modules in a chain: each is called on the result of the one before.

    Give the modules themselves, or an `OrderedDict` of names and modules.

    >>> import compat as torch
    >>> torch.nn.Sequential(torch.nn.Linear(2, 3), torch.nn.ReLU())
    Sequential(
      (0): Linear(in_features=2, out_features=3, bias=True)
      (1): ReLU()
    )
    """

    def __init__(self, *args: Any) -> None:
        super().__init__()
        named = len(args) == 1 and isinstance(args[0], OrderedDict)
        for name, module in args[0].items() if named else enumerate(args):
            self.add_module(str(name), module)

    def forward(self, input: Any) -> Any:
        for module in self._modules.values():
            input = module(input)
        return input

    def _part(self, index: slice) -> Any:
        return type(self)(OrderedDict(list(self._modules.items())[index]))

    def __iadd__(self, other: Any) -> Sequential:
        return self.extend(_chain(other))

    def __add__(self, other: Any) -> Sequential:
        return Sequential(*self, *_chain(other))

    def __mul__(self, times: int) -> Sequential:
        if not isinstance(times, int):
            raise TypeError(f"unsupported operand type(s) for *: {type(self)} and {type(times)}")
        if times <= 0:
            raise ValueError(f"Non-positive multiplication factor {times} for {type(self)}")
        return Sequential(*list(self) * times)

    __rmul__ = __mul__


def _chain(x: Any) -> Sequential:
    if not isinstance(x, Sequential):
        raise ValueError(
            f"add operator supports only objects of Sequential class, but {type(x)} is given."
        )
    return x


class ModuleList(_Sequence):
    """A list of modules, all of which are parts of the module that holds it.

    >>> import compat as torch
    >>> torch.nn.ModuleList([torch.nn.ReLU(), torch.nn.ReLU(), torch.nn.Tanh()])
    ModuleList(
      (0-1): 2 x ReLU()
      (2): Tanh()
    )
    """

    def __init__(self, modules: Iterable[Module] | None = None) -> None:
        super().__init__()
        if modules is not None:
            self.extend(modules)

    def _part(self, index: slice) -> Any:
        return type(self)(list(self._modules.values())[index])

    def __add__(self, other: Iterable[Module]) -> ModuleList:
        return ModuleList([*self, *other])

    def __repr__(self) -> str:
        """As of any module; equal neighbours are printed once."""
        if not len(self):
            return f"{self._get_name()}()"
        lines, first = [], 0
        for text, group in groupby(map(repr, self)):
            count = len(list(group))
            text = text.replace("\n", "\n  ")
            lines.append(
                f"({first}): {text}"
                if count == 1
                else f"({first}-{first + count - 1}): {count} x {text}"
            )
            first += count
        return f"{self._get_name()}(\n  " + "\n  ".join(lines) + "\n)"


class ModuleDict(Module):
    """A dictionary of modules, all of which are parts of the module that holds it.

    >>> import compat as torch
    >>> layers = torch.nn.ModuleDict({"act": torch.nn.ReLU()})
    >>> layers["act"](torch.tensor([-1.0, 1.0]))
    tensor([0., 1.])
    """

    def __init__(self, modules: Any = None) -> None:
        super().__init__()
        if modules is not None:
            self.update(modules)

    def __getitem__(self, key: str) -> Any:
        return self._modules[key]

    def __setitem__(self, key: str, module: Module) -> None:
        self.add_module(key, module)

    def __delitem__(self, key: str) -> None:
        del self._modules[key]

    def __len__(self) -> int:
        return len(self._modules)

    def __iter__(self) -> Iterator[str]:
        return iter(self._modules)

    def __contains__(self, key: object) -> bool:
        return key in self._modules

    def clear(self) -> None:
        """Take out everything."""
        self._modules.clear()

    def pop(self, key: str) -> Any:
        """Take out one module."""
        return self._modules.pop(key)

    def keys(self) -> Any:
        return self._modules.keys()

    def items(self) -> Any:
        return self._modules.items()

    def values(self) -> Any:
        return self._modules.values()

    def update(self, modules: Any) -> None:
        """Add modules from a mapping or from pairs.

        Raises: TypeError: `modules` is neither.
        """
        for key, module in _pairs("ModuleDict", modules):
            self[key] = module


class ParameterList(Module):
    """A list of parameters; tensors that are put into it become parameters.

    >>> import compat as torch
    >>> weights = torch.nn.ParameterList([torch.ones(2), torch.ones(3)])
    >>> [name for name, _ in weights.named_parameters()]
    ['0', '1']
    """

    def __init__(self, values: Iterable[Any] | None = None) -> None:
        super().__init__()
        self._size = 0
        if values is not None:
            self.extend(values)

    def _key(self, index: Any) -> str:
        at = operator.index(index)
        if not -self._size <= at < self._size:
            raise IndexError(f"index {at} is out of range")
        return str(at % self._size)

    def __getitem__(self, index: Any) -> Any:
        if isinstance(index, slice):
            return type(self)(list(self)[index])
        return getattr(self, self._key(index))

    def __setitem__(self, index: int, value: Any) -> None:
        setattr(self, self._key(index), _parameter(value))

    def __len__(self) -> int:
        return self._size

    def __iter__(self) -> Iterator[Any]:
        return iter([getattr(self, str(i)) for i in range(self._size)])

    def append(self, value: Any) -> ParameterList:
        """Add a parameter at the end."""
        self._size += 1
        self[-1] = value
        return self

    def extend(self, values: Iterable[Any]) -> ParameterList:
        """Add parameters at the end."""
        if not isinstance(values, Iterable) or isinstance(values, TensorBase):
            raise TypeError(
                "ParameterList.extend should be called with an iterable, but got "
                f"{type(values).__name__}"
            )
        for value in values:
            self.append(value)
        return self

    __iadd__ = extend

    def extra_repr(self) -> str:
        return _listed(enumerate(self), lambda x: str(x.dtype))

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        raise RuntimeError("ParameterList should not be called.")


class ParameterDict(Module):
    """A dictionary of parameters; tensors that are put into it become parameters.

    >>> import compat as torch
    >>> weights = torch.nn.ParameterDict({"w": torch.ones(2)})
    >>> list(weights.parameters())[0] is weights["w"]
    True
    """

    def __init__(self, parameters: Any = None) -> None:
        super().__init__()
        self._keys: dict[str, None] = {}
        if parameters is not None:
            self.update(parameters)

    def __getitem__(self, key: str) -> Any:
        if key not in self._keys:
            raise KeyError(key)
        return getattr(self, key)

    def __setitem__(self, key: str, value: Any) -> None:
        if not isinstance(key, str):
            raise TypeError(
                "Index given to ParameterDict cannot be used as a key as it is not a string (type "
                f"is '{type(key).__name__}')."
            )
        self._keys[key] = None
        setattr(self, key, _parameter(value))

    def __delitem__(self, key: str) -> None:
        del self._keys[key]
        delattr(self, key)

    def __len__(self) -> int:
        return len(self._keys)

    def __iter__(self) -> Iterator[str]:
        return iter(self._keys)

    def __reversed__(self) -> Iterator[str]:
        return reversed(self._keys)

    def __contains__(self, key: object) -> bool:
        return key in self._keys

    def __or__(self, other: Any) -> ParameterDict:
        found = self.copy()
        found.update(other)
        return found

    def __ror__(self, other: Any) -> Any:
        found = other.copy()
        found.update(self)
        return found

    def __ior__(self, other: Any) -> ParameterDict:
        self.update(other)
        return self

    def copy(self) -> ParameterDict:
        """Another dictionary of the same parameters."""
        return ParameterDict(self.items())

    def keys(self) -> Any:
        return self._keys.keys()

    def items(self) -> Any:
        return [(key, self[key]) for key in self._keys]

    def values(self) -> Any:
        return [self[key] for key in self._keys]

    def get(self, key: str, default: Any = None) -> Any:
        """The parameter under a name, or `default`."""
        return getattr(self, key) if key in self._keys else default

    def setdefault(self, key: str, default: Any = None) -> Any:
        """The parameter under a name, which is `default` if there was none."""
        if key not in self._keys:
            self[key] = default
        return self[key]

    def fromkeys(self, keys: Iterable[str], default: Any = None) -> ParameterDict:
        """A new dictionary with `default` under all of these names."""
        return ParameterDict([(key, default) for key in keys])

    def clear(self) -> None:
        """Take out everything."""
        for key in list(self._keys):
            del self[key]

    def pop(self, key: str) -> Any:
        """Take out one parameter."""
        found = self[key]
        del self[key]
        return found

    def popitem(self) -> tuple[str, Any]:
        """Take out the name and the parameter that came last."""
        if not self._keys:
            raise KeyError("popitem(): dictionary is empty")
        key = next(reversed(self._keys))
        return key, self.pop(key)

    def update(self, parameters: Any) -> None:
        """Add parameters from a mapping (in the order of their names) or from pairs.

        Raises: TypeError: `parameters` is neither.
        """
        pairs = _pairs("ParameterDict", parameters)
        ordered = not isinstance(parameters, Mapping) or isinstance(parameters, OrderedDict)
        for key, value in pairs if ordered else sorted(pairs, key=operator.itemgetter(0)):
            self[key] = value

    def extra_repr(self) -> str:
        return _listed(self.items(), typename)

    def __call__(self, input: Any) -> Any:
        raise RuntimeError("ParameterDict should not be called.")


def _parameter(value: Any) -> Any:
    """A tensor as a parameter; what is no tensor is kept as it is."""
    if isinstance(value, TensorBase) and not isinstance(value, Parameter):
        return Parameter(value)
    return value


def _pairs(name: str, given: Any) -> list[tuple[str, Any]]:
    if isinstance(given, Mapping | ModuleDict | ParameterDict):
        return list(given.items())
    if not isinstance(given, Iterable):
        raise TypeError(
            f"{name}.update should be called with an iterable of key/value pairs, but got "
            f"{type(given).__name__}"
        )
    found = [tuple(pair) for pair in given]
    for i, pair in enumerate(found):
        if len(pair) != 2:
            raise ValueError(
                f"{name} update sequence element #{i} has length {len(pair)}; 2 is required"
            )
    return found


def _listed(items: Iterable[tuple[Any, Any]], word: Callable[[Any], str]) -> str:
    """One line for each parameter: what it is of, as a `word`, and its shape."""
    lines = []
    for key, value in items:
        if isinstance(value, TensorBase):
            size = "x".join(map(str, value._array.shape))
            kind = "Parameter" if isinstance(value, Parameter) else "Tensor"
            what = f"{kind} containing: [{word(value)} of size {size}]"
        else:
            what = f"Object of type: {type(value).__name__}"
        lines.append(f"  ({key}): {what}")
    return "\n".join(lines)
