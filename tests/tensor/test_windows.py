"""Windows for spectra against PyTorch's and SciPy's."""

from __future__ import annotations

import importlib
import re
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
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


# ---------------------------------------------------------------- torch.signal.windows

OPTIONS: dict[str, dict[str, st.SearchStrategy[Any]]] = {
    "bartlett": {},
    "blackman": {},
    "cosine": {},
    "exponential": {"tau": st.floats(0.2, 9)},
    "gaussian": {"std": st.floats(0.2, 9)},
    "general_cosine": {"a": st.lists(st.floats(-2, 2), min_size=1, max_size=4)},
    "general_hamming": {"alpha": st.floats(-1, 1)},
    "hamming": {},
    "hann": {},
    "kaiser": {"beta": st.floats(0, 14)},
    "nuttall": {},
}


@pytest.mark.parametrize("name", OPTIONS)
@given(st.data(), st.integers(0, 12), st.booleans())
def test_signal_windows(name: str, data: Any, length: int, sym: bool) -> None:
    """Are SciPy's, and PyTorch's."""
    options = {k: data.draw(v) for k, v in OPTIONS[name].items()}
    if name == "exponential" and not sym:
        options["center"] = data.draw(st.none() | st.floats(-3, 9))
    f = getattr(compat.signal.windows, name)
    found = f(length, sym=sym, dtype=compat.float64, **options)
    assert found.shape == (length,)
    if length > 1:
        expected = getattr(windows, name)(length, sym=sym, **options)
        np.testing.assert_allclose(found.numpy(), expected, rtol=1e-12, atol=1e-12)
    if torch is not None:
        g = getattr(torch.signal.windows, name)
        theirs = g(length, sym=sym, dtype=torch.float64, **options)
        np.testing.assert_allclose(found.numpy(), theirs.numpy(), rtol=1e-9, atol=1e-9)
    single = f(length, sym=sym, requires_grad=True, **options)
    assert single.dtype == compat.float32 and single.requires_grad
    np.testing.assert_array_equal(single.detach().numpy(), found.numpy().astype(np.float32))


REFUSED: list[tuple[str, dict[str, Any], str]] = [
    ("hann", {"M": -1}, "requires non-negative window length, got M=-1"),
    ("hann", {"dtype": "int64"}, "expects float32 or float64 dtypes"),
    ("hann", {"dtype": "float16"}, "expects float32 or float64 dtypes"),
    ("gaussian", {"std": 0}, "Standard deviation must be positive, got: 0 instead."),
    ("exponential", {"tau": -1.0}, "Tau must be positive, got: -1.0 instead."),
    ("exponential", {"center": 1.0}, "Center must be None for symmetric windows"),
    ("kaiser", {"beta": -1}, "beta must be non-negative, got: -1 instead."),
    ("general_cosine", {"a": []}, "Coefficients cannot be empty"),
]


@pytest.mark.parametrize(("name", "options", "said"), REFUSED)
def test_what_signal_windows_refuse(name: str, options: dict[str, Any], said: str) -> None:
    for th in (compat, torch) if torch is not None else (compat,):
        given = {"M": 5, **options}
        if "dtype" in given:
            given["dtype"] = getattr(th, given["dtype"])
        with pytest.raises(ValueError, match=re.escape(said)):
            getattr(th.signal.windows, name)(given.pop("M"), **given)


def test_kinds_that_signal_windows_refuse() -> None:
    for th in (compat, torch) if torch is not None else (compat,):
        for length in (3.5, "3"):
            with pytest.raises(TypeError):
                th.signal.windows.hann(length)
        with pytest.raises(TypeError, match="Coefficients must be a list/tuple"):
            th.signal.windows.general_cosine(5, a=0.3)
    with pytest.raises(TypeError, match="argument 'std' must be Number, not Tensor"):
        compat.signal.windows.gaussian(5, std=compat.tensor(1.0, requires_grad=True))
