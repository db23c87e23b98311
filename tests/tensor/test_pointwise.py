"""Element by element: every function against differences and PyTorch."""

from __future__ import annotations

import pytest
from harness import Call, F, call, check

CALLS = [
    call("add", F(2, 3), F(3)),
    call("add", F(2, 3), F(3), alpha=2),
    call("mul", F(2, 1), F(3)),
    call(".mul_", F(2, 3), F(3)),
    call("exp", F(2, 3)),
]


@pytest.mark.parametrize("c", CALLS, ids=repr)
def test_call(c: Call) -> None:
    check(c)
