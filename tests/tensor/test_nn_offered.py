"""Every public name of PyTorch's `nn`, `optim` and `utils.data`: offered, called alike, compared.

What is left out is in the tables below, each with its reason; an entry that no longer applies fails.
The tables of the other tests are collected: a module, function, optimizer or scheduler without a
comparison with PyTorch fails by its name.
"""

from __future__ import annotations

import importlib
import inspect
import re
from collections import Counter
from collections.abc import Iterator
from typing import Any

import pytest
import test_nn_attention
import test_nn_basic
import test_nn_more
import test_nn_recurrent
import test_nn_simple
import test_nn_windows
import test_optim_all
import test_schedules
from modules import torch

pytestmark = pytest.mark.skipif(torch is None, reason="PyTorch is not installed")

NAMESPACES = (
    "nn",
    "nn.functional",
    "nn.grad",
    "nn.init",
    "nn.utils",
    "nn.utils.parametrizations",
    "nn.utils.parametrize",
    "nn.utils.prune",
    "nn.utils.rnn",
    "nn.utils.stateless",
    "optim",
    "optim.lr_scheduler",
    "optim.swa_utils",
    "utils.data",
)

# What is public by its name only: tools of PyTorch's own code that its modules import.
TOOLS = (
    "torch.__future__",
    "torch._C",
    "torch._jit_internal",
    "torch._library",
    "torch._opaque_base",
    "torch.nn.utils._named_member_accessor",
    "torch.overrides",
    "torch.utils._python_dispatch",
    "torch.utils._typing_utils",
)

PIPES = "PyTorch deprecates data pipes: a `Dataset` and a `DataLoader`"
SCALED = "products of 8-bit floats, which NumPy does not have"
OMITTED: dict[str, str] = {
    "nn.CrossMapLRN2d": "not documented; its windows and its gradient disagree: `LocalResponseNorm`",
    "nn.factory_kwargs": "not documented: for writers of PyTorch's own layers",
    "nn.functional.ScalingType": SCALED,
    "nn.functional.SwizzleType": SCALED,
    "nn.functional.assert_int_or_pair": "not documented: a check of PyTorch's own",
    "nn.functional.grouped_mm": "on GPUs in bfloat16 only",
    "nn.functional.scaled_grouped_mm": SCALED,
    "nn.functional.scaled_mm": SCALED,
    "nn.utils.rnn.PackedSequence_": "not documented: the base of `PackedSequence`",
    "nn.utils.rnn.bind": "not documented: a helper of `PackedSequence`",
    "optim.SparseAdam": "there are no sparse tensors",
    "optim.swap_in_optimizer_params_and_state": "for shards of parameters on several devices",
    **{f"utils.data.{name}": PIPES for name in (
        "DFIterDataPipe", "DataChunk", "IterDataPipe", "MapDataPipe", "argument_validation",
        "functional_datapipe", "guaranteed_datapipes_determinism", "non_deterministic",
        "runtime_validation", "runtime_validation_disabled",
    )},
}  # fmt: skip

OUT = "takes `out` too, as the function of the same name of `torch` does"
UNSAID = "takes `out` too, as PyTorch's does, whose documentation does not say so"
DIFFERENT: dict[str, str] = {
    "nn.functional.avg_pool2d": UNSAID,
    "nn.functional.avg_pool3d": UNSAID,
    "nn.functional.gelu": OUT,
    "nn.functional.hardshrink": OUT,
    "nn.functional.linear": OUT,
    "nn.functional.logsigmoid": OUT,
    "nn.functional.scaled_dot_product_attention": "PyTorch's text hides that two are keywords only",
    "nn.functional.sigmoid": OUT,
    "nn.functional.softplus": OUT,
    "nn.functional.softshrink": OUT,
    "nn.functional.tanh": OUT,
    "utils.data.random_split": "PyTorch shows its generator, here None stands for it",
}


def found(path: str) -> Any:
    importlib.import_module(f"compat.{path}")
    return importlib.import_module(f"torch.{path}")


def public(path: str) -> Iterator[tuple[str, Any]]:
    """The names, with what they stand for, of PyTorch's classes and functions for users."""
    for name, x in vars(found(path)).items():
        home = str(getattr(x, "__module__", None) or "torch")
        is_tool = home.startswith(TOOLS) and not home.startswith("torch._C._nn")
        is_theirs = home.startswith("torch") and x is not torch.Tensor and not is_tool
        if name[0] != "_" and is_theirs and (inspect.isclass(x) or inspect.isroutine(x)):
            yield name, x


EVERY = {} if torch is None else {f"{p}.{n}": x for p in NAMESPACES for n, x in public(p)}


def offered(label: str) -> Any:
    path, _, name = label.rpartition(".")
    return getattr(importlib.import_module(f"compat.{path}"), name, None)


def test_there_is_much_to_look_at() -> None:
    """The enumeration found PyTorch's names, and those of all kinds."""
    assert len(EVERY) > 400
    some = ("nn.Linear", "nn.functional.conv2d", "nn.functional.one_hot", "nn.init.eye_")
    some += ("optim.Adam", "optim.lr_scheduler.StepLR", "nn.utils.prune.identity", "nn.LazyLinear")
    assert set(some) <= EVERY.keys()


@pytest.mark.parametrize("label", EVERY)
def test_every_name_is_offered(label: str) -> None:
    assert (offered(label) is None) == (label in OMITTED)


def test_what_is_left_out_is_pytorchs() -> None:
    assert OMITTED.keys() | DIFFERENT.keys() <= EVERY.keys()
    assert not OMITTED.keys() & DIFFERENT.keys()


# ---------------------------------------------------------------- arguments


def shown(default: Any) -> str:
    """A default: a number by its value, a function by its name."""
    if isinstance(default, int | float) and not isinstance(default, bool):
        return repr(float(default))
    return default.__name__ if inspect.isroutine(default) else repr(default)


def listed(signature: inspect.Signature) -> list[tuple[str, str, str]]:
    every = signature.parameters.values()
    return [(p.name, p.kind.name, shown(p.default)) for p in every]


def signature_of(x: Any) -> inspect.Signature | None:
    """The arguments, of a function in C those that the first line of its description names."""
    try:
        signature = inspect.signature(x)
    except ValueError:
        line = re.match(r"\s*\w+(\(.*?\)) ->", x.__doc__ or "", re.DOTALL)
        if line is None:
            return None
        scope: dict[str, Any] = {}
        exec(f"def f{line[1]}: pass", scope)
        signature = inspect.signature(scope["f"])
    kinds = [p.kind for p in signature.parameters.values()]
    is_open = kinds == [inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD]
    return None if is_open else signature


def has_the_same_arguments(label: str) -> bool:
    theirs = signature_of(EVERY[label])
    ours = signature_of(offered(label))
    if theirs is None:  # PyTorch does not say
        return True
    return ours is not None and listed(ours) == listed(theirs)


# Those in place take what the function of their name takes.
IN_PLACE = [label for label in EVERY if re.fullmatch(r"nn\.functional\.\w+[a-z0-9]_", label)]
COMPARED = [label for label in EVERY if label not in OMITTED and label not in IN_PLACE]


@pytest.mark.parametrize("label", COMPARED)
def test_arguments_are_the_same(label: str) -> None:
    assert has_the_same_arguments(label) == (label not in DIFFERENT)


# ---------------------------------------------------------------- comparisons

MODULE_TABLES: tuple[Any, ...] = (
    test_nn_attention,
    test_nn_basic,
    test_nn_more,
    test_nn_recurrent,
    test_nn_simple,
    test_nn_windows,
)
BASES = {
    "Module": "test_module.py",
    "RNNBase": "RNN, LSTM and GRU are compared",
    "RNNCellBase": "the cells are compared",
}
# What is random cannot be compared; it has a test of its distribution.
DRAWN = {"gumbel_softmax": test_nn_more.test_gumbel_softmax}


def modules_of() -> set[str]:
    every = [label.rpartition(".")[2] for label, x in EVERY.items() if is_module(label, x)]
    return {name for name in every if f"nn.{name}" not in OMITTED}


def is_module(label: str, x: Any) -> bool:
    return label.count(".") == 1 and inspect.isclass(x) and issubclass(x, torch.nn.Module)


def test_every_module_is_compared() -> None:
    """In two configurations at least."""
    cases = Counter(case.name for table in MODULE_TABLES for case in table.CASES)
    assert cases.keys() | BASES.keys() == modules_of()
    assert not cases.keys() & BASES.keys()
    assert [name for name, count in cases.items() if count < 2] == []


def test_every_function_is_compared() -> None:
    """With two lists of arguments at least."""
    prefix = "nn.functional."
    functions = {
        label.removeprefix(prefix)
        for label, x in EVERY.items()
        if label.startswith(prefix) and inspect.isroutine(x) and label not in OMITTED
    }
    calls = Counter(c.name.removeprefix(prefix) for c in test_nn_more.CALLS)
    assert calls.keys() | DRAWN.keys() == functions
    assert not calls.keys() & DRAWN.keys()
    assert [name for name, count in calls.items() if count < 2] == []


def test_every_optimizer_is_compared() -> None:
    classes = {
        label.rpartition(".")[2]
        for label, x in EVERY.items()
        if re.fullmatch(r"optim\.\w+", label) and inspect.isclass(x) and label not in OMITTED
    }
    assert {*test_optim_all.NAMES, "LBFGS", "Optimizer"} == classes


def test_every_scheduler_is_compared() -> None:
    classes = {
        label.rpartition(".")[2]
        for label, x in EVERY.items()
        if inspect.isclass(x) and issubclass(x, torch.optim.lr_scheduler.LRScheduler)
    }
    assert {*test_schedules.OPTIONS, *COMPOSED, "LRScheduler"} == classes


COMPOSED = ("ChainedScheduler", "SequentialLR")  # compared in `test_schedules.py` by their parts
