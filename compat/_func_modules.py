"""The parts of `compat.func` that know modules: calls with other parameters, and stacked ones."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any, NamedTuple

from .autograd import views
from .autograd.base import TensorBase
from .ops.join import stack


class _Place(NamedTuple):
    """Where a module keeps a tensor; `registered`: as a parameter or a buffer."""

    table: dict[str, Any]
    key: str
    registered: bool

    @property
    def tensor(self) -> Any:
        return self.table[self.key]


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
    names of one tensor get one value; a name that the module does not have is ignored.

    Raises: RuntimeError: with `strict`, the names are not exactly the module's. ValueError: no dicts
    are given, two have the same name, or tied names have different values.
    """
    with reparametrized(module, _merged(parameter_and_buffer_dicts), tie_weights, strict):
        positional = () if args is None else args if isinstance(args, tuple) else (args,)
        return module(*positional, **(kwargs or {}))


@contextmanager
def reparametrized(
    module: Any, given: dict[str, Any], tie_weights: bool = False, strict: bool = False
) -> Iterator[None]:
    """Inside, a module has the tensors that are `given` by name, as in `functional_call`."""
    places = dict(_places(module))
    values = _untied(given, places) if tie_weights else given
    if strict:
        _require_names(module, values, places)
    swapped = {name: places[name] for name in values if name in places}
    before = {name: place.tensor for name, place in swapped.items()}
    try:
        for name, place in swapped.items():
            place.table[place.key] = values[name]
        yield
    finally:
        for name, place in swapped.items():
            if name in given:
                given[name] = place.table.get(place.key)
            place.table[place.key] = before[name]


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
        if not isinstance(value, TensorBase):
            raise TypeError(
                f"functional_call: {name!r} is given {value!r}, which is not an instance of "
                f"torch.Tensor"
            )
    return found


def _places(module: Any) -> Iterator[tuple[str, _Place]]:
    """Every tensor of a module by its dotted name; one that has several names comes under each."""
    for prefix, part in module.named_modules(remove_duplicate=False):
        dot = f"{prefix}." if prefix else ""
        for table in (vars(part), part._buffers, part._parameters):
            for key, value in table.items():
                if isinstance(value, TensorBase):
                    yield dot + key, _Place(table, key, table is not vars(part))


def _untied(given: dict[str, Any], places: dict[str, _Place]) -> dict[str, Any]:
    """`given`, with every name of a tensor one of whose names is given.

    Raises: ValueError: names of one tensor are given different values.
    """
    names_of: dict[int, list[str]] = {}
    for name, place in places.items():
        if place.registered:
            names_of.setdefault(id(place.tensor), []).append(name)
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


def _require_names(module: Any, given: dict[str, Any], places: dict[str, _Place]) -> None:
    """Raises: RuntimeError: the names given are not those of the parameters and buffers."""
    own = {name for name, place in places.items() if place.registered}
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
