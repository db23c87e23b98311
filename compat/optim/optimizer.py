"""`Optimizer`: groups of parameters with options, state for each parameter, hooks, saving, loading.

NOTE [Rules] An optimizer of this package is a rule of `funcgrad.optim`: a pure function of a
parameter, its gradient and its state that returns new ones. `step` runs it on arrays, as a loop that
writes in place, or on values that a transform traces, and on tensors if the step itself is to be
differentiated.
"""

from __future__ import annotations

import functools
from collections import OrderedDict, defaultdict
from collections.abc import Callable, Iterable, Mapping
from copy import deepcopy
from itertools import chain
from typing import Any

import numpy as np

from funcgrad.optim.checks import check
from funcgrad.optim.rule import Rule, initial

from ..autograd import base, enable_grad, sites
from ..autograd.base import TensorBase
from ..nn.module import reset_grad, typename
from ..utils.hooks import RemovableHandle
from .group_steps import Group, GroupSteps, dtype_of_numbers, scalar

_HOOKS = (
    "step_pre",
    "step_post",
    "state_dict_pre",
    "state_dict_post",
    "load_state_dict_pre",
    "load_state_dict_post",
)


# Hooks of all optimizers, which each refers to.
_SHARED: dict[str, OrderedDict[int, Any]] = {
    "all_step_pre": OrderedDict(),
    "all_step_post": OrderedDict(),
}


def register_optimizer_step_pre_hook(hook: Callable[..., Any]) -> RemovableHandle:
    """Call ``hook(optimizer, args, kwargs)`` before the `step` of any optimizer."""
    return RemovableHandle.added(_SHARED["all_step_pre"], hook)


def register_optimizer_step_post_hook(hook: Callable[..., Any]) -> RemovableHandle:
    """Call ``hook(optimizer, args, kwargs)`` after the `step` of any optimizer."""
    return RemovableHandle.added(_SHARED["all_step_post"], hook)


class _Required:
    """Stands for an option that has no default."""

    def __repr__(self) -> str:
        return "<required parameter>"


required = _Required()


class Optimizer:
    """The base class of optimizers; subclasses define `step`, with the options in `defaults`.

    `params`: tensors, pairs of a name and a tensor, or dictionaries with "params" and options of
    their own. `state` maps each parameter to a dictionary.

    Raises: TypeError, ValueError: there are no parameters, or something else is among them.
    """

    def __init__(self, params: Any, defaults: dict[str, Any]) -> None:
        if isinstance(params, TensorBase):
            raise TypeError(
                "params argument given to the optimizer should be an iterable of Tensors or dicts, "
                f"but got {typename(params)}"
            )
        self.defaults = defaults
        self._forget_hooks()
        self._steps: dict[int, GroupSteps] = {}
        self.state: defaultdict[Any, Any] = defaultdict(dict)
        self.param_groups: list[Group] = []
        groups = list(params)
        if not groups:
            raise ValueError("optimizer got an empty parameter list")
        if not isinstance(groups[0], dict):
            groups = [{"params": groups}]
        for group in groups:
            self.add_param_group(group)

    def __init_subclass__(cls, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        if "step" in cls.__dict__:
            cls.step = _with_hooks(cls.__dict__["step"])  # type: ignore[method-assign]

    def step(self, closure: Callable[[], Any] | None = None) -> Any:
        """Change the parameters once; `closure` computes the loss, with gradients, and returns it."""
        raise NotImplementedError

    def _patch_step_function(self) -> None:
        """Let `step` run the hooks, for subclasses whose constructor leaves out this one.

        Those whose class defines it do from the beginning.
        """
        cls = type(self)
        if not hasattr(cls.step, "hooked"):
            cls.step = _with_hooks(cls.step)  # type: ignore[method-assign]

    _is_watched = False
    _opt_called = True  # whether `step` was called since `watch_steps`

    def watch_steps(self) -> None:
        """Note from now on whether `step` is called."""
        if not self._is_watched:
            self._is_watched, self._opt_called = True, False

    def zero_grad(self, set_to_none: bool = True) -> None:
        """Reset the `.grad` of all parameters, to None or to zeros."""
        for group in self.param_groups:
            for param in group["params"]:
                reset_grad(param, set_to_none)

    def add_param_group(self, param_group: Group) -> None:
        """Add parameters with options of their own.

        Raises: TypeError, ValueError: something in it cannot be optimized, or is already.
        """
        if not isinstance(param_group, dict):
            raise TypeError(f"param_group must be a dict, but got {type(param_group)}")
        self._take_params(param_group)
        for name, default in self.defaults.items():
            if default is required and name not in param_group:
                raise ValueError(
                    "parameter group didn't specify a value of required optimization parameter "
                    f"{name}"
                )
            param_group.setdefault(name, default)
        params = param_group["params"]
        if len(params) != len(set(params)):
            sites.warn(
                "optimizer contains a parameter group with duplicate parameters; in future, this "
                "will cause an error"
            )
        named = "param_names" in param_group
        known: set[Any] = set()
        for group in self.param_groups:
            known.update(group["params"])
            if named != ("param_names" in group):
                raise ValueError(
                    "all optimizer param groups should be with/without names. cannot add param "
                    f"group {'with' if named else 'without'} names to the optimizer"
                )
        if not known.isdisjoint(params):
            raise ValueError("some parameters appear in more than one parameter group")
        self.param_groups.append(param_group)

    def _take_params(self, group: Group) -> None:
        """Make ``group["params"]`` a list of tensors, and put their names apart, if they have any."""
        params = group["params"]
        if isinstance(params, set):
            raise TypeError(
                "optimizer parameters need to be organized in ordered collections, but the "
                "ordering of tensors in sets will change between runs. Please use a list instead."
            )
        params = [params] if isinstance(params, TensorBase) else list(params)
        names = [p[0] for p in params if isinstance(p, tuple)]
        if names:
            if len(names) != len(params):
                raise ValueError(
                    "all optimizer params should be with/without names. Some param names are "
                    "missing"
                )
            group["param_names"] = names
            params = [p[1] for p in params]
        group["params"] = params
        for param in params:
            if not isinstance(param, TensorBase):
                raise TypeError(
                    f"optimizer can only optimize Tensors, but one of the params is "
                    f"{typename(param)}"
                )
            leaf = param.is_leaf or param.retains_grad  # type: ignore[attr-defined]
            if not leaf and not self.defaults.get("differentiable"):
                raise ValueError(
                    "can't optimize a non-leaf Tensor; pass the leaf that it is computed from"
                )

    # ------------------------------------------------------------ saving and loading

    def state_dict(self) -> dict[str, Any]:
        """The state and the options, with the parameters as numbers in the order of the groups."""
        self._run_hooks("state_dict_pre")
        numbers: dict[int, int] = {}
        groups = []
        start = 0
        for group in self.param_groups:
            for i, param in enumerate(group["params"], start):
                numbers.setdefault(id(param), i)
            start += len(group["params"])
            saved = {k: v for k, v in group.items() if k != "params"}
            saved["params"] = [numbers[id(param)] for param in group["params"]]
            groups.append(saved)
        state = {
            numbers[id(k)] if isinstance(k, TensorBase) else k: v for k, v in self.state.items()
        }
        return self._run_hooks("state_dict_post", {"state": state, "param_groups": groups})

    def load_state_dict(self, state_dict: dict[str, Any]) -> None:
        """Take over state and options; the state becomes of the parameters' dtypes.

        Raises: ValueError: the groups are not of the same sizes.
        """
        state_dict = self._run_hooks("load_state_dict_pre", dict(state_dict))
        groups, saved = self.param_groups, deepcopy(state_dict["param_groups"])
        if len(groups) != len(saved):
            raise ValueError("loaded state dict has a different number of parameter groups")
        if any(len(g["params"]) != len(s["params"]) for g, s in zip(groups, saved, strict=True)):
            raise ValueError(
                "loaded state dict contains a parameter group that doesn't match the size of "
                "optimizer's group"
            )
        numbers = chain.from_iterable(s["params"] for s in saved)
        params = dict(zip(numbers, chain.from_iterable(g["params"] for g in groups), strict=True))
        state: defaultdict[Any, Any] = defaultdict(dict)
        for k, value in state_dict["state"].items():
            if k in params:
                state[params[k]] = _loaded(params[k], value)
            else:
                state[k] = value
        for group, new in zip(groups, saved, strict=True):
            new["params"] = group["params"]
            if "param_names" in group:
                new.setdefault("param_names", group["param_names"])
        self.__setstate__({"state": state, "param_groups": saved})
        self._run_hooks("load_state_dict_post")

    def __getstate__(self) -> dict[str, Any]:
        return {
            "defaults": self.defaults,
            "state": self.state,
            "param_groups": self.param_groups,
        }

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        self._steps = {}
        if "_hooks" not in self.__dict__:
            self._forget_hooks()

    # ------------------------------------------------------------ hooks

    def _forget_hooks(self) -> None:
        self._hooks: dict[str, Any] = {name: OrderedDict() for name in _HOOKS} | _SHARED

    def _run_hooks(self, name: str, *args: Any) -> Any:
        """Call all hooks of one kind; what they return replaces the argument, which is returned."""
        found = args[0] if args else None
        for hook in list(self._hooks[name].values()):
            answer = hook(self, *((found,) if args else ()))
            if answer is not None:
                found = answer
        return found

    def _register(self, name: str, hook: Callable[..., Any], prepend: bool) -> RemovableHandle:
        handle = RemovableHandle.added(self._hooks[name], hook)
        if prepend:
            self._hooks[name].move_to_end(handle.id, last=False)
        return handle

    def register_step_pre_hook(self, hook: Callable[..., Any]) -> RemovableHandle:
        """Call ``hook(optimizer, args, kwargs)`` before `step`; it may return both anew.

        The optimizer is the first of the arguments.
        """
        return self._register("step_pre", hook, False)

    def register_step_post_hook(self, hook: Callable[..., Any]) -> RemovableHandle:
        """Call ``hook(optimizer, args, kwargs)`` after `step`."""
        return self._register("step_post", hook, False)

    def register_state_dict_pre_hook(
        self, hook: Callable[..., Any], prepend: bool = False
    ) -> RemovableHandle:
        """Call ``hook(optimizer)`` before `state_dict`."""
        return self._register("state_dict_pre", hook, prepend)

    def register_state_dict_post_hook(
        self, hook: Callable[..., Any], prepend: bool = False
    ) -> RemovableHandle:
        """Call ``hook(optimizer, state_dict)`` on what `state_dict` returns; it may replace it."""
        return self._register("state_dict_post", hook, prepend)

    def register_load_state_dict_pre_hook(
        self, hook: Callable[..., Any], prepend: bool = False
    ) -> RemovableHandle:
        """Call ``hook(optimizer, state_dict)`` before loading; it may replace the dictionary."""
        return self._register("load_state_dict_pre", hook, prepend)

    def register_load_state_dict_post_hook(
        self, hook: Callable[..., Any], prepend: bool = False
    ) -> RemovableHandle:
        """Call ``hook(optimizer)`` after loading."""
        return self._register("load_state_dict_post", hook, prepend)

    def __repr__(self) -> str:
        lines = []
        for i, group in enumerate(self.param_groups):
            options = [f"    {k}: {group[k]}\n" for k in sorted(group) if k != "params"]
            lines.append(f"\nParameter Group {i}\n{''.join(options)}")
        return f"{type(self).__name__} ({''.join(lines)})"


def _with_hooks(step: Callable[..., Any]) -> Callable[..., Any]:
    """`step` with the optimizer's hooks around it.

    Without them where the constructor of a subclass, one that wraps an optimizer, left out
    `Optimizer`'s.
    """

    @functools.wraps(step)
    def hooked(self: Optimizer, *args: Any, **kwargs: Any) -> Any:
        self._opt_called = True
        if "_hooks" not in self.__dict__:
            return step(self, *args, **kwargs)
        hooks, args = self._hooks, (self, *args)
        for hook in [*hooks["all_step_pre"].values(), *hooks["step_pre"].values()]:
            found = hook(self, args, kwargs)
            if found is not None:
                if not (isinstance(found, tuple) and len(found) == 2):
                    raise RuntimeError(
                        f"{step} must return None or a tuple of (new_args, new_kwargs), but got "
                        f"{found}."
                    )
                args, kwargs = found
        result = step(*args, **kwargs)
        for hook in [*hooks["step_post"].values(), *hooks["all_step_post"].values()]:
            hook(self, args, kwargs)
        return result

    hooked.hooked = True  # type: ignore[attr-defined]

    return hooked


def _loaded(param: Any, value: Any, key: Any = None) -> Any:
    """A copy of saved state that fits the parameter; the count of steps keeps its dtype."""
    if isinstance(value, TensorBase):
        is_kept = key == "step" or param.dtype.category != 2
        dtype = value.dtype if is_kept else param.dtype  # type: ignore[attr-defined]
        if value._array.dtype.kind == "c":
            dtype = value.dtype  # type: ignore[attr-defined]
        return base.tensor(value._array.astype(dtype.numpy))
    if isinstance(value, Mapping):
        return {k: _loaded(param, v, k) for k, v in value.items()}
    if isinstance(value, Iterable) and not isinstance(value, str):
        return type(value)(_loaded(param, v) for v in value)  # type: ignore[call-arg]
    return value


# ---------------------------------------------------------------- rules


class RuleOptimizer(Optimizer):
    """An optimizer that changes one parameter at a time by a rule, see NOTE [Rules]."""

    rule: Rule
    rounded: frozenset[str] = (
        frozenset()
    )  # numbers that are, as PyTorch does, even if kept as doubles

    def __init__(self, params: Any, defaults: dict[str, Any]) -> None:
        lr = defaults["lr"]
        if isinstance(lr, TensorBase) and lr._array.size != 1:
            raise ValueError("Tensor lr must be 1-element")
        check(type(self)._checked_as(), {k: scalar(v) for k, v in defaults.items()})
        if defaults.get("fused") and defaults["differentiable"]:
            raise RuntimeError("`fused` does not support `differentiable`")
        if defaults.get("fused") and defaults["foreach"]:
            raise RuntimeError("`fused` and `foreach` cannot be `True` together.")
        super().__init__(params, defaults)

    @classmethod
    def _checked_as(cls) -> str:
        """The name by which `funcgrad.optim` knows the ranges of the options."""
        own = next(c for c in reversed(cls.__mro__) if "rule" in c.__dict__)
        return own.__name__.lower()

    def _begin(self, param: Any, options: Group) -> dict[str, Any]:
        """The state of a parameter before its first step."""
        counts = initial(self.rule, options).items()
        dtype = np.float32 if options.get("fused") else dtype_of_numbers()
        state = {k: base.tensor(np.full((), v, dtype)) for k, v in counts}
        begun = self.rule.begin(param._array, options).items()
        return state | {k: base.tensor(np.array(v)) for k, v in begun}

    def step(self, closure: Callable[[], Any] | None = None) -> Any:
        """Change every parameter that has a gradient; what `closure` returns, if it is given."""
        loss = None
        if closure is not None:
            with enable_grad():
                loss = closure()
        differentiable = bool(self.defaults.get("differentiable"))
        here = sites.site()
        with np.errstate(all="ignore"):
            for number, group in enumerate(self.param_groups):
                steps = self._steps.get(number)
                if steps is None or not steps.is_for(group):
                    steps = self._steps[number] = GroupSteps(self, group)
                change = steps.change_tensors if differentiable else steps.change
                change(group["params"], self.state, self._begin, here)
        return loss


def taken(arguments: dict[str, Any]) -> dict[str, Any]:
    """The options among the local variables of a constructor."""
    return {k: v for k, v in arguments.items() if k not in ("self", "params", "__class__")}
