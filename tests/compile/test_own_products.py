"""Large products in C: NumPy's results, for every way that matrices lie, and only where they pay."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

import compat
import funcgrad
from funcgrad import thin
from funcgrad.compile import c_compiler, decisions, own_products

pytestmark = pytest.mark.skipif(c_compiler.compiler() is None, reason="no C compiler")
LAID = {
    "rows": lambda a: a,
    "columns": lambda a: np.ascontiguousarray(a.T).T,
    "every other row": lambda a: np.repeat(a, 2, axis=0)[::2],
    "parts of rows": lambda a: np.hstack([a, a])[:, : a.shape[1]],
}


@pytest.fixture(autouse=True)
def fresh(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[None]:
    """Nothing is known of any product, and decisions are kept for one test."""
    monkeypatch.setattr(decisions, "cache_folder", lambda: tmp_path)
    monkeypatch.setattr(own_products, "_loops", {})
    monkeypatch.setattr(own_products, "_waiting", {})
    yield
    for thread in threading.enumerate():
        if thread.name == own_products.THREAD:
            thread.join()


def _pair(rows: int, terms: int, columns: int, lies: Any = ("rows",) * 2, dtype: str = "f4") -> Any:
    rng = np.random.default_rng(rows + terms + columns)
    x, y = rng.normal(size=(rows, terms)), rng.normal(size=(terms, columns))
    return [LAID[how](a.astype(dtype)) for how, a in zip(lies, (x, y), strict=True)]


def _key(x: Any, y: Any) -> Any:
    return x.dtype, x.shape, x.strides, y.dtype, y.shape, y.strides


def _product(key: Any) -> Any:
    function = own_products._Product.of(key)
    assert function is not None
    return function


def _loop(x: Any, y: Any) -> Any:
    found = c_compiler.load([_product(_key(x, y))])
    assert found is not None
    return found[0]


def _run_until(done: Any, *operands: Any) -> None:
    deadline = time.monotonic() + 60
    while not done() and time.monotonic() < deadline:
        thin.dot(*operands)
    assert done()


@settings(deadline=None, max_examples=30)
@given(
    sizes=st.tuples(*[st.sampled_from([4, 8, 13, 16, 33, 70, 128, 131, 260, 515])] * 3),
    lies=st.tuples(*[st.sampled_from(sorted(LAID))] * 2),
    dtype=st.sampled_from(["float64", "float32"]),
)
def test_results(sizes: Any, lies: Any, dtype: str) -> None:
    rows, terms, columns = sizes
    x, y = _pair(rows, terms, columns, lies, dtype)
    assume(max(rows, columns) * x.itemsize >= 32)  # a vector
    found = _loop(x, y)(x, y)
    assert found.dtype == x.dtype and found.flags.c_contiguous
    scale = 10 * np.finfo(dtype).eps
    error = np.abs(found - x.astype(float) @ y.astype(float))
    assert np.all(error <= scale * (np.abs(x).astype(float) @ np.abs(y) + 1))


@pytest.mark.parametrize("lies", ["rows", "parts of rows"])
@pytest.mark.parametrize("dtype", ["float64", "float32"])
@pytest.mark.parametrize("sizes", [(64, 512, 32), (75, 515, 64), (530, 1030, 96), (128, 2000, 160)])
def test_many_terms(sizes: Any, lies: str, dtype: str) -> None:
    """Of two operands that lie term by term, as the gradient by a layer's weights."""
    rows, terms, columns = sizes
    rng = np.random.default_rng(rows)
    given = (rng.normal(size=(terms, n)).astype(dtype) for n in (rows, columns))
    x, y = (LAID[lies](a) for a in given)
    assert "panels" in "".join(_product(_key(x.T, y)).shared)
    found = _loop(x.T, y)(x.T, y)
    scale = 10 * np.finfo(dtype).eps * (np.abs(x).T.astype(float) @ np.abs(y))
    assert np.all(np.abs(found - x.T.astype(float) @ y.astype(float)) <= scale)


def test_arrays_that_are_not_aligned() -> None:
    x, y = _pair(40, 50, 60)
    odd = np.frombuffer(b"-" + x.tobytes(), x.dtype, offset=1).reshape(x.shape)
    assert not odd.flags.aligned and _key(odd, y) == _key(x, y)
    loop = _loop(x, y)
    for left, right in ((odd, y), (x, y)):
        np.testing.assert_allclose(loop(left, right), x @ y, rtol=1e-4, atol=1e-4)


def test_numbers_that_are_not_finite() -> None:
    """What is not finite in the operands is no reason for a warning; what overflows is."""
    x, y = _pair(40, 50, 60)
    x[3, 4], x[5, 6], y[7] = np.inf, np.nan, np.inf
    with np.errstate(all="raise"):
        found = _loop(x, y)(x, y)
    with np.errstate(all="ignore"):
        expected = x.dot(y)
    np.testing.assert_array_equal(np.isnan(found), np.isnan(expected))
    np.testing.assert_array_equal(np.isinf(found), np.isinf(expected))
    big, loop = np.full((64, 64), 3e38, "f4"), _loop(*_pair(64, 64, 64))
    with pytest.warns(RuntimeWarning, match="overflow encountered in dot"):
        assert np.isinf(loop(big, big)).all()


@pytest.mark.parametrize("gain", [1e9, 0.0])
def test_what_is_faster_is_kept(monkeypatch: pytest.MonkeyPatch, gain: float) -> None:
    monkeypatch.setattr(own_products, "GAIN", gain)
    x, y = _pair(64, 128, 256)
    work = 64 * 128 * 256
    monkeypatch.setattr(own_products, "MANY", 3 * work)
    key = _key(x, y)
    for done in (1, 2, 3):
        thin.dot(x, y)
        assert own_products._waiting == {key: done * work} and not own_products._loops
    expected = x.dot(y)
    _run_until(lambda: own_products._decision(_product(key)).code is not None, x, y)
    loop = own_products._loops[key]
    assert (loop is not None) == (gain > 0) and not own_products._waiting
    np.testing.assert_allclose(thin.dot(x, y), expected, rtol=1e-4, atol=1e-4)
    # A later run has it from the beginning.
    own_products._loops.clear()
    monkeypatch.setattr(c_compiler, "_build", lambda *_: pytest.fail("compiled"))
    thin.dot(x, y)
    assert (own_products._loops[key] is not None) == (gain > 0) and not own_products._waiting


def test_a_compiler_that_is_wrong() -> None:
    x, y = _pair(64, 128, 256)
    key = _key(x, y)
    trial = own_products._Trial(key, _product(key), lambda x, y: np.zeros((64, 256), "f4"))
    np.testing.assert_array_equal(trial(x, y, None), thin.by_blas(x, y))
    assert own_products._loops == {_key(x, y): None}
    assert own_products._decision(_product(key)).code == "numpy"


def test_only_what_c_can_have() -> None:
    x, y = _pair(64, 64, 64)
    of = own_products._Product.of
    assert of(_key(x, y)) is not None
    assert of(_key(x.astype("f8"), y)) is None
    assert of(_key(x.astype("f2"), y.astype("f2"))) is None
    assert of(_key(x.astype(complex), y.astype(complex))) is None
    assert of(_key(x[::-1], y)) is None
    assert of(_key(np.broadcast_to(x[0], x.shape), y)) is None
    assert of(_key(x[:1], y)) is None
    assert of(_key(x[:, :1], y[:1])) is None
    assert of(_key(x[::2, ::2], y[:32])) is None
    assert of(_key(np.zeros((2048, 2048), "f4"), np.zeros((2048, 2048), "f4"))) is None
    with pytest.raises(ValueError, match="not aligned"):
        thin.dot(x, np.zeros((65, 64), "f4"))


def test_numpy_code_is_blas(monkeypatch: pytest.MonkeyPatch) -> None:
    x, y = _pair(64, 128, 256)
    own_products._loops[_key(x, y)] = lambda *_: "own"
    assert thin.dot(x, y) == "own"
    with funcgrad.config("numpy"):
        assert isinstance(thin.dot(x, y), np.ndarray)
    compat.use_deterministic_algorithms(True)
    try:
        assert isinstance(thin.dot(x, y), np.ndarray)
    finally:
        compat.use_deterministic_algorithms(False)


def test_what_is_known_is_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(own_products, "KEYS", 4)
    kept = _key(*_pair(64, 128, 256))
    own_products._loops[kept] = lambda *_: None
    for rows in range(100, 120):
        thin.dot(*_pair(rows, 64, 64))
        thin.dot(*(x[::-1] for x in _pair(rows, 64, 64)))
    assert len(own_products._loops) <= 5 and kept in own_products._loops
    assert len(own_products._waiting) <= 4


def test_layers_and_programs_use_them() -> None:
    """Forward, both cotangents; eagerly, with a batch of batches, and in printed programs."""
    seen: list[Any] = []
    x, w = compat.randn(64, 128), compat.randn(256, 128, requires_grad=True)
    wide = compat.randn(4, 16, 128, requires_grad=True)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(thin, "own", lambda x, y, out: seen.append((x.shape, y.shape)))
        compat.nn.functional.linear(x, w).square().sum().backward()
        assert len(seen) == 2  # there, and back to the weight
        seen.clear()
        compat.nn.functional.linear(wide, w).square().sum().backward()
        assert len(seen) == 3
        seen.clear()
        with funcgrad.config("numpy"):
            funcgrad.jit(lambda x, y: x @ y)(np.ones((64, 128)), np.ones((128, 64)))
        assert seen == [((64, 128), (128, 64))]
        seen.clear()

        def loss(w: Any, x: Any) -> Any:  # the first product is not asked for again: it has a place
            return np.sum(np.tanh(np.tanh(x @ w) @ w))

        compiled = funcgrad.jit(funcgrad.grad(loss))
        with funcgrad.config("numpy"):
            found = compiled(w := np.eye(128) / 9, x := np.ones((64, 128)))
        assert len(seen) >= 5 and ", w" in compiled.code, compiled.code
        np.testing.assert_allclose(found, funcgrad.grad(loss)(w, x), rtol=1e-10)
