"""Classes that a program allows checkpoints to hold, in PyTorch's files."""

from __future__ import annotations

import collections
import enum
import io
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import pytest

import compat
from compat import serialization
from compat.serialization.names import CheckpointError

torch = pytest.importorskip("torch")


class Kind(enum.Enum):
    """A class whose pickle calls it."""

    SMALL = 1


@dataclass
class Config:
    """A class whose pickle has its attributes."""

    size: int
    weights: Any
    kind: Kind = Kind.SMALL


class Slotted:
    """A class with no dictionary."""

    __slots__ = ("x",)


class Counted:
    """A class that takes its state itself."""

    def __setstate__(self, state: Any) -> None:
        self.taken = state


def doubled(x: int) -> int:
    return 2 * x


class Calls:
    """Its pickle calls a function."""

    def __reduce__(self) -> Any:
        return doubled, (4,)


@pytest.fixture(autouse=True)
def nothing_safe() -> Iterator[None]:
    serialization.clear_safe_globals()
    yield
    serialization.clear_safe_globals()


def file_of(obj: Any) -> io.BytesIO:
    file = io.BytesIO()
    torch.save(obj, file)
    file.seek(0)
    return file


def test_objects_of_safe_classes_are_made() -> None:
    slotted, counted = Slotted(), Counted()
    slotted.x, counted.n = 3, 4  # type: ignore[attr-defined]
    groups = collections.defaultdict(list, a=[1])
    file = file_of([Config(2, torch.ones(2)), slotted, counted, groups, Calls()])
    names = [Config, Kind, Slotted, Counted, collections.defaultdict, list, doubled]
    with serialization.safe_globals(names):
        config, s, c, g, called = compat.load(file, weights_only=True)
    assert isinstance(config, Config)
    assert (config.size, config.kind, config.weights.tolist()) == (2, Kind.SMALL, [1, 1])
    assert type(config.weights) is compat.Tensor
    assert (s.x, c.taken, called) == (3, {"n": 4}, 8)
    assert g == groups
    assert g.default_factory is list


@pytest.mark.parametrize("obj", [Config(2, None), Slotted(), Kind.SMALL, Calls()])
def test_others_are_refused(obj: Any) -> None:
    with serialization.safe_globals([Counted]), pytest.raises(CheckpointError, match="add_safe"):
        compat.load(file_of(obj))
    with pytest.raises(CheckpointError, match="not data"):
        compat.load(file_of(obj))


def test_what_is_safe_is_remembered_and_forgotten() -> None:
    serialization.add_safe_globals([Config, (Slotted, "old.place.Slotted")])
    assert serialization.get_safe_globals() == [Config, Slotted]
    with serialization.safe_globals([Kind]):
        assert Kind in serialization.get_safe_globals()
        assert compat.load(file_of(Config(2, None))) == Config(2, None)
    assert serialization.get_safe_globals() == [Config, Slotted]
    with pytest.raises(CheckpointError, match=r"test_safe_globals\.Slotted"):
        compat.load(file_of(Slotted()))
    serialization.clear_safe_globals()
    assert serialization.get_safe_globals() == []
    with pytest.raises(TypeError, match="callable"):
        serialization.add_safe_globals(["a name"])
