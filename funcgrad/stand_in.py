"""`sys.modules["torch"] = compat`: submodules under the borrowed name are the ones of the package.

Where there is an object of the name, as ``scipy.stats.norm`` is, it takes the place of the module.

Without this, ``import torch.nn`` would run `compat/nn` a second time as another module, with classes
of its own: its layers would be none to the first.
"""

from __future__ import annotations

import importlib
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from importlib.machinery import ModuleSpec
from types import ModuleType
from typing import Any

from .errors import ArgumentError, where

_WRITTEN = ("__name__", "__loader__", "__package__", "__path__", "__file__", "__spec__")


@dataclass(frozen=True)
class StandIn:
    """A finder and loader: what lies below an alias of a package is an alias too.

    Names are looked up in `packages`, the first of which is the one with the alias.
    """

    packages: tuple[str, ...]

    def find_spec(
        self, name: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        root, _, rest = name.partition(".")
        own = sys.modules.get(self.packages[0])
        if not rest or root in self.packages or sys.modules.get(root) is not own:
            return None
        return ModuleSpec(name, self)  # type: ignore[arg-type]

    def create_module(self, spec: ModuleSpec) -> Any:
        names = [f"{package}.{spec.name.partition('.')[2]}" for package in self.packages]
        module = next((m for m in map(_found, names) if m is not None), None)
        if module is None:
            raise ModuleNotFoundError(
                f"No module named {spec.name!r}: {names[-1]} stands for it and is not offered here",
                name=spec.name,
            )
        # The import system writes its own into the module; the loader writes the old back.
        spec.loader_state = {name: vars(module).get(name) for name in _WRITTEN}
        return module

    def exec_module(self, module: Any) -> None:
        alias = module.__spec__.name
        for name, old in module.__spec__.loader_state.items():
            if old is None:
                vars(module).pop(name, None)
            else:
                setattr(module, name, old)
        for name, hidden in _hidden(module).items():
            sys.modules[f"{alias}.{name}"] = hidden


def _found(name: str) -> Any:
    """The module, or the object in a module, of a name; None if there is none."""
    try:
        return importlib.import_module(name)
    except ModuleNotFoundError as error:
        if error.name is None or not f"{name}.".startswith(f"{error.name}."):
            raise
    above, _, last = name.rpartition(".")
    found = getattr(sys.modules.get(above), last, None)
    return None if isinstance(found, type) else found  # of a class nobody thinks it a module


def _hidden(package: Any) -> dict[str, ModuleType]:
    """Submodules behind functions of their names, as ``torch.autograd.gradcheck``.

    If they were imported anew under an alias, the import system would put them over the functions.
    """
    if not isinstance(package, ModuleType):
        return {}
    found = {name: sys.modules.get(f"{package.__name__}.{name}") for name in vars(package)}
    return {n: m for n, m in found.items() if m is not None and vars(package)[n] is not m}


def borrow(name: str, package: str) -> None:
    """``import name`` is the package from here on, in the whole process.

    Raises: ArgumentError: what has that name has been imported already.
    """
    own, found = sys.modules[package], sys.modules.get(name)
    if found is not None and found is not own:
        raise ArgumentError(f"install: {name} is imported already, from {found.__file__}{where()}")
    sys.modules[name] = own


def give_back(name: str, package: str) -> bool:
    """Undo `borrow`, and say whether there was anything to undo."""
    if sys.modules.get(name) is not sys.modules[package]:
        return False
    for taken in [n for n in sys.modules if n == name or n.startswith(f"{name}.")]:
        del sys.modules[taken]
    return True


def install(*packages: str) -> None:
    """Put the finder in front of the one that would look into the first package's folder."""
    finder = StandIn(packages)
    if finder not in sys.meta_path:
        sys.meta_path.insert(0, finder)
