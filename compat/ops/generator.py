"""The source of random numbers: `Generator`, the default one, seeds and states.

NumPy's PCG64 (O'Neill, PCG: a family of simple fast space-efficient statistically good algorithms for
random number generation, 2014). The same seed gives the same numbers on every machine, but other
numbers than PyTorch's.
"""

from __future__ import annotations

import contextlib
import operator
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import numpy as np

from .. import cuda
from ..autograd import base
from ..autograd.base import TensorBase
from ..size import device as Device

if TYPE_CHECKING:
    from .._tensor import Tensor

_SIZE = 53  # bytes of a state: three numbers of 16, a flag, one of 4


class Generator:
    """A stream of random numbers, which a seed starts.

    >>> import compat as torch
    >>> a, b = torch.Generator().manual_seed(1), torch.Generator().manual_seed(1)
    >>> bool((torch.rand(3, generator=a) == torch.rand(3, generator=b)).all())
    True
    """

    def __init__(self, device: Any = "cpu") -> None:
        self.device = Device(device)
        if self.device.type != "cpu" and not cuda.is_available():
            raise RuntimeError(f"Cannot get a generator for {self.device}: there is no GPU")
        self.seeds = 0  # how often it was seeded
        self._start(67280421310721)

    def _start(self, seed: int) -> None:
        self._seed = seed
        self.stream = np.random.Generator(np.random.PCG64(seed))

    def manual_seed(self, seed: Any) -> Generator:
        """Start the stream that belongs to `seed`, an integer of 64 bits; returns the generator.

        Raises: RuntimeError: it is no integer. ValueError: it has more bits.
        """
        if not hasattr(type(seed), "__index__"):
            raise RuntimeError(f"manual_seed expected a long, but got {type(seed).__name__}")
        number = operator.index(seed)
        if not -(2**63) <= number < 2**64:
            raise ValueError(f"Overflow when unpacking long long: the seed {number}")
        self.seeds += 1
        self._start(number % 2**64)
        return self

    def seed(self) -> int:
        """Start a stream that is different every time; returns its seed."""
        self.seeds += 1
        self._start(int(np.random.SeedSequence().generate_state(1, np.uint64)[0]))
        return self._seed

    def initial_seed(self) -> int:
        """The seed of the stream.

        >>> Generator().manual_seed(7).initial_seed()
        7
        """
        return self._seed

    def get_state(self) -> Any:
        """Where the stream is, as a tensor of bytes."""
        state: Any = self.stream.bit_generator.state
        numbers = (state["state"]["state"], state["state"]["inc"], self._seed)
        data = b"".join(n.to_bytes(16, "little") for n in numbers)
        data += bytes([state["has_uint32"]]) + int(state["uinteger"]).to_bytes(4, "little")
        return base.tensor(np.frombuffer(data, np.uint8).copy())

    def set_state(self, new_state: Any) -> Generator:
        """Go to where `get_state` was called, of this generator or another; returns the generator.

        Raises: TypeError: it is no tensor of bytes. RuntimeError: it is of another length.
        """
        if not isinstance(new_state, TensorBase):
            raise TypeError(f"expected a torch.ByteTensor, but got {type(new_state).__name__}")
        if new_state._array.dtype != np.uint8:
            raise TypeError("RNG state must be a torch.ByteTensor")
        data = new_state._array.tobytes()
        if len(data) != _SIZE:
            raise RuntimeError(
                f"Expected a state of size {_SIZE} but found the input RNG state size to be "
                f"{len(data)}"
            )
        state, step, seed = (int.from_bytes(data[i : i + 16], "little") for i in (0, 16, 32))
        self._start(seed)
        self.stream.bit_generator.state = {
            "bit_generator": "PCG64",
            "state": {"state": state, "inc": step},
            "has_uint32": data[48],
            "uinteger": int.from_bytes(data[49:], "little"),
        }
        return self

    def clone_state(self) -> Generator:
        """Another generator, at the same place of the stream."""
        return _at(str(self.device), self.get_state()._array)

    def __reduce__(self) -> Any:
        return _at, (str(self.device), self.get_state()._array)


def _at(device: str, state: Any) -> Generator:
    made = Generator(device)
    made.set_state(base.tensor(state))
    return made


default_generator = Generator()


def stream(name: str, generator: Any) -> np.random.Generator:
    """The stream that the function `name` draws from.

    Raises: TypeError: `generator` is none.
    """
    if generator is None:
        return default_generator.stream
    if not isinstance(generator, Generator):
        raise TypeError(
            f"{name}(): argument 'generator' must be torch.Generator, not "
            f"{type(generator).__name__}"
        )
    return generator.stream


# ---------------------------------------------------------------- the default generator


def manual_seed(seed: Any) -> Generator:
    """Start the default stream that belongs to `seed`; returns the generator.

    >>> import compat as torch
    >>> _ = torch.manual_seed(0)
    >>> a = torch.rand(2)
    >>> _ = torch.manual_seed(0)
    >>> torch.equal(a, torch.rand(2))
    True
    """
    return default_generator.manual_seed(int(seed))


def seed() -> int:
    """Start a default stream that is different every time; returns its seed."""
    return default_generator.seed()


def initial_seed() -> int:
    """The seed of the default stream.

    >>> import compat as torch
    >>> torch.manual_seed(3).initial_seed(), torch.initial_seed()
    (3, 3)
    """
    return default_generator.initial_seed()


def get_rng_state() -> Tensor:
    """Where the default stream is, as a tensor of bytes."""
    return default_generator.get_state()


def set_rng_state(new_state: Any) -> None:
    """Go to where `get_rng_state` was called."""
    default_generator.set_state(new_state)


@contextlib.contextmanager
def fork_rng(devices: Any = None, enabled: bool = True, **_: Any) -> Iterator[None]:
    """What is drawn inside the ``with`` leaves the default stream where it was.

    >>> import compat as torch
    >>> _ = torch.manual_seed(0)
    >>> with torch.random.fork_rng():
    ...     inside = torch.rand(2)
    >>> torch.equal(inside, torch.rand(2))
    True
    """
    state = get_rng_state()
    try:
        yield
    finally:
        if enabled:
            set_rng_state(state)


__all__ = [
    "Generator",
    "default_generator",
    "get_rng_state",
    "initial_seed",
    "manual_seed",
    "seed",
    "set_rng_state",
]
