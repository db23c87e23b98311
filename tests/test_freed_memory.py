"""Freed memory stays with the process, up to a bound: an eager gradient asks for no new pages."""

from __future__ import annotations

import os
import subprocess
import sys
from typing import Any

import pytest

import funcgrad.memory

KEEPS = funcgrad.memory.keep_freed_memory()
only_glibc = pytest.mark.skipif(
    not KEEPS, reason="the C library has no such setting, or it is set by hand"
)

GRADIENTS = """
import resource
import numpy as np
import funcgrad

gradient = funcgrad.grad(lambda x: np.sum(np.sin(np.exp(np.cos(x)) * x) * 2.0))
x = np.linspace(0.0, 1.0, 300_000)
for _ in range(3):
    gradient(x)
before = resource.getrusage(resource.RUSAGE_SELF).ru_minflt
for _ in range(10):
    gradient(x)
print(resource.getrusage(resource.RUSAGE_SELF).ru_minflt - before)
"""

FREED = """
import numpy as np
import funcgrad

def resident():
    return int(open("/proc/self/statm").read().split()[1]) * 4096

before = resident()
arrays = [np.ones(1_000_000) for _ in range(50)]
held = resident()
del arrays
print(held - before, resident() - before)
"""


def printed(program: str, **environment: str) -> list[int]:
    names = ("MALLOC_TRIM_THRESHOLD_", "MALLOC_MMAP_THRESHOLD_", "GLIBC_TUNABLES")
    plain = {k: v for k, v in os.environ.items() if k not in names}
    command: Any = [sys.executable, "-c", program]
    ran = subprocess.run(
        command, capture_output=True, text=True, check=True, env=plain | environment
    )
    return [int(word) for word in ran.stdout.split()]


@only_glibc
def test_gradients_ask_for_no_new_pages() -> None:
    assert printed(GRADIENTS)[0] < 100


@only_glibc
def test_what_the_environment_says_stands() -> None:
    assert printed(GRADIENTS, MALLOC_TRIM_THRESHOLD_="131072")[0] > 5_000


@only_glibc
def test_more_than_the_bound_goes_back() -> None:
    held, kept = printed(FREED)
    assert held > 390e6
    assert kept < funcgrad.memory.KEPT


@pytest.mark.parametrize("platform", ["darwin", "win32"])
def test_other_systems_are_left_alone(monkeypatch: pytest.MonkeyPatch, platform: str) -> None:
    monkeypatch.setattr(sys, "platform", platform)
    assert not funcgrad.memory.keep_freed_memory()
