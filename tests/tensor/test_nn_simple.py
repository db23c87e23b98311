"""The modules that are one function with options, and the losses, against PyTorch's.

The tables hold at least one case of everything that their files export; what is drawn at random is
tested by its distribution.
"""

from __future__ import annotations

import inspect
import itertools
import pickle
import warnings
from collections.abc import Callable
from typing import Any

import modules
import numpy as np
import pytest
from modules import check_module, check_signature, torch

import compat
from compat.nn import (
    activation,
    adaptive,
    distance,
    dropout,
    embedding,
    linear,
    loss,
    normalization,
    shape,
)

needs_torch = pytest.mark.skipif(torch is None, reason="PyTorch is not installed")
F = compat.nn.functional


class Case(modules.Case):
    """Floating arrays are taken in the dtype of the test, and arrays among options become tensors."""

    def make(self, th: Any, dtype: str) -> Any:
        th.manual_seed(0)
        options = {
            k: th.tensor(v) if isinstance(v, np.ndarray) else v for k, v in self.options.items()
        }
        module = getattr(th.nn, self.name)(*self.args, **options)
        return module.to(getattr(th, dtype)).train(self.train)

    def arrays(self, dtype: str) -> list[np.ndarray]:
        return [a.astype(dtype) if a.dtype.kind == "f" else a for a in super().arrays(dtype)]


# ---------------------------------------------------------------- functions with options

OPTIONS: dict[str, list[dict[str, Any]]] = {
    "CELU": [{}, {"alpha": 0.5}],
    "ELU": [{}, {"alpha": 2.0}],
    "GELU": [{}, {"approximate": "tanh"}],
    "GLU": [{}, {"dim": 0}],
    "Hardshrink": [{}, {"lambd": 0.2}],
    "Hardtanh": [{}, {"min_val": -0.5, "max_val": 0.2}],
    "LeakyReLU": [{}, {"negative_slope": 0.3}],
    "LogSoftmax": [{"dim": 0}, {"dim": -1}],
    "PReLU": [{}, {"num_parameters": 6, "init": 0.1}],
    "RReLU": [{}, {"lower": 0.1, "upper": 0.7}],
    "Softmax": [{"dim": 0}, {"dim": 1}],
    "Softmin": [{"dim": 0}, {"dim": -1}],
    "Softplus": [{}, {"beta": 2.0, "threshold": 1.0}],
    "Softshrink": [{}, {"lambd": 0.0}],
    "Threshold": [{"threshold": 0.1, "value": 20.0}],
}
WIDE = np.linspace(-8.1, 7.9, 24).reshape(4, 6)
INPUTS: dict[str, list[Any]] = {"Softmax2d": [(2, 3, 4), (2, 3, 2, 4)]}

ACTIVATIONS = [
    Case(name, inputs=[x], train=name != "RReLU", **options)
    for name in activation.__all__
    for options in OPTIONS.get(name, [{}])
    for x in INPUTS.get(name, [(2, 6, 4), WIDE])
]

NORMS = [
    *(
        Case(f"BatchNorm{n}d", 3, inputs=[s], train=train, **options)
        for n, s in [(1, (4, 3)), (1, (2, 3, 4)), (2, (2, 3, 4, 2)), (3, (2, 3, 2, 1, 2))]
        for options in [{}, {"affine": False}, {"momentum": None, "eps": 1e-3}]
        for train in (True, False)
    ),
    Case("BatchNorm2d", 3, track_running_stats=False, bias=False, inputs=[(2, 3, 2, 2)]),
    Case("BatchNorm2d", 3, track_running_stats=False, inputs=[(2, 3, 2, 2)], train=False),
    *(
        Case(f"InstanceNorm{n}d", 3, inputs=[s], train=train, **options)
        for n, space in [(1, (4,)), (2, (4, 2)), (3, (2, 1, 2))]
        for s in [(2, 3, *space), (3, *space)]
        for options in [{}, {"affine": True, "track_running_stats": True, "momentum": 0.3}]
        for train in (True, False)
    ),
    Case("InstanceNorm1d", 3, affine=True, bias=False, inputs=[(2, 3, 4)]),
    Case("LayerNorm", 4, inputs=[(2, 3, 4)]),
    Case("LayerNorm", (3, 4), eps=0.1, bias=False, inputs=[(2, 3, 4)]),
    Case("LayerNorm", [4], elementwise_affine=False, inputs=[(3, 4)]),
    Case("RMSNorm", 4, inputs=[(2, 3, 4)]),
    Case("RMSNorm", (3, 4), 0.1, elementwise_affine=False, inputs=[(2, 3, 4)]),
    Case("GroupNorm", 2, 4, inputs=[(2, 4, 3)]),
    Case("GroupNorm", 4, 4, eps=0.1, affine=False, inputs=[(2, 4, 3, 2)]),
    Case("GroupNorm", 1, 4, bias=False, inputs=[(2, 4)]),
    Case("LocalResponseNorm", 2, inputs=[(2, 4, 3)]),
    Case("LocalResponseNorm", 3, 0.5, 0.6, 0.7, inputs=[(2, 4, 3, 2)]),
]

INDICES = np.array([[0, 4, 2], [2, 2, 1]])
FLAT, OFFSETS = np.array([0, 4, 2, 2, 1, 3]), np.array([0, 2, 2, 5])
TABLE = np.random.default_rng(0).normal(size=(5, 3))

EMBEDDINGS = [
    *(
        Case("Embedding", 5, 3, inputs=[INDICES], **options)
        for options in [
            {},
            {"padding_idx": 2},
            {"padding_idx": -1, "scale_grad_by_freq": True},
            {"max_norm": 1.0, "norm_type": 1.0},
            {"_weight": TABLE},
        ]
    ),
    *(
        Case("EmbeddingBag", 5, 3, mode=mode, inputs=inputs, **options)
        for mode in ("sum", "mean", "max")
        for inputs in ([INDICES], [FLAT, OFFSETS])
        for options in [
            {},
            {"padding_idx": 2},
            {"padding_idx": -3, "max_norm": 1.0},
            {"_weight": TABLE, "norm_type": 3.0},
        ]
    ),
    Case("EmbeddingBag", 5, 3, mode="max", inputs=[FLAT[:0], OFFSETS[:1]]),
    Case("EmbeddingBag", 5, 3, include_last_offset=True, inputs=[FLAT[:5], np.array([0, 2, 2, 5])]),
]

OTHERS = [
    Case("Bilinear", 2, 3, 4, inputs=[(5, 2), (5, 3)]),
    Case("Bilinear", 2, 1, 3, bias=False, inputs=[(2, 3, 2), (2, 3, 1)]),
    Case("Identity", 3, key=4, inputs=[(2, 3)]),
    Case("Linear", 3, 2, inputs=[(3,)]),
    Case("Flatten", inputs=[(2, 3, 4)]),
    Case("Flatten", 0, 1, inputs=[(2, 3, 4)]),
    Case("Unflatten", 1, (2, -1), inputs=[(2, 6)]),
    Case("Unflatten", -1, [3, 2], inputs=[(2, 6)]),
    Case("PairwiseDistance", inputs=[(3, 4), (3, 4)]),
    Case("PairwiseDistance", 1.0, 0.1, True, inputs=[(3, 4), (1, 4)]),
    Case("CosineSimilarity", inputs=[(3, 4), (3, 4)]),
    Case("CosineSimilarity", 0, 1e-3, inputs=[(3, 4), (3, 1)]),
    Case("CosineSimilarity", 1, 3.0, inputs=[(4, 4), (4, 4)]),  # some norms are below
    Case("AdaptiveLogSoftmaxWithLoss", 8, 10, [3, 5], inputs=[(4, 8), np.array([0, 9, 4, 2])]),
    Case("AdaptiveLogSoftmaxWithLoss", 8, 6, [2], 2.0, True, inputs=[(8,), np.array(4)]),
]

# ---------------------------------------------------------------- losses

SOME = np.random.default_rng(0).uniform(0.1, 0.9, size=(3, 4))
MORE = np.random.default_rng(1).uniform(0.1, 0.9, size=(3, 4))
CLASSES = np.array([0, 3, 1])
SIGNS = np.array([1, -1, -1])
LABELS = np.array([[3, 0, -1, 1], [-1, 2, 2, 0], [1, 0, 3, 2]])
BITS = np.array([[0.0, 1.0, 1.0, 0.0], [1.0, 0.0, 1.0, 1.0], [0.0, 0.0, 1.0, 0.0]])
WEIGHT = np.array([0.5, 1.0, 2.0, 0.1])
PIXELS = np.array([[[0, 1], [2, 1]], [[2, 2], [1, 0]]])

LOSS_TABLE: dict[str, tuple[list[Any], list[dict[str, Any]]]] = {
    "BCELoss": ([SOME, BITS], [{}, {"weight": WEIGHT}]),
    "BCEWithLogitsLoss": ([(2, 4), BITS[:2]], [{}, {"weight": WEIGHT, "pos_weight": WEIGHT + 1}]),
    "CosineEmbeddingLoss": ([(3, 4), (3, 4), SIGNS], [{}, {"margin": -0.2}]),
    "CrossEntropyLoss": ([(3, 4), CLASSES], [{}, {"weight": WEIGHT, "label_smoothing": 0.1}]),
    "GaussianNLLLoss": ([(3, 4), (3, 4), SOME], [{}, {"full": True, "eps": 0.3}]),
    "HingeEmbeddingLoss": ([(3,), SIGNS], [{}, {"margin": 0.3}]),
    "HuberLoss": ([(3, 4), (3, 4)], [{}, {"delta": 0.4}]),
    "KLDivLoss": ([(3, 4), SOME], [{}, {"log_target": True}]),
    "L1Loss": ([(3, 4), (3, 4)], [{}]),
    "MSELoss": ([(3, 4), (3, 4)], [{}]),
    "MarginRankingLoss": ([(3,), (3,), SIGNS], [{}, {"margin": 0.5}]),
    "MultiLabelMarginLoss": ([(3, 4), LABELS], [{}]),
    "MultiLabelSoftMarginLoss": ([(3, 4), BITS], [{}, {"weight": WEIGHT}]),
    "MultiMarginLoss": ([(3, 4), CLASSES], [{}, {"p": 2, "margin": 0.5, "weight": WEIGHT}]),
    "NLLLoss": ([(3, 4), CLASSES], [{}, {"weight": WEIGHT, "ignore_index": 3}]),
    "NLLLoss2d": ([(2, 3, 2, 2), PIXELS], [{}, {"ignore_index": 1}]),
    "PoissonNLLLoss": ([SOME, MORE * 4], [{}, {"log_input": False, "full": True, "eps": 0.1}]),
    "SmoothL1Loss": ([(3, 4), (3, 4)], [{}, {"beta": 0.3}]),
    "SoftMarginLoss": ([(3,), SIGNS], [{}]),
    "TripletMarginLoss": ([(3, 4)] * 3, [{}, {"margin": 3.0, "p": 1.5, "swap": True}]),
    "TripletMarginWithDistanceLoss": ([(3, 4)] * 3, [{}, {"margin": 3.0, "swap": True}]),
}
LOSSES = [
    Case(name, inputs=inputs, reduction=reduction, **options)
    for name, (inputs, choices) in LOSS_TABLE.items()
    for options in choices
    for reduction in ("mean", "sum", "none")
] + [
    Case("MSELoss", size_average=False, inputs=[(2, 3), (2, 3)]),
    Case("L1Loss", reduce=False, inputs=[(2, 3), (2, 3)]),
    Case("KLDivLoss", reduction="batchmean", inputs=[(3, 4), SOME]),
]

CASES = [*ACTIVATIONS, *NORMS, *EMBEDDINGS, *OTHERS, *LOSSES]
FILES = (activation, adaptive, distance, dropout, embedding, linear, loss, normalization, shape)
NAMES = sorted({name for file in FILES for name in file.__all__})
DROPOUTS = sorted(dropout.__all__)


def test_every_module_has_a_case() -> None:
    assert {case.name for case in CASES} | {*DROPOUTS, "CTCLoss", "SyncBatchNorm"} == set(NAMES)


@needs_torch
@pytest.mark.parametrize("name", NAMES)
def test_signature(name: str) -> None:
    check_signature(name)


@needs_torch
@pytest.mark.filterwarnings("ignore")  # both libraries warn of old names
@pytest.mark.parametrize("case", CASES, ids=repr)
def test_module(case: Case, monkeypatch: pytest.MonkeyPatch) -> None:
    if case.name == "Hardsigmoid":  # PyTorch's slope is the float32 nearest to 1 / 6
        monkeypatch.setitem(modules.TOLERANCE, "float64", 1e-7)
    check_module(case)


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("case", CASES, ids=repr)
def test_pickle_keeps_all(case: Case) -> None:
    module = case.make(compat, "float32")
    again = pickle.loads(pickle.dumps(module))
    assert type(again) is type(module) and repr(again) == repr(module)
    inputs = [compat.tensor(a) for a in case.arrays("float32")]
    for x, y in zip(modules.outputs(module(*inputs)), modules.outputs(again(*inputs)), strict=True):
        np.testing.assert_array_equal(x.detach().numpy(), y.detach().numpy())


IN_PLACE = [
    case
    for case in ACTIVATIONS
    if "inplace" in inspect.signature(getattr(activation, case.name)).parameters
]


@pytest.mark.parametrize("case", IN_PLACE, ids=repr)
def test_in_place_writes_the_same_into_the_input(case: Case) -> None:
    (array,) = case.arrays("float32")
    expected = case.make(compat, "float32")(compat.tensor(array)).numpy()
    x = compat.tensor(array)
    inplace = Case(case.name, inputs=case.inputs, train=case.train, inplace=True, **case.options)
    assert inplace.make(compat, "float32")(x) is x
    np.testing.assert_array_equal(x.numpy(), expected)


@needs_torch
@pytest.mark.parametrize("name", [*DROPOUTS, "RReLU", "ReLU6", "Hardswish", "SELU", "CTCLoss"])
def test_representation(name: str) -> None:
    for options in ({}, {} if name == "CTCLoss" else {"inplace": True}):
        ours, theirs = (getattr(th.nn, name)(**options) for th in (compat, torch))
        assert repr(ours) == repr(theirs)


# ---------------------------------------------------------------- errors


def _ones(th: Any, *shape: int) -> Any:
    return th.ones(shape)


ERRORS: dict[str, Callable[[Any], Any]] = {
    "Hardtanh bounds": lambda th: th.nn.Hardtanh(2, 1),
    "Tanh argument": lambda th: th.nn.Tanh(3),
    "ELU argument": lambda th: th.nn.ELU(beta=1),
    "Softmax2d axes": lambda th: th.nn.Softmax2d()(_ones(th, 2, 2)),
    "GLU axis": lambda th: th.nn.GLU(3)(_ones(th, 2)),
    "PReLU channels": lambda th: th.nn.PReLU(3)(_ones(th, 2, 4)),
    "BatchNorm1d axes": lambda th: th.nn.BatchNorm1d(3)(_ones(th, 2, 3, 4, 5)),
    "BatchNorm2d axes": lambda th: th.nn.BatchNorm2d(3)(_ones(th, 2, 3)),
    "BatchNorm3d axes": lambda th: th.nn.BatchNorm3d(3)(_ones(th, 2, 3)),
    "BatchNorm2d channels": lambda th: th.nn.BatchNorm2d(3)(_ones(th, 2, 4, 2, 2)),
    "InstanceNorm1d axes": lambda th: th.nn.InstanceNorm1d(3)(_ones(th, 2)),
    "InstanceNorm2d channels": lambda th: th.nn.InstanceNorm2d(3, affine=True)(_ones(th, 4, 5, 2)),
    "InstanceNorm1d one value": lambda th: th.nn.InstanceNorm1d(3)(_ones(th, 2, 3, 1)),
    "LayerNorm shape": lambda th: th.nn.LayerNorm(3)(_ones(th, 2, 4)),
    "GroupNorm groups": lambda th: th.nn.GroupNorm(3, 4),
    "GroupNorm channels": lambda th: th.nn.GroupNorm(2, 4)(_ones(th, 2, 6)),
    "RMSNorm shape": lambda th: th.nn.RMSNorm(3)(_ones(th, 2, 4)),
    "LocalResponseNorm axes": lambda th: th.nn.LocalResponseNorm(2)(_ones(th, 2, 3)),
    **{f"{name} p": lambda th, name=name: getattr(th.nn, name)(1.5) for name in DROPOUTS},
    "Dropout integers": lambda th: th.nn.Dropout()(_ones(th, 2).long()),
    "Dropout1d axes": lambda th: th.nn.Dropout1d()(_ones(th, 2, 3, 4, 5)),
    "Dropout2d axes": lambda th: th.nn.functional.dropout2d(_ones(th, 2)),
    "FeatureAlphaDropout axes": lambda th: th.nn.FeatureAlphaDropout()(_ones(th, 2)),
    "Bilinear features": lambda th: th.nn.Bilinear(0, 1, 2),
    "Bilinear batch": lambda th: th.nn.Bilinear(2, 3, 4)(_ones(th, 5, 2), _ones(th, 4, 3)),
    "Bilinear width": lambda th: th.nn.Bilinear(2, 3, 4)(_ones(th, 5, 2), _ones(th, 5, 2)),
    "Bilinear axes": lambda th: th.nn.Bilinear(2, 3, 4)(_ones(th, 5, 2), _ones(th, 3)),
    "Bilinear dtype": lambda th: th.nn.Bilinear(2, 3, 4)(_ones(th, 5, 2).double(), _ones(th, 5, 3)),
    "Embedding padding": lambda th: th.nn.Embedding(3, 2, padding_idx=3),
    "Embedding weight": lambda th: th.nn.Embedding(3, 2, _weight=_ones(th, 2, 2)),
    "Embedding matrix": lambda th: th.nn.Embedding.from_pretrained(_ones(th, 2)),
    "Embedding row": lambda th: th.nn.Embedding(3, 2)(th.tensor([3])),
    "Embedding dtype": lambda th: th.nn.Embedding(3, 2)(_ones(th, 3)),
    "Unflatten dtype": lambda th: th.nn.Unflatten(1, ("a", 3)),
    "Unflatten size": lambda th: th.nn.Unflatten(1, 3),
    "Unflatten product": lambda th: th.nn.Unflatten(1, (2, 3))(_ones(th, 2, 5)),
    "Flatten axes": lambda th: th.nn.Flatten(2, 1)(_ones(th, 2, 3, 4)),
    "MultiMarginLoss p": lambda th: th.nn.MultiMarginLoss(p=3),
    "MultiMarginLoss weight": lambda th: th.nn.MultiMarginLoss(weight=_ones(th, 2, 2)),
    "TripletMarginLoss margin": lambda th: th.nn.TripletMarginLoss(margin=-1),
    "Triplet distance margin": lambda th: th.nn.TripletMarginWithDistanceLoss(margin=0),
    "HuberLoss delta": lambda th: th.nn.HuberLoss(delta=-1)(_ones(th, 2), _ones(th, 2)),
    "reduction": lambda th: th.nn.MSELoss(reduction="median")(_ones(th, 2), _ones(th, 2)),
    "GaussianNLLLoss size": lambda th: th.nn.GaussianNLLLoss()(*(_ones(th, n) for n in (2, 2, 3))),
    "Adaptive no cutoffs": lambda th: th.nn.AdaptiveLogSoftmaxWithLoss(8, 10, []),
    "Adaptive equal cutoffs": lambda th: th.nn.AdaptiveLogSoftmaxWithLoss(8, 10, [3, 3]),
    "Adaptive large cutoff": lambda th: th.nn.AdaptiveLogSoftmaxWithLoss(8, 10, [10]),
}


def _bag(th: Any, indices: Any, offsets: Any = None, weights: Any = None, **options: Any) -> Any:
    offsets = None if offsets is None else th.tensor(offsets)
    return th.nn.EmbeddingBag(3, 2, **options)(th.tensor(indices), offsets, weights)


def _adaptive(th: Any, target: Any, *shape: int) -> Any:
    return th.nn.AdaptiveLogSoftmaxWithLoss(8, 10, [3])(_ones(th, *shape), th.tensor(target))


def _ctc(th: Any, targets: Any, inputs: Any, lengths: Any, size: Any = (4, 2, 3), **o: Any) -> Any:
    inputs, lengths = (th.tensor(x) if isinstance(x, list) else x for x in (inputs, lengths))
    loss = th.nn.CTCLoss(**o)
    return loss(_ones(th, *size), th.tensor(targets), inputs, lengths)


ERRORS |= {
    "bag padding": lambda th: th.nn.EmbeddingBag(3, 2, padding_idx=5),
    "bag mode": lambda th: _bag(th, [[0]], mode="median"),
    "bag axes": lambda th: _bag(th, [[[0]]]),
    "bag without offsets": lambda th: _bag(th, [0]),
    "bag with offsets": lambda th: _bag(th, [[0]], [0]),
    "bag offsets of two axes": lambda th: _bag(th, [0], [[0]]),
    "bag first offset": lambda th: _bag(th, [0, 1], [1]),
    "bag last offset": lambda th: _bag(th, [0, 1], [0, 3]),
    "bag row": lambda th: _bag(th, [[0, 3]]),
    "bag negative row": lambda th: _bag(th, [[0, -1]]),
    "bag float indices": lambda th: _bag(th, [[0.5]]),
    "bag float offsets": lambda th: _bag(th, [0], [0.0]),
    "bag weights for means": lambda th: _bag(th, [[0]], None, _ones(th, 1, 1)),
    "bag shape of weights": lambda th: _bag(th, [[0]], None, _ones(th, 1), mode="sum"),
    "bag dtype of weights": lambda th: _bag(th, [[0]], None, _ones(th, 1, 1).double(), mode="sum"),
    "bag frequency of maxima": lambda th: _bag(th, [[0]], mode="max", scale_grad_by_freq=True),
    "adaptive class": lambda th: _adaptive(th, [1, 10], 2, 8),
    "adaptive negative class": lambda th: _adaptive(th, [1, -1], 2, 8),
    "adaptive batch": lambda th: _adaptive(th, [1], 2, 8),
    "adaptive one input": lambda th: _adaptive(th, [1], 8),
    "adaptive one target": lambda th: _adaptive(th, 1, 2, 8),
    "adaptive targets": lambda th: _adaptive(th, [[1]], 1, 8),
    "ctc joined": lambda th: _ctc(th, [1, 2, 2], (4, 4), (2, 2)),
    "ctc target too long": lambda th: _ctc(th, [[1, 2], [2, 2]], [4, 4], [2, 3]),
    "ctc input too long": lambda th: _ctc(th, [[1, 2], [2, 2]], [4, 5], [2, 2]),
    "ctc negative input": lambda th: _ctc(th, [[1, 2], [2, 2]], [4, -1], [2, 2]),
    "ctc negative target": lambda th: _ctc(th, [[1, 2], [2, 2]], [4, 4], [2, -1]),
    "ctc lengths": lambda th: _ctc(th, [[1, 2], [2, 2]], [4], [2, 2]),
    "ctc target lengths": lambda th: _ctc(th, [[1, 2], [2, 2]], [4, 4], [2]),
    "ctc float lengths": lambda th: _ctc(th, [[1, 2], [2, 2]], [4.0, 4.0], [2, 2]),
    "ctc int lengths": lambda th: _ctc(th, [[1, 2], [2, 2]], 4, 2),
    "ctc blank": lambda th: _ctc(th, [[1, 2], [2, 2]], [4, 4], [2, 2], blank=3),
    "ctc rows": lambda th: _ctc(th, [[1, 2]], [4, 4], [2, 2]),
    "ctc axes": lambda th: _ctc(th, [[[1, 2]]], [4, 4], [2, 2]),
    "ctc nothing": lambda th: _ctc(th, [[1], [1]], [0, 0], [0, 0], (0, 2, 3)),
    "ctc reduction": lambda th: _ctc(th, [[1], [1]], [1, 1], [1, 1], reduction="median"),
}


def _outcome(f: Callable[[Any], Any], th: Any) -> type[BaseException] | None:
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            f(th)
    except Exception as e:
        return type(e)
    return None


@needs_torch
@pytest.mark.parametrize("name", ERRORS)
def test_errors_are_of_pytorchs_types(name: str) -> None:
    expected = _outcome(ERRORS[name], torch)
    assert expected is not None and _outcome(ERRORS[name], compat) is expected


def test_falling_offsets_are_refused() -> None:
    """What PyTorch does depends on its threads."""
    with pytest.raises(RuntimeError, match="offsets"):
        _bag(compat, [0, 1], [0, 2, 1])


@pytest.mark.parametrize("name", embedding.__all__)
def test_sparse_gradients_are_refused(name: str) -> None:
    with pytest.raises(NotImplementedError, match="leave sparse=False"):
        getattr(compat.nn, name)(3, 2, sparse=True)


# ---------------------------------------------------------------- what is drawn

# Of each kind: the axes, of those of the input, whose places are dropped together.
DROPPED = {
    "Dropout": (4, 0),
    "Dropout1d": (3, 1),
    "Dropout2d": (4, 2),
    "Dropout3d": (5, 3),
    "AlphaDropout": (4, 0),
    "FeatureAlphaDropout": (4, 2),
}


@pytest.mark.parametrize("name", DROPOUTS)
def test_dropout_is_the_identity_in_evaluation_and_for_p_0(name: str) -> None:
    x = compat.ones(2, 3, 4)
    kind = getattr(compat.nn, name)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        assert kind(0.5).eval()(x) is x and kind(0.0)(x) is x
        assert (kind(1.0)(x) == 0).all()


@pytest.mark.parametrize("inplace", [False, True])
@pytest.mark.parametrize("name", DROPOUTS)
def test_dropout_by_its_distribution(name: str, inplace: bool) -> None:
    axes, together = DROPPED[name]
    size = (60, 50, *(2,) * (axes - 2))
    compat.manual_seed(1)
    p = 0.3
    x = compat.ones(size)
    y = getattr(compat.nn, name)(p, inplace)(x)
    assert (y is x) is inplace
    found = y.numpy().reshape(*size[: axes - together], -1)
    assert (found == found[..., :1]).all() or not together
    low, high = np.unique(found).tolist()
    share = (found[..., 0] == low).mean()
    assert abs(share - p) < 5 * np.sqrt(p * (1 - p) / found[..., 0].size)
    if "Alpha" not in name:
        assert low == 0 and high == pytest.approx(1 / (1 - p))
    else:  # the numbers 1 and -alpha, with the affine map that keeps mean 0 and variance 1
        alpha = 1.0507009873554805 * 1.6732632423543772
        scale = (high - low) / (1 + alpha)
        shift = high - scale
        assert shift - scale * alpha * p == pytest.approx(0, abs=1e-6)
        assert scale**2 * (1 - p + (1 - p) * p * alpha**2) == pytest.approx(1)


@pytest.mark.parametrize("name", DROPOUTS)
def test_what_is_dropped_has_no_gradient(name: str) -> None:
    compat.manual_seed(2)
    x = compat.randn(40, 3, *(2,) * (DROPPED[name][0] - 2)).requires_grad_()
    y = getattr(compat.nn, name)(0.5)(x)
    y.sum().backward()
    slopes = np.unique(x.grad.numpy())
    assert slopes.size == 2 and slopes[0] == 0
    kept = x.grad.numpy() != 0
    shift = np.unique((y - slopes[1].item() * x).detach().numpy()[kept].round(4))
    assert shift.size == 1  # an affine function of what is kept


@pytest.mark.parametrize("shape", [(3, 5, 4), (5, 4)])
def test_one_example_of_dropout1d_drops_channels(shape: tuple[int, ...]) -> None:
    compat.manual_seed(0)
    y = F.dropout1d(compat.ones(shape)).numpy()
    assert (y == y[..., :1]).all() and 0 < (y == 0).mean() < 1


@pytest.mark.parametrize(("name", "n"), [("dropout2d", 3), ("dropout2d", 5), ("dropout3d", 3)])
def test_other_axes_are_warned_of(name: str, n: int) -> None:
    with pytest.warns(UserWarning, match=f"{name}: Received a {n}-?D input"):
        getattr(F, name)(compat.ones((2,) * n))


def test_rrelu_draws_slopes_between_its_bounds() -> None:
    compat.manual_seed(0)
    y = -compat.nn.RReLU(0.2, 0.6)(-compat.ones(4000)).numpy()
    assert 0.2 <= y.min() < 0.21 and 0.59 < y.max() <= 0.6
    assert abs(y.mean() - 0.4) < 5 * 0.4 / np.sqrt(12 * 4000)


def test_bilinear_starts_uniform() -> None:
    compat.manual_seed(0)
    layer = compat.nn.Bilinear(16, 20, 30)
    for p in layer.parameters():
        bound, n = 0.25, p.numel()
        assert p.abs().max().item() <= bound
        assert abs(p.var().item() - bound**2 / 3) < bound**2 * 2 / np.sqrt(n)


@pytest.mark.parametrize("name", embedding.__all__)
def test_tables_start_normal_but_for_the_padding(name: str) -> None:
    compat.manual_seed(0)
    w = getattr(compat.nn, name)(100, 50, padding_idx=-3).weight.detach().numpy()
    assert (w[97] == 0).all()
    rest = np.delete(w, 97, axis=0)
    assert abs(rest.mean()) < 5 / np.sqrt(rest.size) and abs(rest.var() - 1) < 0.1


def test_pretrained_tables_are_shared_and_frozen() -> None:
    table = compat.tensor(TABLE)
    for kind, freeze in itertools.product((compat.nn.Embedding, compat.nn.EmbeddingBag), (0, 1)):
        module = kind.from_pretrained(table, freeze=bool(freeze))
        assert module.weight.requires_grad is not bool(freeze)
        assert module.weight.data_ptr() == table.data_ptr()
