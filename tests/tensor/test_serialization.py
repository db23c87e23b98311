"""Checkpoints and safetensors: round trips, PyTorch's files, damaged files and malicious ones."""

from __future__ import annotations

import collections
import contextlib
import importlib
import io
import json
import math
import os
import pickle
import pickletools
import struct
import sys
import zipfile
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays

import compat
from compat.safetensors import load_file, save_file
from compat.serialization import load, plain, save
from compat.serialization.names import CheckpointError

try:
    torch: Any = importlib.import_module("torch")
except ImportError:
    torch = None

needs_torch = pytest.mark.skipif(torch is None, reason="needs PyTorch")
NAMES = [name for name in compat.dtypes.NAMES if name == getattr(compat, name).name]


def written(x: Any, by: Any = save) -> bytes:
    file = io.BytesIO()
    by(x, file)
    return file.getvalue()


def read(data: bytes, **options: Any) -> Any:
    return load(io.BytesIO(data), **options)


# ---------------------------------------------------------------- random trees


@st.composite
def tensors(draw: st.DrawFn, th: Any = compat) -> Any:
    """A tensor of any dtype, contiguous or a view; a parameter; one that requires grad."""
    shape = draw(arrays.array_shapes(min_dims=0, max_dims=3, min_side=0, max_side=3))
    name = draw(st.sampled_from(NAMES))
    n = int(np.prod(shape))
    x = th.arange(n).reshape(shape).to(getattr(th, name))
    view = draw(st.sampled_from(["none", "t", "slice", "expand"]))
    if view == "t" and x.ndim > 1:
        x = x.transpose(0, 1)
    elif view == "slice" and x.ndim:
        x = x[1:]
    elif view == "expand":
        x = x.expand(2, *x.shape)
    if x.dtype.is_floating_point and draw(st.booleans()):
        x = th.nn.Parameter(x) if draw(st.booleans()) else x.detach().requires_grad_()
    return x


scalars = (
    st.none()
    | st.booleans()
    | st.integers(-(2**80), 2**80)
    | st.floats(allow_nan=False)
    | st.text(max_size=4)
    | st.binary(max_size=4)
    | st.complex_numbers(allow_nan=False)
)
numpy_numbers = st.builds(
    lambda dtype, n: dtype.type(n), arrays.scalar_dtypes().filter(plain.is_plain), st.integers(0, 9)
)
simple_keys = st.integers() | st.text(max_size=3) | st.tuples(st.integers(), st.text(max_size=2))
keys = simple_keys | numpy_numbers


@st.composite
def numpy_arrays(draw: st.DrawFn) -> np.ndarray:
    """Of numbers or strings in any order of bytes, in C or Fortran order, or a view."""
    codes = (st.sampled_from([*"?bhilBHILefdgFDG"]), st.sampled_from(["S1", "S5", "U1", "U3"]))
    dtype = np.dtype(draw(st.one_of(*codes))).newbyteorder(draw(st.sampled_from("<>")))
    shape = draw(arrays.array_shapes(min_dims=0, max_dims=3, min_side=0, max_side=3))
    x = (np.arange(math.prod(shape)) % 2).astype(dtype).reshape(shape)
    return draw(st.sampled_from([x, x.T, x[..., ::-1] if x.ndim else x]))


python_data = st.one_of(
    st.builds(slice, st.none() | st.integers(), st.integers(), st.none()),
    st.builds(range, st.integers(-3, 3), st.integers(-3, 3), st.integers(1, 3)),
    st.binary(max_size=4).map(bytearray),
    st.frozensets(simple_keys, max_size=3),
    st.just(...),
)
of_numpy = numpy_arrays() | numpy_numbers | numpy_arrays().map(lambda x: x.dtype)


def trees(th: Any = compat) -> st.SearchStrategy[Any]:
    return st.recursive(
        (scalars | tensors(th) | of_numpy | python_data)
        | st.sampled_from([th.Size([2, 3]), th.float16, th.device("cpu")]),
        lambda inner: (
            st.lists(inner, max_size=3)
            | st.lists(inner, max_size=3).map(tuple)
            | st.dictionaries(keys, inner, max_size=3)
            | st.dictionaries(keys, inner, max_size=3).map(collections.OrderedDict)
            | st.dictionaries(keys, inner, max_size=3).map(collections.Counter)
            | st.sets(keys, max_size=3)
        ),
        max_leaves=6,
    )


def shown(x: Any) -> Any:
    """All of a tree, in a form that can be compared across libraries."""
    if type(x).__name__ in ("Tensor", "Parameter"):
        y = x.detach()
        numbers = y.float().tolist() if "bfloat16" in str(y.dtype) else y.tolist()
        strides = x.stride() if x.numel() else ()  # NumPy keeps none for arrays without elements
        return type(x).__name__, str(x.dtype), tuple(x.shape), strides, x.requires_grad, numbers
    if isinstance(x, np.ndarray | np.generic):
        return type(x).__name__, x.dtype.str, np.shape(x), np.isfortran(x), x.tolist()
    if isinstance(x, dict):
        return type(x).__name__, [(shown(k), shown(v)) for k, v in x.items()]
    if isinstance(x, list | tuple):
        return type(x).__name__, [shown(y) for y in x]
    return (type(x).__name__, x) if isinstance(x, set | frozenset | int | float | str) else repr(x)


@given(tree=trees())
def test_trees_round_trip(tree: Any) -> None:
    assert shown(read(written(tree))) == shown(tree)


@needs_torch
@given(data=st.data())
def test_pytorchs_files_are_read(data: st.DataObject) -> None:
    file = written(data.draw(trees(torch)), torch.save)
    # Not what was saved: some versions of NumPy turn arrays into the machine's order of bytes.
    assert shown(read(file)) == shown(torch.load(io.BytesIO(file), weights_only=False))


@needs_torch
@given(tree=trees())
def test_pytorch_reads_ours(tree: Any) -> None:
    assert shown(torch.load(io.BytesIO(written(tree)), weights_only=False)) == shown(tree)


def savers() -> list[Any]:
    """Who writes and who reads."""
    both = [(compat, save), (torch, torch.save if torch else None)]
    readers = [load, torch.load if torch else None]
    return [
        pytest.param(th, by, reader, marks=needs_torch if None in (by, reader) else ())
        for th, by in both
        for reader in readers
    ]


every_pair = pytest.mark.parametrize(("th", "by", "reader"), savers())


@every_pair
def test_what_is_shared_stays_shared(th: Any, by: Any, reader: Any) -> None:
    x = th.arange(6.0).reshape(2, 3)
    items = [1]
    tree = {"x": x, "row": x[1], "t": x.t(), "p": th.nn.Parameter(x), "a": items, "b": items}
    data = written(tree, by)
    assert len([n for n in zipfile.ZipFile(io.BytesIO(data)).namelist() if "/data/" in n]) == 1
    found = reader(io.BytesIO(data))
    found["x"][1, 2] = 50
    assert found["row"][2] == found["t"][2, 1] == found["p"][1, 2] == 50
    assert found["a"] is found["b"]


@every_pair
def test_states_and_attributes(th: Any, by: Any, reader: Any) -> None:
    model = th.nn.Sequential(th.nn.Linear(2, 3), th.nn.BatchNorm1d(3))
    optimizer = th.optim.Adam(model.parameters())
    model(th.ones(4, 2)).sum().backward()
    optimizer.step()
    x = th.ones(2)
    x.note = "mine"
    p = th.nn.Parameter(th.ones(2))
    p.note = ["too"]
    tree = {"model": model.state_dict(), "optimizer": optimizer.state_dict(), "x": x, "p": p}
    found = reader(io.BytesIO(written(tree, by)))
    assert shown(found) == shown(tree)
    assert found["model"]._metadata == tree["model"]._metadata
    assert found["x"].note == "mine" and found["p"].note == ["too"]


@needs_torch
def test_conjugates_are_resolved() -> None:
    x = torch.tensor([1 + 2j])
    assert read(written(x.conj(), torch.save)).tolist() == [1 - 2j]
    assert read(written(x.conj().imag, torch.save)).tolist() == [-2.0]


def test_other_views_of_the_same_memory() -> None:
    z = np.array([1 + 2j, 3 + 4j])
    both = [compat.from_numpy(z), compat.from_numpy(z.real)]
    for reader in (load, torch.load if torch else load):
        found = reader(io.BytesIO(written(both)))
        found[0].numpy().real[0] = 9
        assert found[1].tolist() == [9, 3] and found[0].tolist() == [9 + 2j, 3 + 4j]


def test_writes_are_counted_together() -> None:
    x = compat.arange(2.0)
    a, b = read(written([x, x.view(2, 1)]))
    a.requires_grad_()
    y = a * a
    b[0] = 1
    with pytest.raises(RuntimeError, match="inplace operation"):
        y.sum().backward()


def test_cycles() -> None:
    x: list[Any] = [1]
    x.append({"x": x})
    found = read(written(x))
    assert found[1]["x"] is found


@pytest.mark.parametrize("mmap", [False, True])
def test_paths_and_maps(tmp_path: Path, mmap: bool) -> None:
    path = tmp_path / "x.pt"
    tree = {"a": compat.arange(5), "b": compat.ones(3).t(), "none": compat.zeros(0)}
    save(tree, path)
    found = load(path, mmap=mmap)
    assert shown(found) == shown(tree)
    found["a"][0] = 9  # does not reach the file
    assert shown(load(str(path))) == shown(tree)
    if torch:
        assert shown(torch.load(path, mmap=mmap)) == shown(tree)
    with pytest.raises(ValueError, match="mmap"), open(path, "rb") as file:
        load(file, mmap=True)


def test_storages_are_aligned() -> None:
    data = written([compat.ones(n) for n in (1, 3, 5)])
    for info in zipfile.ZipFile(io.BytesIO(data)).infolist():
        start = info.header_offset + 26
        name, extra = struct.unpack("<HH", data[start : start + 4])
        assert (start + 4 + name + extra) % 64 == 0


@pytest.mark.parametrize("where", ["cpu", compat.device("cpu"), {"cpu": "cpu"}, lambda s, at: s])
def test_map_location(where: Any) -> None:
    assert read(written(compat.ones(2)), map_location=where).tolist() == [1, 1]


def edited(data: bytes, name: str, change: Any) -> bytes:
    """A checkpoint with one of its files changed."""
    out = io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(data)) as old, zipfile.ZipFile(out, "w") as new:
        for info in old.infolist():
            content = old.read(info)
            new.writestr(
                info.filename, change(content) if info.filename.endswith(name) else content
            )
    return out.getvalue()


def test_gpu_tensors_without_a_gpu() -> None:
    data = edited(
        written(compat.ones(2)),
        "data.pkl",
        lambda p: p.replace(b"X\x03\0\0\0cpu", b"X\x06\0\0\0cuda:0"),
    )
    with pytest.raises(CheckpointError, match="map_location='cpu'"):
        read(data)
    for where in ("cpu", {"cuda:0": "cpu"}):
        assert read(data, map_location=where).tolist() == [1, 1]


# ---------------------------------------------------------------- what is refused

Pair = collections.namedtuple("Pair", "x")
NOT_DATA: list[tuple[Any, str]] = [
    (compat.nn.Linear(1, 1), "state_dict"),
    (np.ma.masked_array([1.0]), "np.asarray"),
    (np.array([1, "a"], object), "dtype object"),
    (np.datetime64("2020-01-01"), "tolist"),
    (np.zeros(2, [("a", "f4")]), "tolist"),
    (object(), "object is not data"),
    (len, "is not data"),
    (Pair(1), "Pair is not data"),
    ({compat.ones(1): 1}, "key"),
]


@pytest.mark.parametrize(("x", "words"), NOT_DATA, ids=lambda x: type(x).__name__)
def test_other_objects_are_not_written(tmp_path: Path, x: Any, words: str) -> None:
    path = tmp_path / "kept"
    path.write_text("kept")
    with pytest.raises(TypeError, match=words):
        save([x], path)
    assert path.read_text() == "kept"


def checkpoint(code: bytes) -> bytes:
    """A file with this pickle."""
    return edited(written(compat.arange(4.0)), "data.pkl", lambda _: code)


class Evil:
    """Its pickle calls a function."""

    def __init__(self, *call: Any) -> None:
        self.call = call

    def __reduce__(self) -> Any:
        return self.call


CALLS = [
    (os.mkdir, ("evil",)),
    (exec, ("open('evil', 'w')",)),
    (eval, ("open('evil', 'w')",)),
    (getattr, (os, "mkdir")),
    (Path, ("evil",)),
    (np.memmap, ("evil", "uint8", "w+", 0, 4)),
]


@pytest.mark.parametrize("protocol", range(6))
@pytest.mark.parametrize("number", range(len(CALLS)))
def test_pickles_run_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, number: int, protocol: int
) -> None:
    monkeypatch.chdir(tmp_path)
    function, args = CALLS[number]
    try:
        code = pickle.dumps([Evil(function, args)], protocol)
    except TypeError:  # modules cannot be pickled
        code = f"cbuiltins\ngetattr\n(cos\nsystem\n{pickle.dumps('x', 0).decode()}tR.".encode()
    for weights_only in (True, False):
        with pytest.raises(CheckpointError, match=r"torch\.load"):
            read(checkpoint(code), weights_only=weights_only)
    assert list(tmp_path.iterdir()) == []


REF = b"(X\x07\0\0\0storagectorch\nFloatStorage\nX\x01\0\0\x000X\x03\0\0\0cpuK\x04tQ"
V2 = b"ctorch._utils\n_rebuild_tensor_v2\n"


def tensor_code(ref: bytes, offset: int, size: bytes, stride: bytes) -> bytes:
    place = b"J" + struct.pack("<i", offset) + size + stride
    return b"\x80\x02" + V2 + b"(" + ref + place + b"\x89}tR."


def edited_bool(size: bytes, stride: bytes) -> bytes:
    """Booleans whose bytes are those of 0, 1, 2, 3 as floats."""
    storage = REF.replace(b"Float", b"Bool").replace(b"K\x04", b"K\x10")
    return tensor_code(storage, 4, size, stride)


def array_code(shape: tuple[int, ...], state: tuple[Any, ...] | None = None) -> bytes:
    """Three NumPy's numbers, said to have this shape and their dtype this state."""
    code = pickletools.optimize(pickle.dumps(np.arange(3.0), 2))
    code = code.replace(b"(K\x01K\x03\x85", b"(K\x01(" + pickled_parts(shape) + b"t")
    usual = b"K\x03" + pickled_parts(("<", None, None, None, -1, -1, 0))
    return code if state is None else code.replace(usual, pickled_parts(state))


def pickled_parts(items: tuple[Any, ...]) -> bytes:
    """What pickles push for these, one after another."""
    return b"".join(pickletools.optimize(pickle.dumps(x, 2))[2:-1] for x in items)


BAD_ARRAYS: dict[str, tuple[Any, ...]] = {
    "too many": ((4,),),
    "too few": ((2,),),
    "a negative size": ((-1, -3),),
    "floats": ((3.0,),),
    "an odd order": ((3,), (3, "x", None, None, None, -1, -1, 0)),
    "little state": ((3,), (3, "<")),
}

MALFORMED: dict[str, bytes] = {
    "out of bounds": tensor_code(REF, 1, b"(K\x04t", b"(K\x01t"),
    "far out of bounds": tensor_code(REF, 2**30, b"(K\x01t", b"(K\x01t"),
    "negative offset": tensor_code(REF, -1, b"(K\x01t", b"(K\x01t"),
    "negative size": tensor_code(REF, 0, b"(J\xff\xff\xff\xfft", b"(K\x01t"),
    "negative stride": tensor_code(REF, 3, b"(K\x02t", b"(J\xff\xff\xff\xfft"),
    "stride": tensor_code(REF, 0, b"(K\x02t", b"(K\x04t"),
    "axes": tensor_code(REF, 0, b"(K\x02K\x01t", b"(K\x01t"),
    "storage too long": tensor_code(REF.replace(b"K\x04", b"K\x05"), 0, b"(t", b"(t"),
    "no storage": tensor_code(REF.replace(b"\x000X", b"\x007X"), 0, b"(t", b"(t"),
    "no reference": tensor_code(b"K\x01", 0, b"(t", b"(t"),
    "function as value": b"\x80\x02]" + V2 + b"a.",
    "storage as value": b"\x80\x02]" + REF + b"a.",
    "nothing": b"",
    "no end": b"\x80\x02]",
    "too much": b"\x80\x02]].",
    "empty stack": b"\x80\x02a.",
    "no mark": b"\x80\x02]e.",
    "no memo": b"\x80\x02h\x05.",
    "odd items": b"\x80\x02}(K\x01u.",
    "append to a dict": b"\x80\x02}K\x01a.",
    "list as key": b"\x80\x02}]K\x01s.",
    "call of a number": b"\x80\x02K\x01)R.",
    "attribute of a method": b"\x80\x02ccollections\nOrderedDict\n)R}X\x05\0\0\0itemsK\x01sb.",
    "attribute of a tensor": b"\x80\x02ctorch._tensor\n_rebuild_from_type_v2\n("
    + V2
    + b"ctorch\nTensor\n("
    + REF
    + b"K\0))\x89}t}X\x06\0\0\0_arrayK\x01stR.",
    "boolean": edited_bool(b"(K\x04t", b"(K\x01t"),
    "endless conjugate": tensor_code(
        REF, 0, b"(" + b"K\x02" * 60 + b"t", b"(" + b"K\0" * 60 + b"t"
    ).replace(b"\x89}t", b"\x89}}X\x04\0\0\0conj\x88st"),
    **{f"array of {name}": array_code(*args) for name, args in BAD_ARRAYS.items()},
    "array of objects": pickle.dumps(np.array([1], object), 2),
    "array of dates": pickle.dumps(np.zeros(1, "M8[D]"), 2),
    "number of too few bytes": pickle.dumps(np.float64(1), 2).replace(b"f8", b"f4"),
    "matrix": pickle.dumps(np.ones(2), 2).replace(b"numpy\nndarray", b"torch\nTensor"),
    "slice of lists": pickle.dumps(slice([1], [2]), 2),
    "range of strings": b"\x80\x02c__builtin__\nxrange\nX\x01\0\0\0a\x85R.",
    "bytearray of a number": b"\x80\x02c__builtin__\nbytearray\nJ\xff\xff\xff\x7f\x85R.",
    "dtype of a list": b"\x80\x02cnumpy\ndtype\n]\x85R.",
    "counter of a list": b"\x80\x02ccollections\nCounter\n]\x85R.",
    "unknown dtype": b"\x80\x02ctorch\nfloat8_e5m2\n.",
    "deep key": b"\x80\x02}" + b")" + b"\x85" * 3 + b"K\x01s.",
}


@pytest.mark.parametrize("name", MALFORMED)
def test_malformed_pickles(name: str) -> None:
    assert read(checkpoint(tensor_code(REF, 0, b"(K\x04t", b"(K\x01t"))).tolist() == [0, 1, 2, 3]
    with pytest.raises(CheckpointError, match=r"torch\.load"):
        read(checkpoint(MALFORMED[name]))


def test_arrays_are_made_by_checked_functions() -> None:
    assert read(checkpoint(array_code((3,)))).tolist() == [0, 1, 2]
    assert read(checkpoint(array_code((1, 3)))).tolist() == [[0, 1, 2]]
    old = pickle.dumps([np.ones(2), np.int8(3)], 2).replace(b"numpy._core", b"numpy.core")
    assert shown(read(checkpoint(old))) == shown([np.ones(2), np.int8(3)])
    x = np.ones(2)
    a, b = read(written([x, x]))
    assert a is b
    assert a.flags.writeable
    true = pickle.dumps(np.array([True]), 2)
    with pytest.raises(CheckpointError, match="neither 0 nor 1"):
        read(checkpoint(true.replace(b"X\1\0\0\0\1", b"X\1\0\0\0\2")))


def test_endless_booleans_are_read_at_once() -> None:
    code = edited_bool(b"(" + b"K\x02" * 60 + b"t", b"(" + b"K\0" * 60 + b"t")
    assert read(checkpoint(code)).shape == (2,) * 60


def test_the_message_says_what_and_what_to_do() -> None:
    code = pickle.dumps(collections.deque("a"), 2)
    with pytest.raises(CheckpointError, match=r"collections.deque.*not data.*state_dict\(\)"):
        read(checkpoint(code))
    with pytest.raises(RuntimeError, match="run code"):
        read(checkpoint(code), pickle_module=pickle)
    with pytest.raises(FileNotFoundError):
        load("/no/such/file")


def test_old_files_and_other_orders() -> None:
    with pytest.raises(CheckpointError, match=r"before 1\.6"):
        read(pickle.dumps([1]))
    other = {"little": b"big", "big": b"little"}[sys.byteorder]
    with pytest.raises(CheckpointError, match="order of bytes"):
        read(edited(written(1), "byteorder", lambda _: other))


EXAMPLE = {
    "x": compat.arange(6.0).reshape(2, 3),
    "y": [compat.ones(2, dtype=compat.dtypes.bool), "z", 1.5],
}


def damage(draw: Any, data: bytes) -> bytes:
    """Cut, or with some bytes changed, or with a part left out."""
    kind = draw(st.sampled_from(["cut", "change", "remove"]))
    at = draw(st.integers(0, len(data) - 1))
    if kind == "cut":
        return data[:at]
    if kind == "remove":
        return data[:at] + data[at + draw(st.integers(1, 9)) :]
    out = bytearray(data)
    for _ in range(draw(st.integers(1, 3))):
        out[draw(st.integers(0, len(data) - 1))] = draw(st.integers(0, 255))
    return bytes(out)


@given(data=st.data())
def test_damaged_files_raise_one_error(data: st.DataObject) -> None:
    for _ in range(20):
        with contextlib.suppress(CheckpointError):
            read(damage(data.draw, written(EXAMPLE)))


@given(data=st.data())
def test_damaged_pickles_raise_one_error(data: st.DataObject) -> None:
    for _ in range(20):
        with contextlib.suppress(CheckpointError):
            read(edited(written(EXAMPLE), "data.pkl", lambda p: damage(data.draw, p)))


def test_a_changed_number_is_noticed() -> None:
    data = written(compat.full((4,), 7.0))
    with pytest.raises(CheckpointError, match="CRC"):
        read(data.replace(np.full(4, 7.0, np.float32).tobytes(), bytes(16)))


# ---------------------------------------------------------------- safetensors


@given(tree=st.dictionaries(st.text(max_size=3), tensors(), max_size=4))
def test_safetensors_round_trip(tmp_path_factory: pytest.TempPathFactory, tree: Any) -> None:
    path = tmp_path_factory.mktemp("s") / "x"
    kept = {k: x for k, x in tree.items() if x.dtype is not compat.dtypes.complex128}
    save_file(kept, path, {"by": "us"})
    found = load_file(path)
    assert found.keys() == kept.keys()
    for name, x in found.items():
        same = kept[name].detach().contiguous()
        assert x.dtype is same.dtype and x.shape == same.shape
        assert x.tolist() == same.tolist()
        x[...] = 0  # memory of its own


def layout(data: bytes) -> tuple[dict[str, Any], bytes]:
    (n,) = struct.unpack("<Q", data[:8])
    return json.loads(data[8 : 8 + n]), data[8 + n :]


def test_the_layout_is_that_of_the_format(tmp_path: Path) -> None:
    x = {"b": compat.tensor([True]), "a": compat.tensor([[1.0, 2.0]])}
    save_file(x, tmp_path / "x", {"k": "v"})
    data = (tmp_path / "x").read_bytes()
    assert layout(data) == (
        {
            "__metadata__": {"k": "v"},
            "a": {"dtype": "F32", "shape": [1, 2], "data_offsets": [0, 8]},
            "b": {"dtype": "BOOL", "shape": [1], "data_offsets": [8, 9]},
        },
        np.array([1, 2], "<f4").tobytes() + b"\1",
    )
    assert struct.unpack("<Q", data[:8])[0] % 8 == 0


def entry(start: Any = 0, end: Any = 4, shape: Any = (1,), dtype: Any = "F32") -> Any:
    return {"dtype": dtype, "shape": list(shape), "data_offsets": [start, end]}


BAD_HEADERS: dict[str, Any] = {
    "out of bounds": {"a": entry(0, 8, (2,))},
    "negative": {"a": entry(-4, 0)},
    "backwards": {"a": entry(4, 0)},
    "overlap": {"a": entry(), "b": entry()},
    "gap at the end": {"a": entry(0, 0, (0,))},
    "gap at the start": {"a": entry(1, 4, (3,), "U8")},
    "size": {"a": entry(shape=(2,))},
    "negative shape": {"a": entry(shape=(-1, -1))},
    "huge shape": {"a": entry(0, 0, (2**62, 2**62, 0)), "b": entry()},
    "shape of floats": {"a": entry(shape=(1.0,))},
    "many axes": {"a": entry(shape=[1] * 65)},
    "offset true": {"a": entry(False, 4)},
    "dtype": {"a": entry(dtype="F8_E5M2")},
    "dtype of another type": {"a": entry(dtype=[])},
    "more keys": {"a": {**entry(), "more": 1}},
    "no entry": {"a": 1},
    "metadata": {"a": entry(), "__metadata__": {"a": 1}},
    "list": [],
}


def file_of(header: Any, data: bytes = bytes(4)) -> bytes:
    text = header if isinstance(header, bytes) else json.dumps(header).encode()
    return struct.pack("<Q", len(text)) + text + data


BAD_FILES: dict[str, bytes] = {
    **{name: file_of(header) for name, header in BAD_HEADERS.items()},
    "empty": b"",
    "header too long": struct.pack("<Q", 2**63) + b"{}",
    "no JSON": file_of(b"{"),
    "no UTF-8": file_of(b"\xff"),
    "deep": file_of(b"[" * 100_000),
    "twice": file_of(b'{"a":1,"a":1}'),
    "boolean": file_of({"a": entry(dtype="BOOL", shape=(4,))}, b"\0\1\2\0"),
}


@pytest.mark.parametrize("name", BAD_FILES)
def test_malformed_safetensors(tmp_path: Path, name: str) -> None:
    path = tmp_path / "x"
    path.write_bytes(file_of({"a": entry()}))
    assert load_file(path)["a"].tolist() == [0.0]
    path.write_bytes(BAD_FILES[name])
    with pytest.raises(CheckpointError, match="load_file"):
        load_file(path)


@given(data=st.data())
def test_damaged_safetensors(tmp_path_factory: pytest.TempPathFactory, data: st.DataObject) -> None:
    path = tmp_path_factory.mktemp("d") / "x"
    save_file({"x": compat.ones(2, 3), "y": compat.ones(2, dtype=compat.dtypes.bool)}, path)
    good = path.read_bytes()
    for _ in range(20):
        path.write_bytes(damage(data.draw, good))
        with contextlib.suppress(CheckpointError):
            load_file(path)


def test_what_safetensors_do_not_hold(tmp_path: Path) -> None:
    path = tmp_path / "x"
    for bad in ({"a": 1}, {1: compat.ones(1)}, {"__metadata__": compat.ones(1)}):
        with pytest.raises(TypeError, match="names to tensors"):
            save_file(bad, path)  # type: ignore[arg-type]
    with pytest.raises(TypeError, match="complex128"):
        save_file({"a": compat.ones(1, dtype=compat.dtypes.complex128)}, path)
    with pytest.raises(TypeError, match="metadata"):
        save_file({}, path, {"a": 1})  # type: ignore[dict-item]
    assert not path.exists()
