"""L-BFGS: steps by a model of the curvature that is made of the last differences of gradients."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from ..autograd import base, enable_grad, no_grad
from ..autograd.base import TensorBase
from .group_steps import scalar
from .optimizer import Optimizer, taken

_SAVED = ("d", "t", "old_dirs", "old_stps", "ro", "H_diag", "prev_flat_grad", "prev_loss")


class LBFGS(Optimizer):
    """Minimises what `closure` returns, with up to `max_iter` iterations in one `step`.

    `closure` computes the loss and its gradients anew each time; it is called at most `max_eval`
    times, by default ``max_iter * 5 / 4``. An iteration goes along the direction of Newton, as far as
    the last `history_size` steps tell it, by `lr`, or as far as a line search finds
    (`line_search_fn`: "strong_wolfe"). It ends when no gradient is above `tolerance_grad`, or when
    steps or losses change by less than `tolerance_change`. There is one group of parameters.

    Raises: ValueError: there are groups of parameters, or the rate is negative.
    Source: Nocedal & Wright, "Numerical optimization" (2006), algorithms 7.4, 7.5, 3.5 and 3.6.

    >>> import compat as torch
    >>> x = torch.tensor([3.0, -2.0], requires_grad=True)
    >>> optimizer = torch.optim.LBFGS([x], line_search_fn="strong_wolfe")
    >>> def closure():
    ...     optimizer.zero_grad()
    ...     loss = ((x - 1) ** 4).sum()
    ...     loss.backward()
    ...     return loss
    >>> optimizer.step(closure).item()
    97.0
    >>> closure().item() < 1e-6
    True
    """

    def __init__(
        self,
        params: Any,
        lr: Any = 1,
        max_iter: int = 20,
        max_eval: int | None = None,
        tolerance_grad: float = 1e-7,
        tolerance_change: float = 1e-9,
        history_size: int = 100,
        line_search_fn: str | None = None,
    ) -> None:
        if isinstance(lr, TensorBase) and lr._array.size != 1:
            raise ValueError("Tensor lr must be 1-element")
        if not scalar(lr) >= 0.0:
            raise ValueError(f"Invalid learning rate: {lr}")
        if max_eval is None:
            max_eval = max_iter * 5 // 4
        super().__init__(params, taken(locals()))
        if len(self.param_groups) != 1:
            raise ValueError("LBFGS doesn't support per-parameter options (parameter groups)")
        self._params = self.param_groups[0]["params"]

    def step(self, closure: Callable[[], Any]) -> Any:  # type: ignore[override]
        """Run iterations; the first loss that `closure` returned."""
        options, state = self.param_groups[0], self.state[self._params[0]]
        state.setdefault("func_evals", 0)
        state.setdefault("n_iter", 0)
        with enable_grad():
            first = closure()
        run = _Run(self, closure, options, {k: _unwrapped(state.get(k)) for k in _SAVED})
        run.loss, run.evals = float(first), 1
        state["func_evals"] += 1
        if np.abs(run.gradient).max(initial=0) <= options["tolerance_grad"]:
            return first
        done = 0
        while done < options["max_iter"]:
            done += 1
            state["n_iter"] += 1
            if run.iterate(state["n_iter"], is_last=done == options["max_iter"]):
                break
        state["func_evals"] += run.evals - 1
        state.update({k: _wrapped(v) for k, v in run.memory.items()})
        if state["n_iter"] > 1:  # room that PyTorch keeps for the factors of `_direction`
            state.setdefault("al", [None] * options["history_size"])
        return first

    # ------------------------------------------------------------ parameters as one vector

    def _gathered(self) -> Any:
        """The gradients; complex numbers are pairs."""
        grads = [p._array * 0 if p._grad is None else p._grad._array for p in self._params]
        return np.concatenate([_flat(g) for g in grads])

    def _positions(self) -> list[Any]:
        return [p._array.copy() for p in self._params]

    def _move(self, positions: list[Any], t: float, direction: Any) -> None:
        """Go from `positions` along the direction."""
        start = 0
        with no_grad():
            for p, old in zip(self._params, positions, strict=True):
                line = _flat(old)
                part = direction[start : start + line.size] * line.dtype.type(t)
                start += line.size
                new = np.ascontiguousarray(line + part).view(old.dtype).reshape(old.shape)
                p.copy_(base.tensor(new))


def _flat(x: Any) -> Any:
    x = np.ascontiguousarray(x).reshape(-1)
    return x.view(x.real.dtype)


def _wrapped(x: Any) -> Any:
    if isinstance(x, list):
        return [_wrapped(v) for v in x]
    return base.tensor(np.array(x)) if isinstance(x, np.ndarray | np.generic) else x


def _unwrapped(x: Any) -> Any:
    if isinstance(x, list):
        return [_unwrapped(v) for v in x]
    return np.array(x._array) if isinstance(x, TensorBase) else x


class _Run:
    """The iterations of one `step`; `memory` is what the next one goes on with."""

    def __init__(
        self, optimizer: LBFGS, closure: Any, options: dict[str, Any], memory: dict[str, Any]
    ) -> None:
        self.optimizer, self.closure, self.options = optimizer, closure, options
        self.memory = memory
        self.gradient = optimizer._gathered()
        self.loss, self.evals = 0.0, 0

    def iterate(self, number: int, is_last: bool) -> bool:
        """One iteration; whether it was the last."""
        options, memory, lr = self.options, self.memory, scalar(self.options["lr"])
        self._remember(number)
        direction = memory["d"] = self._direction()
        memory["prev_flat_grad"], memory["prev_loss"] = self.gradient.copy(), self.loss
        t = lr
        if number == 1:
            t = float(min(1.0, 1.0 / np.abs(self.gradient).sum())) * lr
        memory["t"] = t
        slope = float(self.gradient @ direction)
        if slope > -options["tolerance_change"]:
            return True
        positions = self.optimizer._positions()
        if options["line_search_fn"] is not None:
            if options["line_search_fn"] != "strong_wolfe":
                raise RuntimeError("only 'strong_wolfe' is supported")
            start = _Point(0.0, self.loss, self.gradient, slope)
            left = options["max_eval"] - self.evals
            search = _Search(lambda t: self._point(positions, t, direction), start, direction, left)
            found = search.run(t)
            t, self.loss, self.gradient = found.t, found.loss, found.gradient
            self.optimizer._move(positions, t, direction)
        else:
            self.optimizer._move(positions, t, direction)
            if not is_last:
                self._evaluate()
        memory["t"] = t
        small = options["tolerance_change"]
        return (
            is_last
            or self.evals >= options["max_eval"]
            or bool(np.abs(self.gradient).max() <= options["tolerance_grad"])
            or bool(np.abs(direction * t).max() <= small)
            or abs(self.loss - memory["prev_loss"]) < small
        )

    def _evaluate(self) -> None:
        with enable_grad():
            self.loss = float(self.closure())
        self.gradient = self.optimizer._gathered()
        self.evals += 1

    def _point(self, positions: list[Any], t: float, direction: Any) -> _Point:
        self.optimizer._move(positions, t, direction)
        self._evaluate()
        return _Point(t, self.loss, self.gradient, float(self.gradient @ direction))

    def _remember(self, number: int) -> None:
        """Take the last step into the model of the curvature, if it is convex there."""
        memory = self.memory
        if number == 1:
            memory.update(old_dirs=[], old_stps=[], ro=[], H_diag=1)
            return
        y = self.gradient - memory["prev_flat_grad"]
        s = memory["d"] * y.dtype.type(memory["t"])
        ys = y @ s
        if ys > 1e-10:
            if len(memory["old_dirs"]) == self.options["history_size"]:
                for name in ("old_dirs", "old_stps", "ro"):
                    memory[name].pop(0)
            memory["old_dirs"].append(y)
            memory["old_stps"].append(s)
            memory["ro"].append(1.0 / ys)
            memory["H_diag"] = ys / (y @ y)

    def _direction(self) -> Any:
        """The direction of Newton in that model."""
        memory = self.memory
        known = list(zip(memory["old_dirs"], memory["old_stps"], memory["ro"], strict=True))
        q, factors = -self.gradient, []
        for y, s, rho in reversed(known):
            factors.append((s @ q) * rho)
            q = q - y * factors[-1]
        d = q * memory["H_diag"]
        for (y, s, rho), factor in zip(known, reversed(factors), strict=True):
            d = d + s * (factor - (y @ d) * rho)
        return d


# ---------------------------------------------------------------- the line search


class _Point(NamedTuple):
    """The loss and its slope at the place `t` of a line, and the gradient."""

    t: float
    loss: float
    gradient: Any
    slope: float


def _lowest(a: _Point, b: _Point, low: float, high: float) -> float:
    """Where the cubic through two points has its minimum, in an interval."""
    d1 = a.slope + b.slope - 3 * (a.loss - b.loss) / (a.t - b.t)
    square = d1 * d1 - a.slope * b.slope
    if not square >= 0:
        return (low + high) / 2.0
    a, b = (a, b) if a.t <= b.t else (b, a)
    d2 = math.sqrt(square)
    t = b.t - (b.t - a.t) * ((b.slope + d2 - d1) / (b.slope - a.slope + 2 * d2))
    return min(max(t, low), high)


class _Search:
    """Looks for a place where the loss is low enough and its slope flat enough (strong Wolfe)."""

    def __init__(
        self,
        at: Callable[[float], _Point],
        start: _Point,
        direction: Any,
        steps: int,
        enough: float = 1e-4,
        flat: float = 0.9,
        smallest: float = 1e-9,
    ) -> None:
        self.at, self.start, self.steps = at, start, steps
        self.enough, self.flat, self.smallest = enough, flat, smallest
        self.width = float(np.abs(direction).max())
        self.count = 0

    def is_high(self, x: _Point) -> bool:
        return x.loss > self.start.loss + self.enough * x.t * self.start.slope

    def is_flat(self, x: _Point) -> bool:
        return abs(x.slope) <= -self.flat * self.start.slope

    def run(self, t: float) -> _Point:
        ends = self._bracket(t)
        return ends[0] if len(ends) == 1 else self._zoom(ends)

    def _bracket(self, t: float) -> list[_Point]:
        """One point that will do, or two with one between them."""
        before, x = self.start, self.at(t)
        while self.count < self.steps:
            if self.is_high(x) or (self.count > 1 and x.loss >= before.loss):
                return [before, x]
            if self.is_flat(x):
                return [x]
            if x.slope >= 0:
                return [before, x]
            least, most = x.t + 0.01 * (x.t - before.t), x.t * 10
            before, x = x, self.at(_lowest(before, x, least, most))
            self.count += 1
        return [self.start, x]

    def _zoom(self, ends: list[_Point]) -> _Point:
        """Make the interval smaller until its lower end will do."""
        low, high = sorted(ends, key=lambda x: x.loss)
        was_at_border = False
        while self.count < self.steps and abs(high.t - low.t) * self.width >= self.smallest:
            least, most = sorted((low.t, high.t))
            t, margin = _lowest(ends[0], ends[1], least, most), 0.1 * (most - least)
            if min(most - t, t - least) < margin:
                if was_at_border or t >= most or t <= least:
                    t = most - margin if abs(t - most) < abs(t - least) else least + margin
                    was_at_border = False
                else:
                    was_at_border = True
            else:
                was_at_border = False
            x = self.at(t)
            self.count += 1
            if self.is_high(x) or x.loss >= low.loss:
                low, high = sorted((low, x), key=lambda x: x.loss)
            elif self.is_flat(x):
                return x
            else:
                low, high = x, low if x.slope * (high.t - low.t) >= 0 else high
            ends = [low, high]
        return low


# ---------------------------------------------------------------- for other packages' minimisers


def _cubic_interpolate(
    x1: float, f1: float, g1: float, x2: float, f2: float, g2: float, bounds: Any = None
) -> float:
    """`_lowest` of places, losses and slopes, under PyTorch's name."""
    low, high = sorted((x1, x2)) if bounds is None else bounds
    return _lowest(_Point(x1, f1, None, g1), _Point(x2, f2, None, g2), low, high)


def _strong_wolfe(
    obj_func: Callable[[Any, float, Any], tuple[float, Any]],
    x: Any,
    t: float,
    d: Any,
    f: float,
    g: Any,
    gtd: float,
    c1: float = 1e-4,
    c2: float = 0.9,
    tolerance_change: float = 1e-9,
    max_ls: int = 25,
) -> tuple[float, Any, float, int]:
    """The search under PyTorch's name: loss, gradient, step, and how often it called `obj_func`."""

    def at(t: float) -> _Point:
        loss, gradient = obj_func(x, t, d)
        return _Point(t, loss, gradient, float(gradient.dot(d)))

    start = _Point(0.0, f, g, float(gtd))
    search = _Search(at, start, d.detach().numpy(), max_ls, c1, c2, tolerance_change)
    found = search.run(t)
    return found.loss, found.gradient, found.t, search.count + 1
