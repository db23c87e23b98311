"""The parts of `compat.func` that know modules: calls with other parameters, and stacked ones."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any, NamedTuple

from .autograd import views
from .autograd.base import TensorBase
from .ops.join import stack

_MISSING: Any = object()


class _Place(NamedTuple):
    """Where a module keeps a tensor; `table`: its parameters or buffers, None for an attribute."""

    owner: Any
    key: str
    table: dict[str, Any] | None
    before: Any


def functional_call(
    module: Any,
    parameter_and_buffer_dicts: Any,
    args: Any = None,
    kwargs: dict[str, Any] | None = None,
    *,
    tie_weights: bool = True,
    strict: bool = False,
) -> Any:
    """``module(*args, **kwargs)`` with other parameters and buffers, given by name.

    What the module puts in the place of one of them is in the dict afterwards. With `tie_weights`,
    names of one tensor get one value; a name that the module does not have is an attribute for the
    call, None takes a tensor away.

    Raises: RuntimeError: with `strict`, the names are not exactly the module's. ValueError: no dicts
    are given, two have the same name, or tied names have different values. AttributeError: a name
    leads through a module that there is not. TypeError: a value, or what has its name in the module,
    is no tensor. KeyError: a name is empty.
    """
    with reparametrized(module, _merged(parameter_and_buffer_dicts), tie_weights, strict):
        positional = () if args is None else args if isinstance(args, tuple) else (args,)
        return module(*positional, **(kwargs or {}))


@contextmanager
def reparametrized(
    module: Any, given: dict[str, Any], tie_weights: bool = False, strict: bool = False
) -> Iterator[None]:
    """Inside, a module has the tensors that are `given` by name, as in `functional_call`."""
    values = _untied(given, module) if tie_weights else given
    if strict:
        _require_names(module, values)
    places: dict[str, _Place] = {}
    try:
        for name, value in values.items():
            place = places[name] = _place(module, name)
            if place.table is None:
                setattr(place.owner, place.key, value)
            else:
                place.table[place.key] = value
        yield
    finally:
        for name, place in reversed(places.items()):  # two names may be one place
            found = _restored(place)
            if name in given:
                given[name] = found


def _place(module: Any, name: str) -> _Place:
    """What is at a dotted name of a module.

    Raises: AttributeError, TypeError: a part of the path is missing, or no module; TypeError: there is
    something at the name which is no tensor; KeyError: the name is empty.
    """
    *path, key = name.split(".")
    owner = module
    for part in path:
        found = getattr(owner, part, _MISSING)
        if found is _MISSING:
            raise AttributeError(f"{owner._get_name()} has no attribute `{part}`")
        if not hasattr(found, "_parameters"):
            raise TypeError(f"submodule `{part}`: {found} is not an instance of torch.nn.Module")
        owner = found
    if key == "":
        raise KeyError('tensor name can\'t be empty string ""')
    for table in (owner._parameters, owner._buffers):
        if key in table:
            return _Place(owner, key, table, table[key])
    before = getattr(owner, key, _MISSING)
    if not (before is _MISSING or before is None or isinstance(before, TensorBase)):
        raise TypeError(f"attribute `{key}`: {before} is not an instance of torch.Tensor")
    return _Place(owner, key, None, before)


def _restored(place: _Place) -> Any:
    """Put back what was there; what has been there in the meantime, None for nothing."""
    owner, key, table, before = place
    if table is not None:
        found = table.get(key)
        table[key] = before
        return found
    found = getattr(owner, key, None)
    for members in (owner._parameters, owner._buffers):
        members.pop(key, None)  # where a `Parameter` took the place of a plain tensor
    if before is not _MISSING:
        setattr(owner, key, before)
    elif key in vars(owner):
        delattr(owner, key)
    return found


def _merged(dicts: Any) -> dict[str, Any]:
    """One dict from what `functional_call` is given.

    Raises: ValueError: it is no dict and no sequence of dicts, or a name is in two of them.
    """
    if isinstance(dicts, dict):
        found = dicts
    else:
        if not isinstance(dicts, Sequence):
            raise ValueError(
                "Expected parameter_and_buffer_dicts to be a dict, or a list/tuple of dicts, but got "
                f"{type(dicts)}"
            )
        if not all(isinstance(d, dict) for d in dicts):
            raise ValueError(
                "Expected all elements of parameter_and_buffer_dicts to be dictionaries"
            )
        repeated = [name for name, n in Counter(k for d in dicts for k in d).items() if n > 1]
        if repeated:
            raise ValueError(
                f"{repeated} appeared in multiple dictionaries; behavior of functional call is "
                f"ambiguous"
            )
        found = {k: v for d in dicts for k, v in d.items()}
    for name, value in found.items():
        if not (value is None or isinstance(value, TensorBase)):
            raise TypeError(
                f"functional_call: {name!r} is given {value!r}, which is not an instance of "
                f"torch.Tensor"
            )
    return found


def _named(module: Any) -> list[tuple[str, Any]]:
    """The parameters and buffers of a module; one that has several names comes under each."""
    parameters = module.named_parameters(remove_duplicate=False)
    return [*parameters, *module.named_buffers(remove_duplicate=False)]


def _untied(given: dict[str, Any], module: Any) -> dict[str, Any]:
    """`given`, with every name of a tensor one of whose names is given.

    Raises: ValueError: names of one tensor are given different values.
    """
    names_of: dict[int, list[str]] = {}
    for name, tensor in _named(module):
        names_of.setdefault(id(tensor), []).append(name)
    found = dict(given)
    for names in names_of.values():
        values = {id(given[name]): given[name] for name in names if name in given}
        if len(values) > 1:
            raise ValueError(
                f"functional_call got multiple values for keys {sorted(names)}, which are tied. "
                f"Consider using tie_weights=False"
            )
        for value in values.values():
            found.update(dict.fromkeys(names, value))
    return found


def _require_names(module: Any, given: dict[str, Any]) -> None:
    """Raises: RuntimeError: the names given are not those of the parameters and buffers."""
    own = {name for name, _ in _named(module)}
    problems = [
        f"{what} key(s): {', '.join(map(repr, sorted(names)))}."
        for what, names in (("Unexpected", given.keys() - own), ("Missing", own - given.keys()))
        if names
    ]
    if problems:
        raise RuntimeError(
            f"Error(s) in reparametrizing for {type(module).__name__}:\n\t" + "\n\t".join(problems)
        )


def stack_module_state(models: Sequence[Any]) -> tuple[dict[str, Any], dict[str, Any]]:
    """The parameters and the buffers of several modules of one kind, stacked by name.

    Raises: RuntimeError: there are none, or they differ in class, in training or evaluation mode, or
    in what requires grad.
    """
    if not models:
        raise RuntimeError("stack_module_state: Expected at least one model, got 0.")
    if len({bool(m.training) for m in models}) > 1:
        raise RuntimeError(
            "stack_module_state: Expected all models to have the same training/eval mode."
        )
    if len({type(m) for m in models}) > 1:
        raise RuntimeError("stack_module_state: Expected all models to be of the same class.")
    parameters = [dict(m.named_parameters()) for m in models]
    buffers = [dict(m.named_buffers()) for m in models]
    return _stacked(parameters), _stacked(buffers)


def _stacked(tables: Sequence[dict[str, Any]]) -> dict[str, Any]:
    """Raises: RuntimeError: some tensors of a name require grad and others do not."""
    found = {}
    for name in tables[0]:
        parts = [table[name] for table in tables]
        needs = {views.edge(x) is not None for x in parts}
        if len(needs) > 1:
            raise RuntimeError(f"Expected {name} from each model to have the same .requires_grad")
        out = stack(parts)
        found[name] = out.detach().requires_grad_() if needs == {True} else out
    return found


def replace_all_batch_norm_modules_(root: Any) -> Any:
    """Make all batch norms in `root` use the statistics of the batch and keep none.

    So a module in training mode can be used by `vmap`, which could not update them.
    """
    for part in root.modules():
        if "num_batches_tracked" in part._buffers and getattr(part, "track_running_stats", False):
            part.running_mean = part.running_var = part.num_batches_tracked = None
            part.track_running_stats = False
    return root
