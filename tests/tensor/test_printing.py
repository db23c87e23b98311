"""How tensors print: the strings of PyTorch, character by character."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

import numpy as np
import outcomes
import pytest
from elementwise import needs_torch
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays
from outcomes import Row, both, module, rows

import compat
from compat import printing

REAL = ["float32", "float64", "float16"]
COMPLEX = ["complex64", "complex128"]
INTEGERS = ["int64", "int32", "int16", "int8", "uint8", "bool"]
BFLOAT16 = ["bfloat16"] if hasattr(compat, "bfloat16") else []


@both()
def torch(request: pytest.FixtureRequest) -> Iterator[Any]:
    """The module, ours, and PyTorch where it is installed; afterwards with the default options."""
    m = module(request.param)
    yield m
    m.set_printoptions(profile="default")


@pytest.mark.parametrize("row", rows("printing"), ids=str)
def test_transcript(torch: Any, row: Row) -> None:
    outcomes.check(torch, row)


@pytest.mark.parametrize("row", rows("printoptions"), ids=str)
def test_options(torch: Any, row: Row) -> None:
    options, _, expression = row.expression.partition(" | ")
    torch.set_printoptions(**eval(f"dict({options})"))
    outcomes.check(torch, Row(expression, row.expected))


# ---------------------------------------------------------------- against PyTorch, at random

NOTABLE = [0.0, 0.5, 1.0, 1e-4, 9.99e-5, 1e8, 1.0001e8, 1000.0, 1001.0, 99999999.0, 0.99996, 9.9999]
finite = st.one_of(
    st.integers(-20, 20).map(float),
    st.sampled_from(NOTABLE),
    st.floats(-100, 100, width=16),
    st.floats(-1e30, 1e30),
)
special = st.sampled_from([np.nan, np.inf, -np.inf, -0.0, 0.0])


@st.composite
def options(draw: Any) -> dict[str, Any]:
    """Arguments of `set_printoptions`."""
    choices = {
        "precision": st.integers(0, 8),
        "threshold": st.sampled_from([0, 3, 10, 100]),
        "edgeitems": st.integers(0, 4),
        "linewidth": st.sampled_from([1, 10, 20, 40, 120, 1000]),
        "sci_mode": st.booleans(),
        "profile": st.sampled_from(["default", "short", "full"]),
    }
    names = draw(st.lists(st.sampled_from(sorted(choices)), unique=True, max_size=3))
    return {name: draw(choices[name]) for name in names}


@st.composite
def numbers(draw: Any) -> tuple[np.ndarray, str]:
    """Numbers of any shape, and the dtype they are to have."""
    name = draw(st.sampled_from([*REAL, *BFLOAT16, *COMPLEX, *INTEGERS]))
    shape = draw(
        st.one_of(
            arrays.array_shapes(min_dims=0, max_dims=4, min_side=0, max_side=4),
            st.tuples(st.integers(0, 40)),
            st.sampled_from([(1000,), (1001,), (7, 150), (150, 7), (12, 9, 10), (1, 1100)]),
        )
    )
    # Few different numbers, repeated: large tensors of large examples take long to draw.
    if name in INTEGERS and name != "bool":
        limits = np.iinfo(name)
        near = st.integers(max(limits.min, -200), min(limits.max, 200))
        pool = draw(st.lists(near | st.integers(limits.min, limits.max), min_size=1, max_size=6))
        pool = np.array(pool, name)
    else:
        elements = draw(st.sampled_from([finite, finite | special, special]))
        pool = np.array(draw(st.lists(elements, min_size=1, max_size=6)))
    flat = np.resize(pool, int(np.prod(shape)))
    if name in COMPLEX:
        flat = flat.astype(complex)
        flat.imag = np.resize(draw(st.lists(finite | special, min_size=1, max_size=5)), flat.shape)
    with np.errstate(all="ignore"):
        return flat.astype("float32" if name == "bfloat16" else name).reshape(shape), name


def _texts(m: Any, array: np.ndarray, name: str, kind: str) -> list[str]:
    x = m.from_numpy(array.copy()).to(getattr(m, name))
    if kind != "plain" and (x.is_floating_point() or x.is_complex()):
        x.requires_grad_()
        x = {"leaf": lambda: x, "copied": lambda: x.clone(), "view": lambda: x[None]}[kind]()
    shown = [repr(x), str(x)]
    if not array.shape:
        shown.append(f"{x}")
    return shown


@needs_torch
@given(
    numbers(),
    options(),
    st.sampled_from(["plain", "leaf", "copied", "view"]),
    st.sampled_from(["float32", "float32", "float64"]),
)
def test_as_in_pytorch(
    drawn: tuple[np.ndarray, str], given_options: dict[str, Any], kind: str, default: str
) -> None:
    texts = []
    for m in (compat, module("torch")):
        m.set_default_dtype(getattr(m, default))
        m.set_printoptions(**given_options)
        try:
            texts.append(_texts(m, *drawn, kind))
        finally:
            m.set_printoptions(profile="default")
            m.set_default_dtype(m.float32)
    assert texts[0] == texts[1]


# ---------------------------------------------------------------- what holds without PyTorch


def _read(text: str) -> Any:
    """The numbers of a printed tensor."""
    inner = text[text.index("[") : text.rindex("]") + 1]
    return eval(
        re.sub(r"(?<![\w.])(\d+\.?)(?=[,\]])", r"\1", inner), {"nan": np.nan, "inf": np.inf}
    )


@given(
    arrays.arrays(
        np.float64,
        arrays.array_shapes(max_dims=3, max_side=4),
        elements=st.floats(-60000, 60000, width=16) | special,
    ),
    st.booleans(),
)
def test_printed_numbers_are_the_numbers(a: np.ndarray, scientific: bool) -> None:
    with printing.printoptions(precision=17, sci_mode=scientific):
        text = repr(compat.from_numpy(a))
    np.testing.assert_allclose(np.array(_read(text)).reshape(a.shape), a, 0, 1e-16)
    widths = [len(line) for line in text.split("\n")]
    # As in PyTorch, the brackets that close a line are not counted.
    assert max(widths) <= a.ndim + max(80, 8 + 27)


def test_shortened_tensors_show_the_ends() -> None:
    text = repr(compat.arange(100_000).reshape(100, 10, 100))
    assert text.startswith("tensor([[[    0,     1,     2,  ...,    97,    98,    99],\n")
    assert text.endswith("[99900, 99901, 99902,  ..., 99997, 99998, 99999]]])")
    assert len(text) < 2500


@pytest.mark.skipif(not BFLOAT16, reason="ml_dtypes is not installed")
def test_bfloat16(torch: Any) -> None:
    x = torch.tensor([0.1, 1.0, -2.0], dtype=torch.bfloat16)
    assert repr(x) == "tensor([ 0.1001,  1.0000, -2.0000], dtype=torch.bfloat16)"
    assert f"{x[0]}" == "0.10009765625"
    assert repr(torch.zeros(0, dtype=torch.bfloat16)) == "tensor([], dtype=torch.bfloat16)"


def test_options_stay_until_they_are_changed(torch: Any) -> None:
    x = torch.tensor([1.23456, 1000.5])
    torch.set_printoptions(precision=2)
    torch.set_printoptions(linewidth=30)
    assert repr(x) == "tensor([   1.23, 1000.50])"
    torch.set_printoptions(sci_mode=True)
    assert repr(x) == "tensor([1.23e+00, 1.00e+03])"
    torch.set_printoptions()  # scientific or not is chosen again
    assert repr(x) == "tensor([   1.23, 1000.50])"
    torch.set_printoptions(profile="default")
    assert repr(x) == "tensor([   1.2346, 1000.5000])"


def test_options_inside_a_with() -> None:
    before = printing.get_printoptions()
    with pytest.raises(KeyError), printing.printoptions(precision=1, threshold=2, edgeitems=1):
        assert repr(compat.tensor([0.25, 1.5, 2.0])) == "tensor([0.2,  ..., 2.0])"
        raise KeyError
    assert printing.get_printoptions() == before


def test_the_default_dtype_is_not_named(torch: Any) -> None:
    torch.set_default_dtype(torch.float64)
    try:
        assert repr(torch.tensor([1.5])) == "tensor([1.5000])"
        assert repr(torch.tensor([1.5j])) == "tensor([0.+1.5000j])"
        assert repr(torch.tensor([1.5]).float()) == "tensor([1.5000], dtype=torch.float32)"
        assert repr(torch.tensor([1j]).cfloat()) == "tensor([0.+1.j], dtype=torch.complex64)"
        assert repr(torch.zeros(0)) == "tensor([])"
    finally:
        torch.set_default_dtype(torch.float32)


def test_nodes_print_with_their_address(torch: Any) -> None:
    x = torch.ones(2, requires_grad=True)
    y = (x * 2).sum()
    assert re.fullmatch(r"<SumBackward0 object at 0x[0-9a-f]+>", repr(y.grad_fn))
    assert re.fullmatch(
        r"\(\(<MulBackward0 object at 0x[0-9a-f]+>, 0\),\)", repr(y.grad_fn.next_functions)
    )
    assert repr(torch.zeros(2) + 1) == "tensor([1., 1.])"


def test_printing_changes_nothing(torch: Any) -> None:
    x = torch.arange(2000.0, requires_grad=True)
    y = x[::2] * 3
    version = y._version
    repr(y), str(x), f"{y.sum()}"
    assert y._version == version
    y.sum().backward()
    assert x.grad[:4].tolist() == [3.0, 0.0, 3.0, 0.0]


def test_tensors_inside_transforms() -> None:
    """What is known is shown: under `grad` the numbers, under `vmap` the type."""
    seen: list[str] = []

    def f(x: Any) -> Any:
        seen.extend([repr(x), f"{x.sum()}"])
        return x.sum()

    compat.func.grad(f)(compat.tensor([1.0, 2.5]))
    assert seen[0].startswith("tensor([1.0000, 2.5000]") and seen[1].startswith("3.5")
    seen.clear()
    compat.func.vmap(f)(compat.ones(2, 3))
    assert seen[0].startswith("tensor(")


def test_prints_in_an_exception_handler() -> None:
    """A tensor that was freed by a failed operation still prints."""
    x = compat.ones(2, requires_grad=True)
    y = x.exp()
    y.sum().backward()
    with pytest.raises(RuntimeError, match="backward through the graph a second time"):
        y.sum().backward()
    assert repr(y) == "tensor([2.7183, 2.7183], grad_fn=<ExpBackward0>)"
