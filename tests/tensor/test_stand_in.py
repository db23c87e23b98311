"""`sys.modules["torch"] = compat`: programs written for PyTorch run unchanged.

Each program runs in a process of its own, so that the PyTorch that other tests compare with is left
alone.
"""

from __future__ import annotations

import subprocess
import sys
import textwrap


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
