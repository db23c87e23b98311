"""`Optimizer`: a rule with its options, for pytrees of parameters."""

from __future__ import annotations

from typing import Any

import numpy as np

from .. import numpy as fnp
from .. import tree
from .rule import Rule, exact, initial


class Optimizer:
    """`init(params)` gives a state, ``update(grads, state, params)`` new parameters and a new state.

    The state is a dictionary: "step" counts the updates, and every other name leads to a tree like
    `params`. An option that is a
    function is called with the number of updates before this one. A gradient of None leaves its
    parameter, and what belongs to it, as they are.

    >>> import funcgrad, numpy as np
    >>> optimizer = funcgrad.optim.sgd(lr=lambda step: 0.5 / (1 + step))
    >>> params = {"w": np.array([4.0])}
    >>> state = optimizer.init(params)
    >>> for _ in range(2):
    ...     grads = funcgrad.grad(lambda p: np.sum(p["w"] ** 2))(params)
    ...     params, state = optimizer.update(grads, state, params)
    >>> params, int(state["step"])
    ({'w': array([0.])}, 2)
    """

    def __init__(self, name: str, rule: Rule, options: dict[str, Any]) -> None:
        self.name, self.rule, self.options = name, rule, options

    def __repr__(self) -> str:
        given = ", ".join(f"{k}={_shown(v)}" for k, v in self.options.items())
        return f"{self.name}({given})"

    def init(self, params: Any) -> dict[str, Any]:
        """The state before the first update."""
        options = self._options(0)
        begun = tree.map(lambda p: _Slots(self._begin(p, options)), params)
        names = dict.fromkeys(name for one in tree.leaves(begun) for name in one)
        slots = {k: tree.map(lambda one, k=k: one.get(k), begun) for k in names}
        return {"step": np.zeros((), np.int64), **slots}

    def _begin(self, p: Any, options: dict[str, Any]) -> dict[str, Any]:
        begun = self.rule.begin(fnp.asarray(p), options)
        counts = initial(self.rule, options)
        return {**begun, **{k: fnp.asarray(v) for k, v in counts.items() if k != "step"}}

    def update(self, grads: Any, state: dict[str, Any], params: Any) -> tuple[Any, dict[str, Any]]:
        """The parameters and the state after one step.

        Raises: ValueError: the trees of parameters, gradients and state differ.
        """
        names = [k for k in state if k != "step"]
        options = self._options(state["step"])
        step = exact(state["step"])

        def change(p: Any, g: Any, *slots: Any) -> Any:
            own = {k: x for k, x in zip(names, slots, strict=True) if x is not None}
            if g is not None:
                p, changes = self.rule(p, g, {"step": step, **own}, options)
                own |= changes
            return _Slots(own, p)

        found = tree.map(change, params, grads, *[state[k] for k in names])
        slots = {k: tree.map(lambda one, k=k: one.get(k), found) for k in names}
        new = tree.map(lambda one: one.param, found)
        return new, {"step": state["step"] + 1, **slots}

    def _options(self, step: Any) -> dict[str, Any]:
        """The options now: those that are functions are of the number of updates so far."""
        return {k: v(step) if callable(v) else v for k, v in self.options.items()}


class _Slots(dict[str, Any]):
    """The state of one parameter, and the parameter; a leaf of trees, as only `dict` is a node."""

    def __init__(self, slots: dict[str, Any], param: Any = None) -> None:
        super().__init__(slots)
        self.param = param


def _shown(x: Any) -> str:
    return getattr(x, "__name__", "a function") if callable(x) else repr(x)
