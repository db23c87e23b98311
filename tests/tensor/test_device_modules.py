"""The host as a module, as the modules of devices are; the switches of what is not there."""

from __future__ import annotations

from typing import Any

import pytest

import compat


@pytest.fixture(params=["compat", "torch"])
def torch(request: pytest.FixtureRequest) -> Any:
    """The module: ours, and PyTorch where it is installed."""
    return compat if request.param == "compat" else pytest.importorskip("torch")


def test_the_host_answers_as_a_device_does(torch: Any) -> None:
    module = getattr(torch, torch.zeros(1).device.type)
    assert module is torch.cpu
    assert module.is_available() is module.is_initialized() is True
    assert module.device_count() == 1 and module.current_device() == "cpu"
    assert module.set_device("cpu") is module.synchronize() is None


@pytest.mark.filterwarnings("ignore::UserWarning")
def test_switches_of_mkldnn(torch: Any) -> None:
    x = torch.ones(2, 2)
    with torch.backends.mkldnn.flags(enabled=False):
        y = x @ x
    assert torch.equal(y, torch.full((2, 2), 2.0))
