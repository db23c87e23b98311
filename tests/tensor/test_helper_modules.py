"""Small modules that packages import beside tensors, against PyTorch's."""

from __future__ import annotations

import importlib
import threading
from collections import namedtuple
from typing import Any

import pytest
from agreement_of_worlds import WORLDS

import compat

torch = pytest.importorskip("torch")
worlds = pytest.mark.parametrize("th", WORLDS, ids=["compat", "torch"])


def of(th: Any, name: str) -> Any:
    return importlib.import_module(f"{th.__name__}.{name}")


# ---------------------------------------------------------------- futures


@worlds
def test_values_are_waited_for(th: Any) -> None:
    futures = of(th, "futures")
    future = futures.Future()
    seen: list[Any] = []
    doubled = future.then(lambda f: 2 * f.value())
    future.add_done_callback(lambda f: seen.append(f.value()))
    thread = threading.Timer(0.02, future.set_result, [3])
    thread.start()
    assert (future.wait(), doubled.wait()) == (3, 6)
    thread.join()
    assert future.done()
    assert seen == [3]
    assert future.then(lambda f: "now").value() == "now"
    with pytest.raises(RuntimeError, match="mark a completed Future as complete again"):
        future.set_result(4)


@worlds
def test_exceptions_are_raised_where_values_are_read(th: Any) -> None:
    future = of(th, "futures").Future()
    following = future.then(lambda f: f.wait())
    future.set_exception(ValueError("lost"))
    for f in (future, following):
        with pytest.raises((ValueError, RuntimeError), match="lost"):
            f.wait()
    with pytest.raises(AssertionError, match="not an Exception"):
        of(th, "futures").Future().set_exception("lost")
    with pytest.raises(RuntimeError):
        of(th, "futures").Future().value()


@worlds
def test_several_futures(th: Any) -> None:
    futures = of(th, "futures")
    parts = [futures.Future() for _ in range(3)]
    together = futures.collect_all(parts)
    for i in (2, 0, 1):
        assert not together.done()
        parts[i].set_result(i)
    assert [f.value() for f in together.wait()] == futures.wait_all(parts) == [0, 1, 2]
    assert futures.wait_all([]) == []


# ---------------------------------------------------------------- overrides


class Metres:
    def __init__(self, length: float) -> None:
        self.length = length

    @classmethod
    def __torch_function__(cls, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        assert func.__name__ == "add"
        return cls.__name__, types, func(*(x.length for x in args), **(kwargs or {}))


class Kilometres(Metres):
    pass


class Silent:
    @classmethod
    def __torch_function__(cls, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        return NotImplemented


@worlds
def test_functions_that_ask_for_overrides(th: Any) -> None:
    overrides = of(th, "overrides")

    @overrides.wrap_torch_function(lambda x, y, **_: (x, y))
    def add(x: Any, y: Any, times: int = 1) -> Any:
        return times * (x + y)

    assert add(1, 2, times=2) == 6
    assert add(Metres(1), Kilometres(2), times=3) == ("Kilometres", (Kilometres, Metres), 9)
    assert add(Metres(1), Metres(2)) == ("Metres", (Metres,), 3)
    with pytest.raises(TypeError, match=r"no implementation found for '.*add' on types that"):
        add(Silent(), 2)


@worlds
def test_what_counts_as_a_tensor(th: Any) -> None:
    overrides = of(th, "overrides")
    found = [
        overrides.is_tensor_like(x)
        for x in (th.ones(2), th.nn.Parameter(th.ones(2)), Metres(1), [1.0], 2)
    ]
    assert found == [True, True, True, False, False]
    assert not overrides.has_torch_function((th.ones(2), 1))
    assert overrides.has_torch_function_variadic(1, Metres(1))
    assert overrides.has_torch_function_unary(Metres(1))


def test_modes_say_that_they_are_not_entered() -> None:
    mode = of(compat, "overrides").TorchFunctionMode()
    with pytest.raises(NotImplementedError, match="TorchFunctionMode"), mode:
        pass


# ---------------------------------------------------------------- the others


def test_groups_of_tensors() -> None:
    shown = []
    for th in WORLDS:
        utils = of(th, "utils._foreach_utils")
        xs = [th.ones(1), th.ones(2, dtype=th.float64), th.zeros(1)]
        for with_indices in (False, True):
            groups = utils._group_tensors_by_device_and_dtype(
                [xs, [x * 2 for x in xs], [None] * 3], with_indices
            )
            shown.append(
                [
                    (
                        str(device),
                        str(dtype),
                        [[y if y is None else y.tolist() for y in x] for x in lists],
                        i,
                    )
                    for (device, dtype), (lists, i) in groups.items()
                ]
            )
        assert utils._has_foreach_support(xs, th.device("cpu"))
        assert not utils._device_has_foreach_support(th.device("meta"))
    assert sorted(shown[0]) == sorted(shown[2])
    assert sorted(shown[1]) == sorted(shown[3])


Pair = namedtuple("Pair", "a b")


def test_parts_for_devices() -> None:
    def run(th: Any, what: str) -> Any:
        module = of(th, "nn.parallel.scatter_gather")
        return {
            "containers": lambda: module.scatter([1, {"a": 2}, Pair(3, ())], [0, 1]),
            "kwargs": lambda: module.scatter_kwargs((1,), {"a": 2}, [0, 1]),
            "only kwargs": lambda: module.scatter_kwargs((), {"a": 2}, [0, 1]),
            "gathered": lambda: module.gather([(None, None), (None, None)], 0),
            "keys": lambda: module.gather([{"a": None}, {}], 0),
            "to the CPU": lambda: module.scatter(th.ones(2), ["cpu"]),
            "from the CPU": lambda: module.gather([th.ones(2)], "cpu"),
        }[what]()

    for what in ("containers", "kwargs", "only kwargs", "gathered"):
        assert run(compat, what) == run(torch, what)
    for what in ("keys", "to the CPU", "from the CPU"):
        with pytest.raises((ValueError, AssertionError)) as theirs:
            run(torch, what)
        with pytest.raises(theirs.type) as ours:
            run(compat, what)
        assert str(ours.value) == str(theirs.value)


@worlds
def test_steps_that_are_set_later_run_hooks(th: Any) -> None:
    class Late(th.optim.Optimizer):  # type: ignore[misc, name-defined]
        def __init__(self, params: Any) -> None:
            super().__init__(params, {})

    Late.step = lambda self, closure=None: calls.append("step")
    calls: list[str] = []
    optimizer = Late([th.nn.Parameter(th.ones(1))])
    optimizer._patch_step_function()
    optimizer._patch_step_function()
    optimizer.register_step_pre_hook(lambda *_: calls.append("before"))
    optimizer.step()
    assert calls == ["before", "step"]


def test_words_about_this_machine() -> None:
    assert "NumPy" in compat.__config__.show()
    assert str(compat.get_num_threads()) in compat.__config__.parallel_info()
    assert compat.onnx.is_in_onnx_export() is False
    assert compat.distributed.ReduceOp.SUM is not compat.distributed.ReduceOp.MAX


@worlds
@pytest.mark.filterwarnings("ignore:.*is deprecated:DeprecationWarning")
def test_optimizers_of_process_groups_need_one(th: Any) -> None:
    make = of(th, "distributed.optim").ZeroRedundancyOptimizer
    with pytest.raises(ValueError, match="Default process group has not been initialized"):
        make([th.nn.Parameter(th.ones(1))], th.optim.SGD, lr=0.1)


# ---------------------------------------------------------------- layouts

MAKERS = (
    "full((2,), 1.0, {})",
    "eye(2, {})",
    "ones(2, {})",
    "rand(2, {})",
    "randint(3, (2,), {})",
    "randperm(3, {})",
    "arange(3, {})",
    "linspace(0, 1, 3, {})",
    "ones_like(torch.ones(2), {})",
    "rand_like(torch.ones(2), {})",
    "tril_indices(2, 2, {})",
    "hann_window(2, {})",
    "ones(2).new_ones(2, {})",
    "normal(0.0, 1.0, (2,), {})",
)


@pytest.mark.parametrize("maker", MAKERS)
def test_layouts_of_sparse_tensors_are_refused(maker: str) -> None:
    for th in WORLDS:

        def made(layout: str, th: Any = th) -> Any:
            return eval("torch." + maker.format(f"layout={layout}"), {"torch": th})

        assert made("torch.strided").layout is th.strided is made("None").layout
        assert str(th.sparse_coo) == "torch.sparse_coo"
        with pytest.raises(RuntimeError, match=r"is not implemented for|Could not run"):
            made("torch.sparse_coo")
        with pytest.raises(RuntimeError):
            made("torch.sparse_csr")
        with pytest.raises(TypeError, match="layout"):
            made("'strided'")


@pytest.mark.parametrize("name", ["Graph", "Tracer", "symbolic_trace"])
def test_graphs_of_modules_are_not_recorded(name: str) -> None:
    with pytest.raises(NotImplementedError, match=rf"torch\.fx\.{name}: .*make_jaxpr"):
        getattr(compat.fx, name)(compat.nn.ReLU())


@worlds
def test_marks_for_a_profiler_that_is_not_there(th: Any) -> None:
    nvtx = of(th, "cuda.nvtx")
    for mark in (nvtx.range_push, nvtx.mark):
        with pytest.raises(RuntimeError, match="NVTX functions not installed"):
            mark("here")
