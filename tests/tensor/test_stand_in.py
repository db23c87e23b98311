"""`sys.modules["torch"] = compat`: programs written for PyTorch run unchanged.

Each program runs in a process of its own, so that the PyTorch that other tests compare with is left
alone.
"""

from __future__ import annotations

import os
import subprocess
import sys
import textwrap
import warnings
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

import compat


def run(program: str) -> str:
    start = 'import sys, compat\nsys.modules["torch"] = compat\n'
    done = subprocess.run(
        [sys.executable, "-c", start + textwrap.dedent(program)],
        capture_output=True,
        text=True,
        timeout=120,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_submodules_are_the_ones_of_the_package() -> None:
    run(
        """
        import torch, torch.nn as nn, torch.nn.functional as F
        from torch.optim.lr_scheduler import StepLR
        from torch.utils.data import DataLoader
        assert torch is compat and nn is compat.nn and F is compat.nn.functional
        assert StepLR is compat.optim.lr_scheduler.StepLR
        assert DataLoader is compat.utils.data.DataLoader
        assert nn.__spec__.name == nn.__name__ == "compat.nn"
        own = {id(module) for name, module in sys.modules.items() if name.startswith("compat")}
        borrowed = [name for name in sys.modules if name.partition(".")[0] == "torch"]
        assert len(borrowed) > 5 and all(id(sys.modules[name]) in own for name in borrowed)
        """
    )


def test_objects_pickle() -> None:
    run(
        """
        import copy, pickle
        from torch import nn
        layer = pickle.loads(pickle.dumps(nn.Linear(2, 3)))
        assert type(layer) is compat.nn.Linear and type(layer.weight) is compat.nn.Parameter
        """
    )


def test_what_is_missing_is_named() -> None:
    out = run(
        """
        for name in ("torch.nowhere.rpc", "torch.nn.nothing"):
            try:
                __import__(name)
            except ModuleNotFoundError as error:
                print(error.name, error)
        """
    )
    first, second = out.splitlines()
    assert first.startswith("torch.nowhere No module named 'torch.nowhere'")
    assert "compat.nn.nothing" in second


def test_a_class_is_no_module() -> None:
    """`unittest.mock.patch` looks for the longest module in the name of what it replaces."""
    run(
        """
        import unittest.mock
        with unittest.mock.patch("torch.Tensor.sum", lambda x: "patched"):
            assert compat.ones(2).sum() == "patched"
        assert compat.ones(2).sum() == 2
        """
    )


def test_a_renamed_package_is_not_searched_for_state() -> None:
    """Pyro wants the name; the library is still none of what compiled code reads."""
    run(
        """
        import torch
        from funcgrad.compile.captures import captures
        def draws():
            return torch.default_generator
        before = captures(draws)
        compat.__name__ = "torch"
        after = captures(draws)
        assert len(after.places) == len(before.places), after.places
        """
    )


def test_other_packages_are_left_alone() -> None:
    run(
        """
        del sys.modules["torch"]
        import json.decoder, numpy.polynomial
        assert json.decoder.__name__ == "json.decoder"
        try:
            import torchless.nn
        except ModuleNotFoundError as error:
            assert error.name == "torchless"
        """
    )


def test_profilers_and_options_of_pytorchs_compiler_change_nothing() -> None:
    run(
        """
        import warnings
        import torch, torch._dynamo
        from torch.profiler import ProfilerActivity, profile, record_function, schedule
        torch._dynamo.config.suppress_errors = True
        torch._dynamo.reset()
        torch._inductor.config.coordinate_descent_tuning = True

        def never(_):
            raise AssertionError
        with warnings.catch_warnings(record=True) as seen:
            warnings.simplefilter("always")
            with profile(
                activities=[ProfilerActivity.CPU], record_shapes=True, on_trace_ready=never,
                schedule=schedule(wait=0, warmup=0, active=1),
            ) as found, record_function("part"):
                y = torch.ones(2) + 1
                found.step()
        assert y.tolist() == [2.0, 2.0] and "records nothing" in str(seen[0].message)
        for read in (found.key_averages, lambda: found.export_chrome_trace("trace.json")):
            try:
                read()
            except RuntimeError as error:
                assert "cProfile" in str(error)
            else:
                raise AssertionError
        try:
            profile(activites=[])
        except TypeError:
            pass
        else:
            raise AssertionError
        """
    )


PROCESSES = """
import sys, compat
sys.modules["torch"] = compat
import torch, torch.multiprocessing as mp

def work(i, queue):
    queue.put((i, torch.ones(2) * i))

def fail(i):
    raise SystemExit(3)

if __name__ == "__main__":
    queue = mp.get_context("spawn").SimpleQueue()
    mp.spawn(work, (queue,), nprocs=2)
    found = dict(queue.get() for _ in range(2))
    assert found[1].tolist() == [1.0, 1.0] and type(found[0]) is torch.Tensor
    try:
        mp.spawn(fail, nprocs=2)
    except mp.ProcessRaisedException as error:
        assert error.error_index in (0, 1)
    else:
        raise AssertionError
    started = mp.spawn(work, (queue,), nprocs=1, join=False)
    started.processes[0].join()
    assert started.join() and started.join()  # all have ended already
"""


def test_processes_start_and_fail_with_an_error(tmp_path: Path) -> None:
    """Processes that are started anew: a copy of one with threads may wait for a lock for ever."""
    script = tmp_path / "processes.py"
    script.write_text(PROCESSES)
    given = os.environ | {"PYTHONPATH": str(Path(compat.__file__).parents[1])}
    done = subprocess.run(
        [sys.executable, str(script)], capture_output=True, text=True, timeout=120, env=given
    )
    assert done.returncode == 0, done.stderr


STEPS = st.integers(0, 3)
SCHEDULES = st.fixed_dictionaries(
    {"wait": STEPS, "warmup": STEPS, "active": st.integers(1, 3), "repeat": STEPS}
    | {"skip_first": STEPS, "skip_first_wait": st.booleans()}
)


@given(SCHEDULES)
def test_schedules_of_profilers(options: dict[str, int]) -> None:
    torch = pytest.importorskip("torch")
    with warnings.catch_warnings(action="ignore"):
        ours, theirs = (th.profiler.schedule(**options) for th in (compat, torch))
    assert [ours(i).name for i in range(20)] == [theirs(i).name for i in range(20)]
