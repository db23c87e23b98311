"""What modules save and load: `state_dict`, `load_state_dict`, and the hooks around them."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

from ..autograd import modes
from ..autograd.base import TensorBase
from ..parameter import Parameter
from ..utils.hooks import RemovableHandle

EXTRA_STATE = "_extra_state"


class _IncompatibleKeys(NamedTuple):
    """The names that were asked for and not there, and the other way round."""

    missing_keys: list[str]
    unexpected_keys: list[str]

    def __repr__(self) -> str:
        if not self.missing_keys and not self.unexpected_keys:
            return "<All keys matched successfully>"
        return (
            f"_IncompatibleKeys(missing_keys={self.missing_keys}, "
            f"unexpected_keys={self.unexpected_keys})"
        )


class _Call(NamedTuple):
    """A hook, and whether the module is its first argument."""

    fn: Callable[..., Any]
    with_module: bool


class _Post(NamedTuple):
    """A hook after `state_dict`, and whether what it returns replaces the dictionary."""

    fn: Callable[..., Any]
    replaces: bool


class Stateful:
    """The part of `Module` that saves and loads."""

    _version: Any
    _parameters: dict[str, Any]
    _buffers: dict[str, Any]
    _modules: dict[str, Any]
    _non_persistent_buffers_set: set[str]
    _state_dict_pre_hooks: OrderedDict[int, Any]
    _state_dict_hooks: OrderedDict[int, Any]
    _load_state_dict_pre_hooks: OrderedDict[int, Any]
    _load_state_dict_post_hooks: OrderedDict[int, Any]

    @staticmethod
    def _no_state_hooks() -> dict[str, Any]:
        names = ("state_dict_pre", "state_dict", "load_state_dict_pre", "load_state_dict_post")
        return {f"_{name}_hooks": OrderedDict() for name in names}

    # ------------------------------------------------------------ saving

    def state_dict(
        self, *, destination: Any = None, prefix: str = "", keep_vars: bool = False
    ) -> Any:
        """Parameters and persistent buffers by their paths, detached unless `keep_vars`.

        The tensors share memory with the module's.

        >>> import compat as torch
        >>> list(torch.nn.Linear(2, 1).state_dict())
        ['weight', 'bias']
        """
        if destination is None:
            destination = OrderedDict()
            destination._metadata = OrderedDict()
        metadata = {"version": self._version}
        if hasattr(destination, "_metadata"):
            destination._metadata[prefix[:-1]] = metadata
        for hook in self._state_dict_pre_hooks.values():
            hook(self, prefix, keep_vars)
        self._save_to_state_dict(destination, prefix, keep_vars)
        for name, module in self._modules.items():
            if module is not None:
                module.state_dict(
                    destination=destination, prefix=f"{prefix}{name}.", keep_vars=keep_vars
                )
        for fn, replaces in self._state_dict_hooks.values():
            found = fn(self, destination, prefix, metadata)
            if found is not None:
                if not replaces:
                    raise RuntimeError("state_dict post-hook must return None")
                destination = found
        return destination

    def _saved_members(self) -> dict[str, Any]:
        """The parameters and persistent buffers of this module alone, by their names."""
        skipped = self._non_persistent_buffers_set
        members = {**self._parameters}
        members.update((k, b) for k, b in self._buffers.items() if k not in skipped)
        return {name: member for name, member in members.items() if member is not None}

    def _save_to_state_dict(self, destination: Any, prefix: str, keep_vars: bool) -> None:
        """Put what this module alone saves into `destination`; subclasses may add to it."""
        for name, member in self._saved_members().items():
            destination[prefix + name] = member if keep_vars else member.detach()
        if type(self).get_extra_state is not Stateful.get_extra_state:
            destination[prefix + EXTRA_STATE] = self.get_extra_state()

    def get_extra_state(self) -> Any:
        """State that is no tensor, for subclasses to define together with `set_extra_state`."""
        raise RuntimeError(f"{type(self).__name__} defines no get_extra_state()")

    def set_extra_state(self, state: Any) -> None:
        """Take what `get_extra_state` gave when the module was saved."""
        raise RuntimeError(f"{type(self).__name__} defines no set_extra_state()")

    # ------------------------------------------------------------ loading

    def load_state_dict(
        self, state_dict: Mapping[str, Any], strict: bool = True, assign: bool = False
    ) -> _IncompatibleKeys:
        """Copy saved numbers into the parameters and buffers, which stay the same objects.

        `strict`: the names must be the same. `assign`: take the saved tensors themselves instead.

        Raises: RuntimeError: names or shapes do not match; it lists all that do not.
        """
        if not isinstance(state_dict, Mapping):
            raise TypeError(f"Expected state_dict to be dict-like, got {type(state_dict)}.")
        metadata = getattr(state_dict, "_metadata", {})
        copied: Any = OrderedDict(state_dict)  # which hooks may change
        copied._metadata = metadata
        keys = _IncompatibleKeys([], [])
        errors: list[str] = []
        self._load(copied, "", metadata, assign, keys, errors)
        if strict:
            for kind, names in (
                ("Unexpected", keys.unexpected_keys),
                ("Missing", keys.missing_keys),
            ):
                if names:
                    listed = ", ".join(f'"{k}"' for k in names)
                    errors.insert(0, f"{kind} key(s) in state_dict: {listed}. ")
        if errors:
            raise RuntimeError(
                f"Error(s) in loading state_dict for {type(self).__name__}:\n\t"
                + "\n\t".join(errors)
            )
        return keys

    def _load(
        self,
        state_dict: dict[str, Any],
        prefix: str,
        metadata: Mapping[str, Any],
        assign: bool,
        keys: _IncompatibleKeys,
        errors: list[str],
    ) -> None:
        """Load this module and those below it, and run the hooks."""
        local = dict(metadata.get(prefix[:-1], {}))
        if assign:
            local["assign_to_params_buffers"] = True
        missing, unexpected = keys
        self._load_from_state_dict(state_dict, prefix, local, True, missing, unexpected, errors)
        for name, module in self._modules.items():
            if module is not None:
                below = f"{prefix}{name}."
                part = {k: v for k, v in state_dict.items() if k.startswith(below)}
                module._load(part, below, metadata, assign, keys, errors)
        for hook in self._load_state_dict_post_hooks.values():
            if hook(self, keys) is not None:
                raise AssertionError(
                    "Hooks registered with ``register_load_state_dict_post_hook`` are not expected "
                    "to return new values, if incompatible_keys need to be modified, it should be "
                    "done inplace."
                )

    def _load_from_state_dict(
        self,
        state_dict: dict[str, Any],
        prefix: str,
        local_metadata: dict[str, Any],
        strict: bool,
        missing_keys: list[str],
        unexpected_keys: list[str],
        error_msgs: list[str],
    ) -> None:
        """Load this module alone; what does not fit is added to the lists. Subclasses may extend it."""
        for fn, with_module in self._load_state_dict_pre_hooks.values():
            arguments = (
                state_dict,
                prefix,
                local_metadata,
                strict,
                missing_keys,
                unexpected_keys,
                error_msgs,
            )
            fn(self, *arguments) if with_module else fn(*arguments)
        members = self._saved_members()
        assign = local_metadata.get("assign_to_params_buffers", False)
        for name, member in members.items():
            key = prefix + name
            if key in state_dict:
                error_msgs += self._load_member(name, member, key, state_dict[key], assign)
            elif strict:
                missing_keys.append(key)
        if type(self).set_extra_state is not Stateful.set_extra_state:
            members[EXTRA_STATE] = None
            if prefix + EXTRA_STATE in state_dict:
                self.set_extra_state(state_dict[prefix + EXTRA_STATE])
            elif strict:
                missing_keys.append(prefix + EXTRA_STATE)
        for key in state_dict if strict else ():
            if key.startswith(prefix):
                name, dot, _ = key[len(prefix) :].partition(".")
                if name not in (self._modules if dot else members):
                    unexpected_keys.append(key)

    def _load_member(self, name: str, member: Any, key: str, value: Any, assign: bool) -> list[str]:
        """Load one parameter or buffer; the answer says what is wrong, if anything is."""
        if not isinstance(value, TensorBase):
            return [
                f'While copying the parameter named "{key}", expected torch.Tensor or Tensor-like '
                f"object from checkpoint but received {type(value)}"
            ]
        saved: Any = value
        if not member.shape and saved.shape == (1,):  # a number of before PyTorch 0.4
            saved = saved[0]
        if saved.shape != member.shape:
            return [
                f"size mismatch for {key}: copying a param with shape {saved.shape} from "
                f"checkpoint, the shape in current model is {member.shape}."
            ]
        try:
            with modes.no_grad():
                if not assign:
                    member.copy_(saved)
                elif isinstance(member, Parameter):
                    if not isinstance(saved, Parameter):
                        saved = Parameter(saved, member.requires_grad)
                    setattr(self, name, saved.requires_grad_(member.requires_grad))
                else:
                    setattr(self, name, saved)
        except Exception as error:
            return [
                f'While copying the parameter named "{key}", whose dimensions in the model are '
                f"{member.size()} and whose dimensions in the checkpoint are {saved.size()}, an "
                f"exception occurred : {error.args}."
            ]
        return []

    # ------------------------------------------------------------ hooks

    def register_state_dict_pre_hook(self, hook: Callable[..., Any]) -> RemovableHandle:
        """Call ``hook(module, prefix, keep_vars)`` before the module is saved."""
        return RemovableHandle.added(self._state_dict_pre_hooks, hook)

    def register_state_dict_post_hook(self, hook: Callable[..., Any]) -> RemovableHandle:
        """Call ``hook(module, state_dict, prefix, local_metadata)`` after the module was saved."""
        return _added(self._state_dict_hooks, _Post(hook, False))

    def _register_state_dict_hook(self, hook: Callable[..., Any]) -> RemovableHandle:
        """As `register_state_dict_post_hook`; what the hook returns replaces the dictionary."""
        return _added(self._state_dict_hooks, _Post(hook, True))

    def register_load_state_dict_pre_hook(self, hook: Callable[..., Any]) -> RemovableHandle:
        """Call ``hook(module, state_dict, prefix, ...)`` before the module is loaded.

        The other arguments are those of `_load_from_state_dict`.
        """
        return self._register_load_state_dict_pre_hook(hook, with_module=True)

    def _register_load_state_dict_pre_hook(
        self, hook: Callable[..., Any], with_module: bool = False
    ) -> RemovableHandle:
        """As the public form; without `with_module` the hook is not given the module."""
        return _added(self._load_state_dict_pre_hooks, _Call(hook, with_module))

    def register_load_state_dict_post_hook(self, hook: Callable[..., Any]) -> RemovableHandle:
        """Call ``hook(module, incompatible_keys)`` after loading; it may change the lists in place."""
        return RemovableHandle.added(self._load_state_dict_post_hooks, hook)


def _added(hooks: OrderedDict[int, Any], entry: Any) -> RemovableHandle:
    return RemovableHandle.added(hooks, entry)
