"""Random tensors and their generator: NumPy's PCG64, so other numbers than PyTorch's for a seed."""

from __future__ import annotations

from typing import Any

import numpy as np

from .. import dtypes
from ..autograd import views
from ..autograd.base import TensorBase, tensor
from ..size import device as Device
from ._operands import dtype_of
from ._fresh import made, shape_of


class Generator:
    """A stream of random numbers; the same seed gives the same numbers on every machine.

    Source: O'Neill, PCG: a family of simple fast space-efficient statistically good algorithms
    for random number generation, 2014.

    >>> import compat as torch
    >>> a, b = torch.Generator().manual_seed(1), torch.Generator().manual_seed(1)
    >>> bool((torch.rand(3, generator=a) == torch.rand(3, generator=b)).all())
    True
    """

    def __init__(self, device: Any = "cpu") -> None:
        Device(device or "cpu")
        self.device = device
        self.manual_seed(67280421310721)

    def manual_seed(self, seed: int) -> Generator:
        """Start the stream that belongs to `seed`."""
        self._seed = int(seed)
        self.stream = np.random.Generator(np.random.PCG64(self._seed % 2**64))
        return self

    def seed(self) -> int:
        """Start a stream that is different every time; returns its seed."""
        fresh = int(np.random.SeedSequence().generate_state(1, np.uint64)[0])
        self.manual_seed(fresh)
        return fresh

    def initial_seed(self) -> int:
        """The seed of the stream."""
        return self._seed

    def get_state(self) -> Any:
        """Where the stream is, as a tensor of bytes."""
        state = self.stream.bit_generator.state
        words = (state["state"]["state"], state["state"]["inc"], self._seed % 2**64)
        data = b"".join(w.to_bytes(16, "little") for w in words)
        extra = bytes([state["has_uint32"]]) + state["uinteger"].to_bytes(4, "little")
        return tensor(np.frombuffer(data + extra, np.uint8).copy())

    def set_state(self, new_state: Any) -> None:
        """Go to where `get_state` was called."""
        data = new_state._array.tobytes()
        words = [int.from_bytes(data[16 * i : 16 * i + 16], "little") for i in range(3)]
        self.manual_seed(words[2])
        self.stream.bit_generator.state = {
            "bit_generator": "PCG64",
            "state": {"state": words[0], "inc": words[1]},
            "has_uint32": data[48],
            "uinteger": int.from_bytes(data[49:53], "little"),
        }


default_generator = Generator()


def stream(generator: Generator | None) -> np.random.Generator:
    """The stream to draw from."""
    return (default_generator if generator is None else generator).stream


def manual_seed(seed: int) -> Generator:
    """Start the default stream anew.

    >>> import compat as torch
    >>> _ = torch.manual_seed(0)
    >>> a = torch.rand(2)
    >>> _ = torch.manual_seed(0)
    >>> torch.equal(a, torch.rand(2))
    True
    """
    return default_generator.manual_seed(seed)


def seed() -> int:
    """Start a default stream that is different every time; returns its seed."""
    return default_generator.seed()


def initial_seed() -> int:
    """The seed of the default stream."""
    return default_generator.initial_seed()


def get_rng_state() -> Any:
    """Where the default stream is."""
    return default_generator.get_state()


def set_rng_state(new_state: Any) -> None:
    """Go to where `get_rng_state` was called."""
    default_generator.set_state(new_state)


# ---------------------------------------------------------------- new tensors


def _floating(dtype: Any) -> Any:
    return (dtypes.get_default_dtype() if dtype is None else dtypes.as_dtype(dtype)).numpy


def _given(array: Any, requires_grad: bool, out: Any, name: str) -> Any:
    result = made(array, requires_grad)
    return result if out is None else views.assign(out, result, name, whole=True)


def rand(
    *size: Any,
    generator: Generator | None = None,
    out: Any = None,
    dtype: Any = None,
    layout: Any = None,
    device: Any = None,
    requires_grad: bool = False,
    pin_memory: bool = False,
) -> Any:
    """Uniform numbers of ``0 <= x < 1``.

    >>> import compat as torch
    >>> torch.rand(2, 3).shape
    torch.Size([2, 3])
    """
    Device(device or "cpu")
    found = _uniform(stream(generator), shape_of("rand", size), _floating(dtype))
    return _given(found, requires_grad, out, "rand")


def _uniform(source: np.random.Generator, shape: tuple[int, ...], dtype: Any) -> Any:
    if dtype in (np.float32, np.float64):
        return np.asarray(source.random(shape, dtype=dtype))
    return np.asarray(source.random(shape)).astype(dtype)


def _normal(source: np.random.Generator, shape: tuple[int, ...], dtype: Any) -> Any:
    if dtype.kind == "c":
        parts = source.standard_normal((*shape, 2)) / np.sqrt(2)
        return (parts[..., 0] + 1j * parts[..., 1]).astype(dtype)
    return np.asarray(source.standard_normal(shape)).astype(dtype)


def randn(
    *size: Any,
    generator: Generator | None = None,
    out: Any = None,
    dtype: Any = None,
    layout: Any = None,
    device: Any = None,
    requires_grad: bool = False,
    pin_memory: bool = False,
) -> Any:
    """Normal numbers of mean 0 and variance 1.

    >>> import compat as torch
    >>> torch.randn(2, requires_grad=True).requires_grad
    True
    """
    Device(device or "cpu")
    found = _normal(stream(generator), shape_of("rand", size), _floating(dtype))
    return _given(found, requires_grad, out, "randn")


def randint(
    low: Any,
    high: Any = None,
    size: Any = None,
    *,
    generator: Generator | None = None,
    out: Any = None,
    dtype: Any = None,
    layout: Any = None,
    device: Any = None,
    requires_grad: bool = False,
) -> Any:
    """Integers of ``low <= x < high``.

    Raises: RuntimeError: there are none.

    >>> import compat as torch
    >>> bool((torch.randint(3, (100,)) < 3).all())
    True
    """
    Device(device or "cpu")
    if size is None:
        low, high, size = 0, low, high
    if low >= high:
        raise RuntimeError(f"random_ expects 'from' to be less than 'to', but got from={low} >= to={high}")
    found = stream(generator).integers(low, high, shape_of("rand", (size,)))
    chosen = dtypes.int64 if dtype is None else dtypes.as_dtype(dtype)
    return _given(np.asarray(found).astype(chosen.numpy), requires_grad, out, "randint")


def randperm(
    n: int,
    *,
    generator: Generator | None = None,
    out: Any = None,
    dtype: Any = None,
    layout: Any = None,
    device: Any = None,
    requires_grad: bool = False,
) -> Any:
    """The integers below `n` in random order.

    >>> import compat as torch
    >>> torch.randperm(4).sort().values
    tensor([0, 1, 2, 3])
    """
    chosen = dtypes.int64 if dtype is None else dtypes.as_dtype(dtype)
    found = stream(generator).permutation(n).astype(chosen.numpy)
    return _given(found, requires_grad, out, "randperm")


def rand_like(input: Any, *, dtype: Any = None, requires_grad: bool = False, **_: Any) -> Any:
    """`rand` in the shape and dtype of `input`."""
    chosen = dtype or dtype_of(input)
    return rand(tuple(input._array.shape), dtype=chosen, requires_grad=requires_grad)


def randn_like(input: Any, *, dtype: Any = None, requires_grad: bool = False, **_: Any) -> Any:
    """`randn` in the shape and dtype of `input`."""
    chosen = dtype or dtype_of(input)
    return randn(tuple(input._array.shape), dtype=chosen, requires_grad=requires_grad)


def randint_like(
    input: Any, low: int, high: int | None = None, *, dtype: Any = None, **_: Any
) -> Any:
    """`randint` in the shape and dtype of `input`."""
    if high is None:
        low, high = 0, low
    return randint(low, high, tuple(input._array.shape), dtype=dtype or dtype_of(input))


def normal(
    mean: Any = 0.0,
    std: Any = 1.0,
    size: Any = None,
    *,
    generator: Generator | None = None,
    out: Any = None,
    dtype: Any = None,
    requires_grad: bool = False,
) -> Any:
    """Normal numbers of the given mean and standard deviation, numbers or tensors.

    >>> import compat as torch
    >>> torch.normal(2.0, 0.0, (2,))
    tensor([2., 2.])
    """
    arrays = [x._array if isinstance(x, TensorBase) else x for x in (mean, std)]
    tensors = [x for x in (mean, std) if isinstance(x, TensorBase)]
    if size is None and not tensors:
        raise TypeError("normal() needs tensors or a size")
    shape = shape_of("rand", (size,)) if size is not None else np.broadcast_shapes(*map(np.shape, arrays))
    chosen = _floating(dtype) if not tensors else tensors[0]._array.dtype
    noise = _normal(stream(generator), shape, chosen)
    return _given(np.asarray(arrays[0] + arrays[1] * noise).astype(chosen), requires_grad, out, "n")


def bernoulli(
    input: Any, p: Any = None, *, generator: Generator | None = None, out: Any = None
) -> Any:
    """1 with the probability that `input` gives, else 0.

    >>> import compat as torch
    >>> torch.bernoulli(torch.tensor([0.0, 1.0]))
    tensor([0., 1.])
    """
    chance = input._array if p is None else p
    if np.any(np.less(chance, 0)) or np.any(np.greater(chance, 1)):
        raise RuntimeError("Expected p_in >= 0 && p_in <= 1 to be true, but got false.")
    found = stream(generator).random(input._array.shape) < chance
    return _given(found.astype(input._array.dtype), False, out, "bernoulli")


def multinomial(
    input: Any,
    num_samples: int,
    replacement: bool = False,
    *,
    generator: Generator | None = None,
    out: Any = None,
) -> Any:
    """Places drawn with the weights `input`, along the last axis.

    Raises: RuntimeError: too many are to be drawn without replacement.

    >>> import compat as torch
    >>> torch.multinomial(torch.tensor([0.0, 1.0]), 2, replacement=True)
    tensor([1, 1])
    """
    weights = np.asarray(input._array, np.float64)
    rows = np.atleast_2d(weights)
    if not replacement and num_samples > np.min(np.count_nonzero(rows, axis=1)):
        raise RuntimeError("cannot sample n_sample > prob_dist.size(-1) samples without replacement")
    source = stream(generator)
    found = [
        source.choice(rows.shape[1], num_samples, replace=replacement, p=row / row.sum())
        for row in rows
    ]
    array = np.array(found, np.int64)
    return _given(array if weights.ndim == 2 else array[0], False, out, "multinomial")


def poisson(input: Any, generator: Generator | None = None) -> Any:
    """Poisson numbers of the given means."""
    return made(stream(generator).poisson(input._array).astype(input._array.dtype))


# ---------------------------------------------------------------- in place


def _fill(x: Any, array: Any, name: str) -> Any:
    views.check_writable(x)
    return views.assign(x, np.asarray(array).astype(x._array.dtype), name, whole=True)


class RandomMethods:
    """Random fills, in place."""

    __slots__ = ()
    _array: Any

    def uniform_(self, from_: float = 0, to: float = 1, *, generator: Any = None) -> Any:
        """Uniform numbers of ``from <= x < to``."""
        if from_ > to:
            raise RuntimeError(
                f"uniform_ expects to return a [from, to) range, but found from={from_} > to={to}"
            )
        noise = _uniform(stream(generator), self._array.shape, self._array.dtype)
        return _fill(self, from_ + (to - from_) * noise, "uniform_")

    def normal_(self, mean: float = 0, std: float = 1, *, generator: Any = None) -> Any:
        """Normal numbers."""
        if std < 0:
            raise RuntimeError(f"normal expects std >= 0.0, but found std {std}")
        noise = _normal(stream(generator), self._array.shape, self._array.dtype)
        return _fill(self, mean + std * noise, "normal_")

    def random_(self, from_: int = 0, to: int | None = None, *, generator: Any = None) -> Any:
        """Integers of ``from <= x < to``."""
        if to is None:
            from_, to = 0, from_ or 2**24
        return _fill(self, stream(generator).integers(from_, to, self._array.shape), "random_")

    def bernoulli_(self, p: Any = 0.5, *, generator: Any = None) -> Any:
        """1 with probability `p`, else 0."""
        chance = p._array if isinstance(p, TensorBase) else p
        return _fill(self, stream(generator).random(self._array.shape) < chance, "bernoulli_")

    def exponential_(self, lambd: float = 1, *, generator: Any = None) -> Any:
        """Exponential numbers of mean ``1 / lambd``."""
        noise = stream(generator).standard_exponential(self._array.shape)
        return _fill(self, noise / lambd, "exponential_")

    def geometric_(self, p: float, *, generator: Any = None) -> Any:
        """The number of trials until the first success."""
        return _fill(self, stream(generator).geometric(p, self._array.shape), "geometric_")

    def log_normal_(self, mean: float = 1, std: float = 2, *, generator: Any = None) -> Any:
        """Exponentials of normal numbers."""
        noise = stream(generator).standard_normal(self._array.shape)
        return _fill(self, np.exp(mean + std * noise), "log_normal_")

    def cauchy_(self, median: float = 0, sigma: float = 1, *, generator: Any = None) -> Any:
        """Cauchy numbers."""
        noise = stream(generator).standard_cauchy(self._array.shape)
        return _fill(self, median + sigma * noise, "cauchy_")

    def bernoulli(self, p: Any = None, *, generator: Any = None) -> Any:
        """See `compat.bernoulli`."""
        return bernoulli(self, p, generator=generator)

    def multinomial(
        self, num_samples: int, replacement: bool = False, *, generator: Any = None
    ) -> Any:
        """See `compat.multinomial`."""
        return multinomial(self, num_samples, replacement, generator=generator)


__all__ = [
    "Generator",
    "bernoulli",
    "default_generator",
    "get_rng_state",
    "initial_seed",
    "manual_seed",
    "multinomial",
    "normal",
    "poisson",
    "rand",
    "rand_like",
    "randint",
    "randint_like",
    "randn",
    "randn_like",
    "randperm",
    "seed",
    "set_rng_state",
]
