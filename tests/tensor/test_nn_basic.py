"""Linear layers, activations and losses against PyTorch's, as modules."""

from __future__ import annotations

import pytest
from modules import Case, check_module, check_signature, torch

pytestmark = pytest.mark.skipif(torch is None, reason="PyTorch is not installed")

CASES = [
    Case("Linear", 3, 4, inputs=[(5, 3)]),
    Case("Linear", 3, 4, bias=False, inputs=[(2, 5, 3)]),
    Case("Tanh", inputs=[(3, 2)]),
    Case("BatchNorm1d", 3, inputs=[(4, 3)]),
    Case("BatchNorm1d", 3, inputs=[(4, 3, 2)], train=False),
]


@pytest.mark.parametrize("name", sorted({case.name for case in CASES}))
def test_signature(name: str) -> None:
    check_signature(name)


@pytest.mark.parametrize("case", CASES, ids=repr)
def test_module(case: Case) -> None:
    check_module(case)
