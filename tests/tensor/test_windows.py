"""Windows for spectra against PyTorch's and SciPy's."""

from __future__ import annotations

import importlib
from typing import Any

import numpy as np
import pytest
from scipy.signal import windows

import compat

try:
    torch: Any = importlib.import_module("torch")
except ImportError:
    torch = None

CASES: dict[str, Any] = {
    "hann_window": ("hann", {}),
    "hamming_window": ("hamming", {}),
    "blackman_window": ("blackman", {}),
    "bartlett_window": ("bartlett", {}),
    "kaiser_window": (("kaiser", 12.0), {}),
    "kaiser_window, beta": (("kaiser", 3.0), {"beta": 3.0}),
    "hamming_window, alpha": (("general_hamming", 0.6), {"alpha": 0.6, "beta": 0.4}),
}


@pytest.mark.parametrize("case", CASES)
@pytest.mark.parametrize("length", [0, 1, 2, 5, 8])
@pytest.mark.parametrize("periodic", [True, False])
def test_windows(case: str, length: int, periodic: bool) -> None:
    window, options = CASES[case]
    name = case.partition(",")[0]
    found = getattr(compat, name)(length, periodic, dtype=compat.float64, **options)
    if length:
        expected = windows.get_window(window, length, fftbins=periodic)
        np.testing.assert_allclose(found.numpy(), expected, atol=1e-12)
    if torch is not None:
        theirs = getattr(torch, name)(length, periodic, dtype=torch.float64, **options)
        np.testing.assert_allclose(found.numpy(), theirs.numpy(), rtol=1e-6, atol=1e-7)
    assert getattr(compat, name)(length, **options).dtype == compat.float32


@pytest.mark.parametrize("name", sorted({case.partition(",")[0] for case in CASES}))
def test_what_is_refused(name: str) -> None:
    for th in (compat, torch) if torch is not None else (compat,):
        f = getattr(th, name)
        with pytest.raises(RuntimeError, match="non-negative window_length"):
            f(-1)
        with pytest.raises(RuntimeError, match="floating point dtypes"):
            f(3, dtype=th.int64)
        with pytest.raises(TypeError, match="must be int"):
            f(3.5)
        assert f(3, requires_grad=True).requires_grad
