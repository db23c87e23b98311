"""What is tested: a function at a point, taken apart into its floating operands and results.

Layer 5. Every check looks at a `Subject`; nothing here knows a derivative.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from .. import tree
from ..core import Tracer, aval_of
from ..transforms.arguments import flat_outputs

Arrays = list[Any]


class Subject:
    """`f` at ``*args, **kwargs``.

    `xs`: the floating and complex leaves among the arguments, which are differentiated; everything
    else is held constant, also Python numbers passed by keyword. `paths`: what they are called.
    `rng`: draws all directions.
    """

    def __init__(
        self,
        f: Callable[..., Any],
        args: Sequence[Any],
        kwargs: dict[str, Any] | None = None,
        *,
        seed: int = 0,
    ) -> None:
        self.f = f
        self.name = getattr(f, "__name__", type(f).__name__)
        self.rng = np.random.default_rng(seed)
        self.leaves, self.treedef = tree.flatten((tuple(args), dict(kwargs or {})))
        for i, path in enumerate(self.treedef.paths()):
            if path[0].key == 0 and self.leaves[i].__class__ in (float, complex):
                self.leaves[i] = np.asarray(self.leaves[i])[()]
        self.places = [i for i, x in enumerate(self.leaves) if is_floating(x)]
        names = _names(f, args)
        self.all_paths = [_path(names, path) for path in self.treedef.paths()]
        self.paths = [self.all_paths[i] for i in self.places]
        self.live: list[int] = []
        self.out_def = self.treedef

    @property
    def xs(self) -> Arrays:
        return [self.leaves[i] for i in self.places]

    @property
    def out_paths(self) -> list[str]:
        """The names of the floating results of the last call."""
        paths = self.out_def.paths()
        return [tree.key_str(paths[i]) for i in self.live]

    def everything(self, *xs: Any) -> Arrays:
        """All results of `f`, with the floating operands replaced by `xs` if there are any."""
        leaves = list(self.leaves)
        for i, x in zip(self.places, xs, strict=bool(xs)):
            leaves[i] = x
        args, kwargs = tree.unflatten(self.treedef, leaves)
        outs, self.out_def = flat_outputs(self.f(*args, **kwargs))
        self.live = [i for i, y in enumerate(outs) if is_floating(y)]
        return outs

    def __call__(self, *xs: Any) -> Arrays:
        """The floating results: the function that all checks differentiate."""
        outs = self.everything(*xs)
        return [outs[i] for i in self.live]

    def copied(self) -> Subject:
        """The same, at arrays of its own."""
        other = Subject.__new__(Subject)
        other.__dict__.update(self.__dict__)
        other.leaves = [x.copy() if isinstance(x, np.ndarray) else x for x in self.leaves]
        return other

    def at(self, *xs: Any) -> Subject:
        """The same function at another point, with the same directions to come."""
        other = Subject.__new__(Subject)
        other.__dict__.update(self.__dict__)
        other.leaves = list(self.leaves)
        for i, x in zip(self.places, xs, strict=True):
            other.leaves[i] = x
        return other

    def directions(self, like: Sequence[Any]) -> Arrays:
        """Random arrays of these shapes and dtypes, with elements of modulus at most 1."""
        return [direction(self.rng, x) for x in like]

    def rtol(self, *more: Any) -> float:
        """How exactly two ways to the same derivative must agree: what rounding may do."""
        found = [np.finfo(aval_of(x).dtype).eps for x in (*self.xs, *more) if is_floating(x)]
        return float(8 * max(found, default=0.0) ** 0.75)


def is_floating(x: Any) -> bool:
    """Whether `x` is an array, a traced value or a NumPy number of a floating or complex dtype."""
    if not isinstance(x, Tracer) and not hasattr(x, "dtype"):
        return False
    kind = getattr(x.dtype, "kind", "")
    return kind in "fc"


def direction(rng: np.random.Generator, x: Any) -> Any:
    """A random array of the shape and dtype of `x`."""
    aval = aval_of(x)
    t = rng.uniform(-1, 1, aval.shape)
    if aval.dtype.kind == "c":
        t = (t + 1j * rng.uniform(-1, 1, aval.shape)) / 2**0.5
    return np.asarray(t, aval.dtype)


def pair(cts: Sequence[Any], ts: Sequence[Any]) -> tuple[float, float]:
    """``Re(sum(ct * t))``, and the sum of the moduli, which bounds its rounding error."""
    total = scale = 0.0
    for ct, t in zip(cts, ts, strict=True):
        wide = np.complex128 if np.iscomplexobj(ct) or np.iscomplexobj(t) else np.float64
        product = np.asarray(ct, wide) * np.asarray(t, wide)
        total += float(np.sum(product).real)
        scale += float(np.sum(np.abs(product)))
    return total, scale


def largest(arrays: Sequence[Any]) -> float:
    """The largest modulus among all elements; 0 for none."""
    return max((float(np.max(np.abs(a))) for a in arrays if np.size(a)), default=0.0)


def _names(f: Callable[..., Any], args: Sequence[Any]) -> list[str]:
    """What the positional arguments are called."""
    try:
        parameters = list(inspect.signature(f).parameters.values())
    except (TypeError, ValueError):
        parameters = []
    names = [p.name for p in parameters if p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD)]
    return [names[i] if i < len(names) else f"args[{i}]" for i in range(len(args))]


def _path(names: Sequence[str], path: tree.KeyPath) -> str:
    """``w['bias'][0]``: where a leaf is, as the user would write it."""
    which, first, *rest = path
    name = names[first.key] if which.key == 0 else str(first.key)
    return f"{name}{tree.key_str(tuple(rest))}"
