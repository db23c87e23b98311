"""What published code uses besides tensors and layers, against PyTorch.

Switches, markers, mixed precision, `torch.testing`, trees, storages and old forms of calls: what
third-party packages need to run unmodified.
"""

from __future__ import annotations

import importlib
import inspect
import io
from collections import OrderedDict, namedtuple
from collections.abc import Callable
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
import pytest
from agreement_of_worlds import WORLDS, same

import compat

torch = pytest.importorskip("torch")


# ---------------------------------------------------------------- modules and their names

# module -> names that packages import from it
MODULES = {
    "__config__": "show parallel_info",
    "autograd.profiler": "EventList emit_nvtx profile record_function",
    "_C": "_get_tracing_state _log_api_usage_once _are_functorch_transforms_active Graph Value "
    "_TensorMeta DisableTorchFunctionSubclass",
    "_subclasses.fake_tensor": "FakeTensor is_fake",
    "_tensor_str": "PRINT_OPTS _tensor_str",
    "_vmap_internals": "_vmap",
    "_utils": "_flatten_dense_tensors _unflatten_dense_tensors",
    "accelerator": "current_accelerator current_device_index device_count is_available synchronize",
    "amp": "GradScaler autocast custom_bwd custom_fwd",
    "amp.autocast_mode": "autocast custom_fwd",
    "amp.grad_scaler": "GradScaler",
    "autograd.functional": "_as_tuple _construct_standard_basis_for _grad_postprocess "
    "_tuple_postprocess",
    "autograd.anomaly_mode": "detect_anomaly set_detect_anomaly",
    "autograd.grad_mode": "enable_grad inference_mode no_grad set_grad_enabled "
    "set_multithreading_enabled",
    "backends.cuda": "matmul sdp_kernel flash_sdp_enabled",
    "backends.cudnn": "benchmark deterministic enabled is_available version",
    "backends.mps": "is_available is_built",
    "_dynamo": "list_backends reset mark_static_address OptimizedModule",
    "_dynamo.eval_frame": "OptimizedModule",
    "_dynamo.utils": "is_compile_supported",
    "compiler": "list_backends disable is_compiling allow_in_graph",
    "cuda.amp": "GradScaler autocast custom_fwd custom_bwd",
    "distributed": "is_available is_initialized get_rank all_reduce ProcessGroup ReduceOp",
    "cuda.nvtx": "mark range range_pop range_push",
    "cuda": "ByteTensor FloatTensor LongTensor Event Stream device get_rng_state_all set_rng_state_all",
    "distributed.algorithms.join": "Join",
    "distributed.autograd": "context is_available",
    "distributed.elastic.multiprocessing.errors": "record",
    "distributed.rpc": "is_available",
    "distributed.device_mesh": "DeviceMesh init_device_mesh",
    "distributed._composable.fsdp": "FSDPModule",
    "distributed._tensor": "DTensor",
    "distributed._tensor.experimental": "implicit_replication",
    "distributed.fsdp": "FSDPModule FullyShardedDataParallel",
    "distributed.nn": "all_reduce",
    "distributed.tensor": "DTensor",
    "futures": "Future collect_all wait_all",
    "fx": "wrap Graph GraphModule Node Proxy Tracer symbolic_trace",
    "fx.graph_module": "GraphModule",
    "fx.interpreter": "Interpreter",
    "fx.node": "Node",
    "fx.proxy": "GraphAppendingTracer Proxy",
    "fx.experimental.proxy_tensor": "get_proxy_mode",
    "onnx": "is_in_onnx_export",
    "overrides": "is_tensor_like has_torch_function handle_torch_function TorchFunctionMode",
    "profiler": "ProfilerAction ProfilerActivity kineto_available tensorboard_trace_handler",
    "serialization": "MAP_LOCATION load save add_safe_globals safe_globals",
    "library": "custom_op register_autograd register_fake register_kernel register_vmap",
    "mps": "device_count empty_cache is_available",
    "mtia": "device_count is_available",
    "xpu": "device_count is_available",
    "return_types": "cummax kthvalue linalg_eigh max median sort topk",
    "hub": "download_url_to_file get_dir load_state_dict_from_url set_dir HASH_REGEX",
    "jit": "script ignore export unused is_scripting is_tracing Final ScriptModule annotate "
    "_script_if_tracing TracerWarning",
    "jit.annotations": "List Optional Tuple BroadcastingList2",
    "nn.attention": "SDPBackend sdpa_kernel",
    "nn.attention.flex_attention": "BlockMask and_masks create_block_mask create_mask flex_attention "
    "noop_mask or_masks",
    "nn.modules": "Linear Module Conv2d",
    "nn.modules.activation": "ReLU MultiheadAttention",
    "nn.modules.batchnorm": "_BatchNorm BatchNorm1d BatchNorm2d BatchNorm3d SyncBatchNorm",
    "nn.modules.container": "Sequential ModuleList",
    "nn.modules.conv": "_ConvNd Conv2d ConvTranspose2d",
    "nn.modules.dropout": "Dropout Dropout2d",
    "nn.modules.instancenorm": "_InstanceNorm InstanceNorm2d",
    "nn.modules.linear": "Linear Bilinear Identity",
    "nn.modules.loss": "_Loss _WeightedLoss MSELoss CrossEntropyLoss",
    "nn.modules.module": "Module _IncompatibleKeys",
    "nn.modules.normalization": "LayerNorm GroupNorm",
    "nn.modules.padding": "ConstantPad2d ReflectionPad1d",
    "nn.modules.pooling": "MaxPool2d AdaptiveAvgPool2d",
    "nn.modules.rnn": "RNNBase LSTM GRU RNNCell",
    "nn.modules.sparse": "Embedding EmbeddingBag",
    "nn.modules.transformer": "TransformerEncoderLayer Transformer _get_clones",
    "nn.modules.upsampling": "Upsample",
    "nn.modules.utils": "_pair _single _triple _quadruple _ntuple",
    "nn.parallel": "DataParallel DistributedDataParallel",
    "nn.parallel.scatter_gather": "gather scatter scatter_kwargs",
    "nn.parameter": "Parameter",
    "nn.utils.clip_grad": "clip_grad_norm_ clip_grad_value_ clip_grad_norm",
    "nn.utils.convert_parameters": "parameters_to_vector vector_to_parameters",
    "nn.utils.stateless": "functional_call _reparametrize_module",
    "optim.adadelta": "Adadelta",
    "optim.adagrad": "Adagrad",
    "optim.adam": "Adam",
    "optim.adamax": "Adamax",
    "optim.adamw": "AdamW",
    "optim.asgd": "ASGD",
    "optim.lbfgs": "LBFGS _cubic_interpolate _strong_wolfe",
    "optim.nadam": "NAdam",
    "optim.radam": "RAdam",
    "optim.rmsprop": "RMSprop",
    "optim.rprop": "Rprop",
    "optim.sgd": "SGD",
    "testing": "assert_close",
    "utils._foreach_utils": "_group_tensors_by_device_and_dtype _has_foreach_support",
    "utils._pytree": "tree_map tree_flatten tree_unflatten tree_leaves TreeSpec register_pytree_node "
    "LeafSpec SUPPORTED_NODES _get_node_type",
    "utils.benchmark": "Timer Measurement",
    "utils.checkpoint": "checkpoint get_device_states set_device_states",
    "utils.data._utils.collate": "default_collate np_str_obj_array_pattern",
    "utils.data.dataloader": "DataLoader default_collate _collate_fn_t _MultiProcessingDataLoaderIter",
    "utils.data.dataset": "Dataset IterableDataset TensorDataset Subset random_split",
    "utils.data.distributed": "DistributedSampler",
    "utils.data.sampler": "Sampler BatchSampler RandomSampler",
    "utils.flop_counter": "FlopCounterMode",
    "utils.model_zoo": "load_url",
    "version": "__version__ cuda hip",
}


@pytest.mark.parametrize("name", MODULES)
def test_modules_have_the_names_that_packages_import(name: str) -> None:
    exempt = ("Final", "ProcessGroup", "BroadcastingList2")
    ours, theirs = (importlib.import_module(f"{th.__name__}.{name}") for th in WORLDS)
    for each in MODULES[name].split():
        assert hasattr(theirs, each) and hasattr(ours, each), each
        a, b = getattr(ours, each), getattr(theirs, each)
        assert inspect.isclass(a) == inspect.isclass(b) or each in exempt, each


def test_layers_are_the_same_wherever_they_are_found() -> None:
    nn = compat.nn
    for path, name in (
        ("batchnorm", "BatchNorm2d"),
        ("conv", "Conv2d"),
        ("rnn", "LSTM"),
        ("sparse", "Embedding"),
        ("padding", "ConstantPad2d"),
        ("module", "Module"),
        ("flatten", "Flatten"),
    ):
        module = importlib.import_module(f"compat.nn.modules.{path}")
        assert getattr(module, name) is getattr(nn, name) is getattr(nn.modules, name)
    assert isinstance(nn.BatchNorm1d(2), nn.modules.batchnorm._BatchNorm)
    assert not isinstance(nn.InstanceNorm1d(2), nn.modules.batchnorm._BatchNorm)


def test_all_distributions_are_in_the_module_and_share_bases_with_others() -> None:
    """Pyro makes subclasses of all that are there, and registers divergences for its own base."""
    for th in WORLDS:
        d = th.distributions
        found = {n for n, c in vars(d).items() if inspect.isclass(c)}
        assert found >= {"Normal", "Gamma", "Wishart", "TransformedDistribution"}

        class Shared:
            pass

        class Mine(d.Distribution, Shared):  # type: ignore[misc, name-defined]
            arg_constraints: ClassVar[dict[str, Any]] = {}

        registry = d.kl._KL_REGISTRY
        try:
            d.register_kl(Mine, Shared)(lambda p, q: 5)
            assert d.kl_divergence(Mine(), Mine()) == 5
        finally:
            registry.pop((Mine, Shared), None)


@pytest.mark.parametrize("th", WORLDS, ids=["compat", "torch"])
def test_parameters_with_arguments_of_their_own(th: Any) -> None:
    """As geoopt's, which know the manifold that they are on."""

    class Known(th.nn.Parameter):  # type: ignore[misc, name-defined]
        def __new__(cls, data: Any, place: str, requires_grad: bool = True) -> Any:
            made = th.Tensor._make_subclass(cls, data, requires_grad)
            made.place = place
            return made

    p = Known(th.ones(2), place="sphere")
    assert (p.place, p.requires_grad, p.tolist()) == ("sphere", True, [1.0, 1.0])
    module = th.nn.Module()
    module.p = p
    assert [name for name, _ in module.named_parameters()] == ["p"]


def test_what_lightning_asks_for() -> None:
    def code(th: Any) -> Any:
        parse = th._C._nn._parse_to
        said = [parse("cpu"), parse(th.float64, True), parse(th.ones(1)), parse(device="cpu:0")]
        with th._C.DisableTorchFunctionSubclass():
            counter = th.utils.flop_counter.FlopCounterMode(display=False)
        file = io.BytesIO()
        th.save({"a": th.tensor([1.0, 2.0])}, file)
        file.seek(0)
        reader = th.PyTorchFileReader(file)
        records = [{"data.pkl", "data/0"} <= set(reader.get_all_records())]
        records += [reader.get_record("data/0"), reader.has_record("data/1")]
        for wrong in (lambda: reader.get_record("data/1"), lambda: th.PyTorchFileReader("no")):
            with pytest.raises(RuntimeError, match="failed"):
                wrong()
        made = isinstance(th.nn.Linear(1, 1), th.ScriptModule)
        return [[repr(x) for x in said], counter.get_total_flops(), records, made]

    importlib.import_module("torch.utils.flop_counter")
    importlib.import_module("compat.utils.flop_counter")
    same(code)
    with (
        pytest.raises(NotImplementedError, match="not counted"),
        compat.utils.flop_counter.FlopCounterMode(),
    ):
        pass
    compat.cuda.set_rng_state_all(compat.cuda.get_rng_state_all())
    assert not compat._dynamo.utils.is_compile_supported("cpu")


# ---------------------------------------------------------------- switches and markers


def _deterministic(th: Any) -> Any:
    seen = []
    for mode in (True, "warn", 2, "default", 7):
        try:
            (
                th.set_deterministic_debug_mode
                if mode is not True
                else th.use_deterministic_algorithms
            )(mode)
        except RuntimeError:
            seen.append("raises")
        seen.append(th.are_deterministic_algorithms_enabled())
        seen.append(th.is_deterministic_algorithms_warn_only_enabled())
        seen.append(th.get_deterministic_debug_mode())
    return seen


def _precision(th: Any) -> Any:
    before = th.get_float32_matmul_precision()
    th.set_float32_matmul_precision("high")
    after = th.get_float32_matmul_precision()
    th.set_float32_matmul_precision(before)
    return before, after


def _sdp(th: Any) -> Any:
    b, sdp = th.backends.cuda, th.nn.attention
    with sdp.sdpa_kernel([sdp.SDPBackend.MATH, sdp.SDPBackend.FLASH_ATTENTION]):
        x = th.ones(1, 2, 3)
        y = th.nn.functional.scaled_dot_product_attention(x, x, x)
    return y, b.flash_sdp_enabled(), [int(x) for x in (sdp.SDPBackend.MATH, sdp.SDPBackend.ERROR)]


def _scripted(th: Any) -> Any:
    class Net(th.nn.Module):
        sizes: th.jit.Final[int] = 2

        @th.jit.ignore
        def a(self) -> int:
            return 1

        @th.jit.unused
        def b(self) -> int:
            return 2

        def forward(self, x: Any) -> Any:
            return x * self.sizes

    net = Net()
    return net(th.ones(2)), net.a(), net.b(), th.jit.is_scripting(), th.jit.annotate(int, 3)


SWITCHES: list[Callable[[Any], Any]] = [
    _deterministic,
    _precision,
    _sdp,
    _scripted,
    lambda th: th.set_float32_matmul_precision("low"),
    lambda th: th.set_num_threads(0),
    lambda th: th.set_num_interop_threads(0),
    lambda th: (th.set_num_interop_threads(3), th.get_num_interop_threads()),
    lambda th: th._assert(th.tensor(1) == 2, "no"),
    lambda th: th._assert(True, "yes"),
    lambda th: th._assert_async(th.tensor(1.0)),
    lambda th: th._assert_async(th.tensor(False)),
    lambda th: th._assert_async(th.tensor(0), "why"),
    lambda th: th._check(False),
    lambda th: [str(th.device(kind)) for kind in ("mps", "xpu:1", "xla")],
    lambda th: th.device("cpu") == th.device("mps"),
    lambda th: th.device("nowhere"),
    lambda th: th.zeros(2).to("mps"),
    lambda th: th.torch is th,
    lambda th: isinstance(th.ones(2).shape[0], (th.SymInt, th.SymFloat, th.SymBool)),
    lambda th: th.serialization.DEFAULT_PROTOCOL,
    lambda th: th.distributed.get_rank(),
    lambda th: th.distributed.barrier(),
    lambda th: th.distributed.is_initialized(),
    lambda th: th.distributed.get_world_size(),
    lambda th: th.nn.parallel.DistributedDataParallel(th.nn.Linear(1, 1)),
    lambda th: th.fx.wrap(3),
    lambda th: th.compiler.is_compiling(),
    lambda th: th.compiler.disable(len)([1]),
    lambda th: (th.backends.mps.is_available(), th.version.hip),
    lambda th: th.utils.checkpoint.get_device_states(th.ones(2)),
    lambda th: th.nn.attention.sdpa_kernel(3).__enter__(),
    lambda th: th.cuda._initialized,
    lambda th: th.cuda.memory_allocated(),
    lambda th: th.hub.HASH_REGEX.search("resnet18-bfd8deac.pth").group(1),
]


@pytest.mark.parametrize("code", SWITCHES)
def test_switches(code: Callable[[Any], Any]) -> None:
    same(code)


# ---------------------------------------------------------------- torch.testing

CLOSE: list[tuple[Callable[[Any], Any], dict[str, Any]]] = [
    (lambda th: (th.tensor([1.0, 2.0]), th.tensor([1.0, 2.0 + 1e-6])), {}),
    (lambda th: (th.tensor([1.0, 2.0]), th.tensor([1.0, 2.1])), {}),
    (lambda th: (th.tensor([1.0, 2.0]), th.tensor([1.0, 2.1])), {"rtol": 0.1, "atol": 0.0}),
    (lambda th: (th.tensor([1.0]), th.tensor([1.0]).double()), {}),
    (lambda th: (th.tensor([1.0]), th.tensor([1.0]).double()), {"check_dtype": False}),
    (lambda th: (th.tensor([1, 2]), th.tensor([1, 3])), {}),
    (lambda th: (th.tensor([1.0]), th.tensor([[1.0]])), {}),
    (lambda th: (th.tensor([float("nan")]), th.tensor([float("nan")])), {}),
    (lambda th: (th.tensor([float("nan")]), th.tensor([float("nan")])), {"equal_nan": True}),
    (lambda th: ([th.ones(1), 2.0], [th.ones(1), 2.0]), {}),
    (lambda th: ([th.ones(1), 2.0], [th.ones(1), 3.0]), {}),
    (lambda th: ([th.ones(1)], [th.ones(1), 3.0]), {}),
    (lambda th: ({"a": th.ones(1)}, {"a": th.zeros(1)}), {}),
    (lambda th: ({"a": th.ones(1)}, {"b": th.ones(1)}), {}),
    (lambda th: (1.0, 1.0 + 1e-9), {}),
    (lambda th: (1, 2), {}),
    (lambda th: (None, None), {}),
    (lambda th: (None, 1), {}),
    (lambda th: ("a", "a"), {}),
    (lambda th: (th.ones(1), 1.0), {}),
    (lambda th: (th.ones(1), th.ones(1)), {"rtol": 0.1}),
    (lambda th: (th.ones(2, 2), th.ones(2, 2).t()), {"check_stride": True}),
    (lambda th: (th.ones(2, 3), th.ones(3, 2).t()), {"check_stride": True}),
    (lambda th: (th.tensor([1 + 1j]), th.tensor([1 + 1.1j])), {}),
    (lambda th: (th.tensor([True]), th.tensor([False])), {}),
    (lambda th: (th.tensor([1.0]).half(), th.tensor([1.0005]).half()), {}),
    (lambda th: (np.ones(2), np.ones(2)), {}),
]


@pytest.mark.parametrize(("pair", "options"), CLOSE)
def test_assert_close(pair: Callable[[Any], Any], options: dict[str, Any]) -> None:
    same(lambda th: th.testing.assert_close(*pair(th), **options))


def test_assert_close_says_what_is_not_close() -> None:
    messages = []
    for th in WORLDS:
        for msg in (None, "mine", lambda said: f"<{said}>"):
            with pytest.raises(AssertionError) as caught:
                pair = [{"a": [th.tensor(x)]} for x in ([1.0, 2.0], [1.0, 4.0])]
                th.testing.assert_close(*pair, msg=msg)
            messages.append(str(caught.value))
    assert messages[:3] == messages[3:]


@pytest.mark.filterwarnings("ignore:.*assert_allclose:FutureWarning")
def test_assert_allclose_is_wider_and_looks_at_no_dtype() -> None:
    def code(th: Any) -> Any:
        th.testing.assert_allclose(th.ones(2), [1, 1.00005])
        th.testing.assert_allclose(th.ones(2), th.ones(2, dtype=th.float64) + 9e-5)
        th.testing.assert_allclose(th.nan, th.nan)
        th.testing.assert_allclose(1.0, 2.0, rtol=1.0, atol=0.0)
        for found, wanted in (([1.0], [1.0005]), (1, 2)):
            with pytest.raises(AssertionError, match=r"^mine$"):
                th.testing.assert_allclose(found, wanted, msg="mine")
        with pytest.raises(AssertionError):
            th.testing.assert_allclose(th.tensor([th.nan]), [th.nan], equal_nan=False)
        with pytest.raises(ValueError, match=r"both|either"):
            th.testing.assert_allclose(1.0, 1.0, rtol=1.0)
        return []

    same(code)


def test_named_members_of_all_modules() -> None:
    def code(th: Any) -> Any:
        inner = th.nn.BatchNorm1d(1)
        module = th.nn.Sequential(inner, inner)
        names = [
            [name for name, _ in module._named_members(lambda m: m._buffers.items(), **kwargs)]
            for kwargs in ({}, {"prefix": "a", "recurse": False}, {"remove_duplicate": False})
        ]
        assert names[0] == ["0.running_mean", "0.running_var", "0.num_batches_tracked"]
        assert names[1] == [] and names[2][3:] == [f"1{name[1:]}" for name in names[0]]
        return []

    same(code)


@pytest.mark.filterwarnings("ignore:.*torch.jit.trace:DeprecationWarning")
def test_what_is_traced_runs_once_and_computes_the_same() -> None:
    def code(th: Any) -> Any:
        layer = th.nn.Linear(2, 1)
        th.nn.init.ones_(layer.weight), th.nn.init.zeros_(layer.bias)
        f = th.jit.trace(lambda x, y: x * y + 1, (th.ones(2), th.ones(2)))
        g = th.jit.trace(layer, th.ones(1, 2))
        h = th.jit.trace(
            lambda x, y: x - y, example_kwarg_inputs={"x": th.ones(2), "y": th.ones(2)}
        )
        with pytest.raises(RuntimeError):
            th.jit.trace(layer, th.ones(1, 3))
        with pytest.raises(RuntimeError, match="example_kwarg_inputs should be a dict"):
            th.jit.trace(layer)
        x = th.tensor([2.0, 3.0])
        return [f(x, x), g(x[None]), h(x=x, y=x)]

    same(code)


BRANCHES: list[Callable[[Any], Any]] = [
    lambda th: th.cond(th.tensor(True), lambda x: x + 1, lambda x: x - 1, (th.ones(2),)),
    lambda th: th.cond(False, lambda x, y: x + y, lambda x, y: x - y, (th.ones(2), th.ones(2))),
    lambda th: th.cond(th.tensor([0]), lambda x: x + 1, lambda x: x - 1, (th.ones(2),)),
]


@pytest.mark.parametrize("code", BRANCHES)
@pytest.mark.filterwarnings("ignore")
def test_branches_as_functions(code: Callable[[Any], Any]) -> None:
    same(code)


def test_gradients_of_branches() -> None:
    x = compat.tensor([2.0, 3.0], requires_grad=True)
    for flag, expected in ((True, [4.0, 6.0]), (False, [12.0, 27.0])):
        y = compat.cond(compat.tensor(flag), lambda x: x**2, lambda x: x**3, (x,))
        assert compat.autograd.grad(y.sum(), x)[0].tolist() == expected
    for given in ((compat.ones(2), abs, abs), (True, abs, 1), (True, abs, abs, 1)):
        with pytest.raises(RuntimeError, match="Expect"):
            compat.cond(*given)


def test_loops_as_functions() -> None:
    x = compat.tensor([2.0, 3.0], requires_grad=True)
    start = (compat.tensor(0), x)
    n, y = compat.while_loop(lambda i, y: i < 3, lambda i, y: (i + 1, y * x), start)
    assert n.item() == 3
    assert compat.autograd.grad(y.sum(), x)[0].tolist() == [32.0, 108.0]
    assert compat.while_loop(lambda i, y: False, lambda i, y: (i, y), start) == start
    for given in (
        (1, lambda i, y: (i, y), start),
        (lambda i, y: y < 3, lambda i, y: (i, y), start),
        (lambda i, y: i < 3, lambda i, y: (i, y), {}),
        *((lambda i, y: i < 3, f, start) for f in (lambda i, y: i, lambda i, y: (i, y.double()))),
    ):
        with pytest.raises(RuntimeError, match="Expect"):
            compat.while_loop(*given)


# ---------------------------------------------------------------- trees

Point = namedtuple("Point", "x y")
TREES: list[Any] = [
    1,
    [1, (2, {"b": 3, "a": 4})],
    OrderedDict(z=1, y=[2]),
    Point(1, (2, 3)),
    [],
    {},
    (None,),
    "ab",
]


@pytest.mark.parametrize("tree", TREES)
def test_trees(tree: Any) -> None:
    def code(th: Any) -> Any:
        t = importlib.import_module(f"{th.__name__}.utils._pytree")
        leaves, spec = t.tree_flatten(tree)
        back = t.tree_unflatten(leaves, spec)
        doubled = t.tree_map(lambda x: x, tree)
        only = t.tree_map_only(int, lambda x: -x, tree)
        few = t.tree_leaves(tree, is_leaf=lambda x: isinstance(x, tuple))
        node = t.SUPPORTED_NODES.get(t._get_node_type(tree))  # Lightning walks trees itself
        parts = None if node is None else node.flatten_fn(tree)
        again = tree if node is None else node.unflatten_fn(*parts)
        known = [parts, again, type(again).__name__, node is None or node.type is spec.type]
        return [leaves, back, doubled, only, few, spec.num_leaves, type(back).__name__, known]

    same(code)


class Held(dict):
    """A container that packages register."""


def test_trees_of_registered_classes() -> None:
    def code(th: Any) -> Any:
        t = importlib.import_module(f"{th.__name__}.utils._pytree")

        class Own(Held):
            pass

        before = t.tree_leaves(Own(b=1, a=[2]))
        t.register_pytree_node(
            Own,
            lambda x: (list(x.values()), list(x)),
            lambda xs, keys: Own(zip(keys, xs, strict=True)),
        )
        leaves, spec = t.tree_flatten([Own(b=1, a=[2]), Held(c=3)])
        with pytest.raises(ValueError, match="is already registered"):
            t.register_pytree_node(Own, lambda x: ([], None), lambda xs, _: Own())
        # Transforms know it, too.
        f = th.func.grad(lambda x: x["w"] ** 2 * x["v"])
        slopes = f(Own(v=th.tensor(2.0), w=th.tensor(3.0)))
        found = [type(slopes) is Own, {k: float(v) for k, v in slopes.items()}]
        back = t.tree_unflatten([10 * x for x in leaves[:2]] + leaves[2:], spec)
        return [before, leaves, back, type(back[0]) is Own, found]

    same(code)


def test_trees_of_other_shapes_raise() -> None:
    def code(th: Any) -> Any:
        t = importlib.import_module(f"{th.__name__}.utils._pytree")
        return t.tree_unflatten([1], t.tree_flatten([1, 2])[1])

    same(code)


# ---------------------------------------------------------------- tensors


def _old(method: str, *args: Any) -> Callable[[Any], Any]:
    def code(th: Any) -> Any:
        made = [th.tensor(x) if isinstance(x, list) else x for x in args]
        return getattr(th.tensor([1.0, 2.0]), method)(*made)

    return code


OLD_CALLS: list[Callable[[Any], Any]] = [
    _old("add_", -0.5, [3.0, 4.0]),
    _old("add_", [3.0, 4.0]),
    _old("add_", [3.0, 4.0], 2),
    _old("addcmul_", 0.5, [3.0, 4.0], [5.0, 6.0]),
    _old("addcmul", 0.5, [3.0, 4.0], [5.0, 6.0]),
    _old("addcdiv_", 0.5, [3.0, 4.0], [5.0, 6.0]),
    _old("addcdiv_", [3.0, 4.0], [5.0, 6.0], 0.5),
    lambda th: th.add(th.ones(2), th.ones(2), alpha=th.tensor(2.0)),
    lambda th: th.add(th.ones(2), th.ones(2), alpha=th.tensor([2.0])),
    lambda th: th.add(th.ones(2), th.ones(2), alpha=th.tensor(2.0, requires_grad=True)),
    lambda th: th.addcmul(th.ones(2), th.ones(2), th.ones(2), value=th.tensor(2.0)),
    lambda th: th.ones(5).split(split_size=2),
    lambda th: th.ones(5).split(split_size=[2, 3], dim=0),
    lambda th: th.split(th.ones(5), split_size_or_sections=2),
    lambda th: th.detach(th.ones(2, requires_grad=True)).requires_grad,
    lambda th: th.zeros(2, 3)[1].storage().size(),
    lambda th: th.arange(6).reshape(2, 3)[1].storage().tolist(),
    lambda th: [bool(th.zeros(n).storage()) for n in (0, 2)],
    lambda th: str(th.zeros(2).storage().dtype),
    lambda th: th.arange(3.0).storage()[1],
    lambda th: (th.zeros(2).storage().element_size(), th.zeros(2).storage().untyped().size()),
    lambda th: th.zeros(4)[1:].untyped_storage().nbytes(),
    lambda th: th.zeros(2, 3).t().untyped_storage().size(),
    lambda th: [
        a.untyped_storage().data_ptr() == b.untyped_storage().data_ptr()
        for x in [th.zeros(4)]
        for a, b in [(x, x[2:]), (x, x.view(2, 2)), (x, x.clone()), (x, x.detach())]
    ],
]


@pytest.mark.parametrize("code", OLD_CALLS)
def test_old_calls_and_storages(code: Callable[[Any], Any]) -> None:
    same(code)


FOREACH: list[tuple[str, tuple[Any, ...], dict[str, Any]]] = [
    ("add", (1.5,), {}),
    ("add", ("other",), {"alpha": 0.5}),
    ("sub", ("other",), {}),
    ("mul", ((2.0, 3.0),), {}),
    ("mul", (), {"scalar": 0.5}),
    ("div", ("other",), {}),
    ("maximum", (1.5,), {}),
    ("maximum", ("other",), {}),
    ("minimum", (1.5,), {}),
    ("clamp_min", (1.5,), {}),
    ("pow", (2,), {}),
    ("sqrt", (), {}),
    ("neg", (), {}),
    ("reciprocal", (), {}),
    *((name, (), {}) for name in ("atan", "sinh", "log10", "erfc", "lgamma")),
    ("lerp", ("other", 0.25), {}),
    ("lerp", ("other",), {"weight": 0.25}),
    ("addcmul", ("other", "other"), {"value": 2.0}),
    ("addcdiv", ("other", "other", 2.0), {}),
    ("addcdiv", ("other", "other", (2.0, 3.0)), {}),
    ("addcdiv", ("other", "other"), {"scalars": [2.0, 3.0]}),
    ("mul", ((2.0, 3.0, 4.0),), {}),
]


@pytest.mark.parametrize(("name", "args", "options"), FOREACH)
@pytest.mark.parametrize("end", ["", "_"])
def test_foreach(name: str, args: tuple[Any, ...], options: dict[str, Any], end: str) -> None:
    def code(th: Any) -> Any:
        xs, ys = ([th.tensor([1.0, 2.0]) + i, th.tensor([3.0]) * (1 + i)] for i in range(2))
        given = [ys if a == "other" else list(a) if isinstance(a, tuple) else a for a in args]
        result = getattr(th, f"_foreach_{name}{end}")(xs, *given, **options)
        return result is None, xs if end else result

    same(code)


def test_foreach_norm_max_copy_and_zero() -> None:
    def code(th: Any) -> Any:
        xs = [th.tensor([3.0, 4.0]), th.tensor([1.0])]
        ys = [th.zeros(2), th.zeros(1)]
        th._foreach_copy_(ys, xs)
        norms = th._foreach_norm(xs), th._foreach_norm(xs, 1), th._foreach_max(xs)
        th._foreach_zero_(xs)
        return norms, xs, ys

    same(code)


# ---------------------------------------------------------------- layers, weights, samplers


def _converted(th: Any) -> Any:
    net = th.nn.Sequential(th.nn.Conv2d(1, 2, 1), th.nn.Sequential(th.nn.BatchNorm2d(2, eps=0.1)))
    bn = net[1][0]
    made = th.nn.SyncBatchNorm.convert_sync_batchnorm(net)
    new = made[1][0]
    x = th.arange(8.0).view(1, 2, 2, 2)
    return [
        type(new).__name__,
        new.weight is bn.weight,
        new.running_mean is bn.running_mean,
        new.eps,
        list(made.state_dict()),
        new(x),
        new.running_var,
        made[0] is net[0],
    ]


def _parallel(th: Any) -> Any:
    net = th.nn.parallel.DataParallel(th.nn.Linear(2, 2))
    state = th.nn.modules.utils.consume_prefix_in_state_dict_if_present
    saved = net.state_dict()
    state(saved, "module.")
    x = th.ones(1, 2)
    return list(net.state_dict()), list(saved), (net(x) == net.module(x)).all()


def _dirac(shape: tuple[int, ...], groups: int = 1) -> Callable[[Any], Any]:
    return lambda th: th.nn.init.dirac_(th.ones(shape), groups)


def _tuples(th: Any) -> Any:
    u = th.nn.modules.utils
    return u._pair(3), u._triple((1, 2, 3)), u._single([4]), u._quadruple("a"), u._ntuple(2)(1)


def _sampled(**options: Any) -> Callable[[Any], Any]:
    def code(th: Any) -> Any:
        parts = []
        for rank in range(3):
            made = th.utils.data.DistributedSampler(range(10), 3, rank, **options)
            made.set_epoch(2)
            parts.append((sorted(made) if options.get("shuffle") else list(made), len(made)))
        return parts if not options.get("shuffle") else [n for _, n in parts]

    return code


LAYERS: list[Callable[[Any], Any]] = [
    _converted,
    _parallel,
    _tuples,
    _dirac((2, 2, 3)),
    _dirac((4, 2, 3, 2), 2),
    _dirac((2, 3, 1, 1, 1)),
    _dirac((2, 2)),
    _dirac((3, 2, 3), 2),
    lambda th: th.nn.SyncBatchNorm(2)(th.ones(2)),
    _sampled(shuffle=False),
    _sampled(shuffle=False, drop_last=True),
    _sampled(shuffle=True),
    lambda th: th.utils.data.DistributedSampler(range(3), 2, 2),
]


@pytest.mark.parametrize("code", LAYERS)
def test_layers_and_samplers(code: Callable[[Any], Any]) -> None:
    same(code)


def test_distributed_samplers_share_one_order() -> None:
    sampler = compat.utils.data.DistributedSampler
    orders = []
    for epoch in range(2):
        parts = [sampler(range(9), 3, rank, seed=5) for rank in range(3)]
        for part in parts:
            part.set_epoch(epoch)
        orders.append([list(part) for part in parts])
    assert all(sorted(i for part in parts for i in part) == list(range(9)) for parts in orders)
    assert orders[0] != orders[1]


# ---------------------------------------------------------------- files of weights


def test_weights_are_downloaded_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    source = tmp_path / "net-0000.pth"
    torch.save({"w": torch.ones(2)}, source)
    monkeypatch.setenv("TORCH_HOME", str(tmp_path / "home"))
    assert compat.hub.get_dir() == torch.hub.get_dir()
    load = importlib.import_module("compat.utils.model_zoo").load_url
    with pytest.raises(RuntimeError, match="invalid hash value"):
        load(source.as_uri(), check_hash=True)
    assert load(source.as_uri())["w"].tolist() == [1.0, 1.0]
    kept = tmp_path / "home" / "hub" / "checkpoints"
    assert [path.name for path in kept.iterdir()] == [source.name]
    source.unlink()
    assert load(source.as_uri())["w"].tolist() == [1.0, 1.0]


STORAGES: list[Callable[[Any], Any]] = [
    lambda th: str(th.zeros(3).untyped_storage().device),
    lambda th: th.zeros(3).untyped_storage().is_pinned(),
    lambda th: th.arange(3)[1:].untyped_storage().tolist(),
    lambda th: th.tensor([[1, 2], [3, 4]], dtype=th.uint8).t().untyped_storage()[2],
]


def test_storages_of_files(tmp_path: Path) -> None:
    path = tmp_path / "bytes"
    np.arange(16, dtype=np.uint8).tofile(path)

    def code(th: Any) -> Any:
        whole = th.UntypedStorage.from_file(str(path), False, 12)
        part = whole.untyped()[4:12]
        numbers = th.asarray(part, dtype=th.uint8).view(th.int32)
        found = [type(part) is th.UntypedStorage, len(part), part.tolist(), numbers]
        with pytest.raises(RuntimeError, match="99"):
            th.UntypedStorage.from_file(str(path), False, 99)
        return found

    same(code)


def test_shared_storages_are_those_of_files(tmp_path: Path) -> None:
    """Which grow with them; others may be longer than what is asked for, but not shorter."""

    def code(th: Any) -> Any:
        name = tmp_path / th.__name__
        first = th.UntypedStorage.from_file(str(name), True, 4).tolist()
        name.write_bytes(bytes(range(6)))
        own = th.UntypedStorage.from_file(str(name), False, 3).tolist()
        longer = th.UntypedStorage.from_file(str(name), True, 8).tolist()
        return [first, own, longer, name.stat().st_size]

    same(code)


def test_tensors_as_one_vector_and_back() -> None:
    def code(th: Any) -> Any:
        u = importlib.import_module(f"{th.__name__}._utils")
        parts = [th.tensor([[1.0, 2.0], [3.0, 4.0]]).t(), th.tensor(5.0)]
        flat = u._flatten_dense_tensors(parts)
        back = u._unflatten_dense_tensors(flat, parts)
        return [flat, *back, back[0].data_ptr() == flat.data_ptr()]

    same(code)


def test_the_way_back_through_a_softmax() -> None:
    def code(th: Any) -> Any:
        x = th.tensor([[0.5, -1.0, 2.0], [3.0, 0.0, 1.0]], requires_grad=True)
        ct = th.tensor([[1.0, 2.0, -1.0], [0.5, 0.0, 3.0]])
        y = th.softmax(x, -1)
        return [th._softmax_backward_data(ct, y, -1, x.dtype), th.autograd.grad(y, x, ct)]

    same(code)


@pytest.mark.parametrize("code", STORAGES)
def test_storages(code: Callable[[Any], Any]) -> None:
    assert code(compat) == code(pytest.importorskip("torch"))


@pytest.mark.parametrize("name", ["l1_loss", "mse_loss", "smooth_l1_loss", "huber_loss"])
def test_sums_of_small_integers(name: str) -> None:
    """They widen, as PyTorch's sums do."""
    found = []
    for th in (compat, pytest.importorskip("torch")):
        x, y = (th.tensor(v, dtype=th.int16) for v in ([100, 200], [90, 7]))
        try:
            total = getattr(th.nn.functional, name)(x, y, reduction="sum")
            found.append((str(total.dtype).split(".")[-1], total.item()))
        except (RuntimeError, NotImplementedError) as error:
            found.append((type(error).__name__, 0))
    assert found[0] == found[1]
