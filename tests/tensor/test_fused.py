"""Functions that are one node of the graph and run a compiled program from their second call on."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import compat as torch
import funcgrad
from compat.autograd.programs import TapeProgram
from compat.nn import functional as F
from compat.ops import _fused


@pytest.fixture(autouse=True)
def at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """Programs are made after the first call."""
    monkeypatch.setattr(_fused, "CALLS", 1)


X = np.random.default_rng(0).standard_normal((2, 4, 6, 6))
CALLS: dict[str, Any] = {
    "elu": lambda x: F.elu(x, 0.5),
    "selu": F.selu,
    "celu": lambda x: F.celu(x, 2.0),
    "softplus": lambda x: F.softplus(x, 2.0, 1.0),
    "softsign": F.softsign,
    "hardtanh": lambda x: F.hardtanh(x, -0.5, 0.7),
    "hardswish": F.hardswish,
    "leaky_relu": lambda x: F.leaky_relu(x, 0.3),
    "prelu": lambda x: F.prelu(x, x[0, :, 0, 0]),
    "threshold": lambda x: F.threshold(x, 0.1, 2.0),
    "softmax": lambda x: F.softmax(x, 1),
    "log_softmax": lambda x: F.log_softmax(x, 3),
    "logsumexp": lambda x: torch.logsumexp(x, (1, 2)),
    "layer_norm": lambda x: F.layer_norm(x, (6,), x[0, 0, 0], x[0, 0, 1]),
    "rms_norm": lambda x: F.rms_norm(x, (6,)),
    "group_norm": lambda x: F.group_norm(x, 2),
    "instance_norm": F.instance_norm,
    "batch_norm": lambda x: F.batch_norm(x, None, None, x[0, :, 0, 0], None, True),
    "local_response_norm": lambda x: F.local_response_norm(x, 3),
    "normalize": F.normalize,
    "conv2d": lambda x: F.conv2d(x, x[:, :, :3, :3], x[0, :2, 0, 0], padding=1),
    "conv2d alone": lambda x: F.conv2d(x[0], x[:, :, :3, :3]),
    "conv_transpose2d": lambda x: F.conv_transpose2d(x, x[:, :, :3, :3].swapaxes(0, 1), stride=2),
    "max_pool2d": lambda x: F.max_pool2d(x, 3, 2, 1),
    "avg_pool2d": lambda x: F.avg_pool2d(x, 2),
    "adaptive_avg_pool2d": lambda x: F.adaptive_avg_pool2d(x, (4, 1)),
    "lp_pool2d": lambda x: F.lp_pool2d(x, 3, 2),
    "interpolate": lambda x: F.interpolate(x, scale_factor=1.5, mode="bilinear"),
    "grid_sample": lambda x: F.grid_sample(x, x[:, 0, :, :2][:, None] / 4, align_corners=False),
    "unfold": lambda x: F.unfold(x, 3),
    "fold": lambda x: F.fold(x.reshape(2, 16, 9), (6, 6), 2, stride=2),
    "pad": lambda x: F.pad(x, (1, -1, 0, 2), value=3.0),
    "reflected": lambda x: F.pad(x, (1, 2, 3, 0), mode="reflect"),
    "pixel_shuffle": lambda x: F.pixel_shuffle(x, 2),
    "cosine_similarity": lambda x: F.cosine_similarity(x[0], x[1], 0),
    "cdist": lambda x: torch.cdist(x[0, 0], x[1, 1]),
    "prod": lambda x: x.prod(1),
    "lerp": lambda x: torch.lerp(x[0], x[1], 0.3),
    "kl_div": lambda x: F.kl_div(x[0], x[1].softmax(0), reduction="sum"),
    "cross_entropy": lambda x: F.cross_entropy(x, x.detach().softmax(1), label_smoothing=0.1),
    "soft_margin_loss": lambda x: F.soft_margin_loss(x[0], x[1].detach()),
}


def all_of(call: Any, x: np.ndarray) -> list[np.ndarray]:
    """Value, gradient, and the gradient of a function of the gradient."""
    t = torch.tensor(x, requires_grad=True)
    y = call(t)
    weights = torch.arange(1.0, y.numel() + 1, dtype=y.dtype).reshape(y.shape).cos()
    (g,) = torch.autograd.grad((y * weights).sum(), [t], create_graph=True)
    second = None
    if g.requires_grad:
        (second,) = torch.autograd.grad(g.sin().sum(), [t], allow_unused=True)
    found = [y, g, torch.zeros_like(t) if second is None else second]
    return [a.detach().numpy() for a in found]


@pytest.mark.parametrize("name", CALLS)
@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_program_and_record_agree(name: str, dtype: str) -> None:
    """The first call records every primitive; later ones run a program, as C too."""
    x = X.astype(dtype)
    _fused._programs.clear()
    recorded = all_of(CALLS[name], x)
    assert _fused._programs, "this call is not worth a program"
    assert {type(p) for p in _fused._programs.values()} == {TapeProgram}
    programs = [all_of(CALLS[name], x)]
    if funcgrad.compile.c_compiler.compiler() is not None:
        with funcgrad.config("c"):
            programs.append(all_of(CALLS[name], x))
    eps = np.finfo(dtype).eps
    for found in programs:
        assert len(found) == len(recorded)
        for a, e in zip(found, recorded, strict=True):
            assert a.dtype == e.dtype
            np.testing.assert_allclose(a, e, rtol=1e4 * eps, atol=1e3 * eps * max(1, abs(e).max()))


def test_nodes_and_writes() -> None:
    for _ in range(3):
        x = torch.tensor(X, requires_grad=True)
        y = F.group_norm(x * 1.0, 2)
        assert y.grad_fn.name() == "NativeGroupNormBackward0"
        assert not y._is_view()
        y.mul_(2.0)
        y.sum().backward()
        z = F.softmax(x, 1)
        z.add_(1.0)
        with pytest.raises(RuntimeError, match="modified by an inplace operation"):
            z.sum().backward()


@pytest.mark.parametrize(
    "call",
    [
        lambda x: F.pad(x, (-1, 0)),
        lambda x: F.interpolate(x, size=3),
        lambda x: F.avg_pool1d(x, 1, 2),
        lambda x: F.max_pool1d(x, 1, 2),
        lambda x: F.pixel_shuffle(x.reshape(1, 1, 1, 3), 1),
    ],
)
def test_results_that_could_show_the_input(call: Any) -> None:
    for _ in range(4):
        x = torch.arange(3.0).reshape(1, 1, 3)
        y = call(x)
        y += 1.0
        assert x.tolist() == [[[0.0, 1.0, 2.0]]]


def test_options_that_are_equal_but_not_the_same() -> None:
    x = torch.tensor([-2.0, 3.0])
    for _ in range(3):
        assert F.hardtanh(x, -1, 1).tolist() == F.hardtanh(x, -1.0, True).tolist() == [-1.0, 1.0]
        signs = [F.pad(x, (1, 0), value=v).signbit()[0].item() for v in (0.0, -0.0, 0.0)]
        assert signs == [False, True, False]


def test_programs_are_not_kept_for_ever(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(_fused, "MOST_PROGRAMS", 4)
    _fused._programs.clear()
    for n in [*range(1, 9), 8, 8]:
        F.softsign(torch.ones(n))
    assert len(_fused._programs) == 4


def test_calls_that_come_once_are_not_worth_a_program(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(_fused, "CALLS", 6)
    for n, calls in ((3, 5), (_fused.SMALL, 1)):  # the second of 4 * SMALL bytes
        _fused._programs.clear()
        for count in range(1, calls + 1):
            F.softsign(torch.ones(n))
            (found,) = _fused._programs.values()
            assert found == count * (5 // calls)
        for _ in range(2):
            F.softsign(torch.ones(n))
        (program,) = _fused._programs.values()
        assert isinstance(program, TapeProgram)


def test_under_transforms() -> None:
    from compat.func import grad, vmap

    x = torch.tensor(X[0])
    expected = torch.stack([grad(lambda row: F.elu(row).sum())(row) for row in x])
    for _ in range(3):
        assert torch.equal(vmap(grad(lambda row: F.elu(row).sum()))(x), expected)


OF_LONG: dict[str, Any] = {
    "sigmoid": torch.sigmoid,
    "logsigmoid": F.logsigmoid,
    "silu": F.silu,
    "mish": F.mish,
    "gelu": F.gelu,
    "gelu_tanh": lambda x: F.gelu(x, approximate="tanh"),
    "glu": F.glu,
    "logaddexp": lambda x: torch.logaddexp(x, x * x),
    "logaddexp2": lambda x: torch.logaddexp2(x * 2, -x),
    "hypot": lambda x: torch.hypot(x, x - 1.0),
    "atan2": lambda x: torch.atan2(x, x * x - 1.0),
}


@pytest.mark.parametrize("dtype", [torch.float64, torch.float32])
@pytest.mark.parametrize("name", OF_LONG)
def test_long_tensors(name: str, dtype: Any) -> None:
    """They are programs, of the same numbers as short ones, which are printed, part by part."""
    f = OF_LONG[name]
    given = torch.linspace(-4.0, 4.0, 2 * _fused.LONG, dtype=dtype).reshape(32, -1)

    def found(x: Any) -> list[Any]:
        x = x.detach().clone().requires_grad_()
        y = f(x)
        (g,) = torch.autograd.grad((y * y).sum(), x, create_graph=True)
        (h,) = torch.autograd.grad((g * x).sum(), x)
        return [y.detach(), g.detach(), h]

    _fused._programs.clear()
    with funcgrad.config("numpy"):
        parts = [torch.cat(p) for p in zip(*map(found, given.split(1)), strict=True)]
        for _ in range(2):
            for a, b in zip(found(given), parts, strict=True):
                eps = torch.finfo(dtype).eps
                torch.testing.assert_close(a, b, rtol=50 * eps, atol=50 * eps)
    assert any(isinstance(p, TapeProgram) for p in _fused._programs.values())


@pytest.mark.parametrize("calls", [1, 3])
def test_checkpoints_find_what_they_saved(monkeypatch: pytest.MonkeyPatch, calls: int) -> None:
    """The second run of a checkpointed function may be the call that makes a program."""
    monkeypatch.setattr(_fused, "CALLS", calls)
    _fused._programs.clear()
    torch.manual_seed(0)
    model = torch.nn.Sequential(
        *(torch.nn.Linear(4, 4), torch.nn.LayerNorm(4), torch.nn.ELU(), torch.nn.Linear(4, 4))
    )
    x = torch.randn(3, 4, requires_grad=True)
    found = []
    for turn in range(6):
        for p in (x, *model.parameters()):
            p.grad = None
        run = torch.utils.checkpoint.checkpoint if turn % 3 else lambda f, v, **_: f(v)
        run(model, x, use_reentrant=False).square().sum().backward()
        found.append([p.grad.clone() for p in (x, *model.parameters())])
    for other in found[1:]:
        for a, b in zip(other, found[0], strict=True):
            torch.testing.assert_close(a, b)


@pytest.mark.parametrize("mode", ["nearest", "nearest-exact", "linear"])
def test_a_single_element_interpolated_is_no_view(mode: str) -> None:
    x = torch.full((1, 1, 1), 3.0, requires_grad=True)
    for _ in range(3):
        x.grad = None
        h = x * 1
        y = F.interpolate(h, scale_factor=2.0, mode=mode)
        h.mul_(10)
        assert y.tolist() == [[[3.0, 3.0]]]
        y.sum().backward()
        assert x.grad.tolist() == [[[2.0]]]
        assert y.detach().zero_().view(-1).tolist() == [0.0, 0.0]


def test_places_that_are_rounded_get_zeros() -> None:
    x = torch.randn(2, 3, 4, 4)
    grid = torch.zeros(2, 5, 5, 2, requires_grad=True)
    for _ in range(3):
        for images in (x, x.clone().requires_grad_()):
            grid.grad = None
            y = F.grid_sample(images, grid, "nearest", align_corners=True)
            assert y.requires_grad
            y.sum().backward()
            assert (grid.grad == 0).all()
    none = torch.zeros(2, 0, 5, 2, requires_grad=True)
    F.grid_sample(x, none, "nearest", align_corners=True).sum().backward()
    assert none.grad.shape == none.shape


ORDERED: dict[str, Any] = {
    "grid_sample": lambda: F.grid_sample(torch.zeros(2, 3, 4, 4), torch.zeros(2, 5, 5, 2)),
    "fold": lambda: F.fold(torch.zeros(2, 12, 6), (5, 5), (3, 2), padding=(0, 1), stride=(3, 1)),
    "patches": lambda: F.conv2d(torch.zeros(2, 3, 8, 8), torch.zeros(4, 3, 4, 4), stride=4),
    "whole": lambda: F.conv2d(torch.zeros(2, 3, 4, 4), torch.zeros(4, 3, 4, 4)),
    "one": lambda: F.conv1d(torch.zeros(2, 3, 4), torch.zeros(4, 3, 4)),
}


@pytest.mark.filterwarnings("ignore:.*align_corners")
@pytest.mark.parametrize("name", ORDERED)
def test_results_lie_in_order(name: str) -> None:
    for _ in range(3):
        y = ORDERED[name]()
        assert y.is_contiguous()
        assert y.view(-1).shape == (y.numel(),)


IN_PLACE = {
    **{
        name: lambda x, name=name: getattr(torch.nn.functional, name)(x, inplace=True)
        for name in (
            "silu",
            "mish",
            "hardswish",
            "hardsigmoid",
            "elu",
            "selu",
            "celu",
            "leaky_relu",
        )
    },
    **{
        name: lambda x, name=name: getattr(x, f"{name}_")()
        for name in ("sigmoid", "logit", "sinc", "erfinv", "lgamma", "digamma", "tan", "atanh")
    },
    "atan2": lambda x: x.atan2_(x + 1),
    "xlogy": lambda x: x.xlogy_(x + 2),
    "hypot": lambda x: x.hypot_(x * 2),
}


@pytest.mark.parametrize("name", IN_PLACE)
def test_long_tensors_written_in_place(name: str) -> None:
    """The residual of the program has the operand's memory, which is written."""
    numbers = np.random.default_rng(0).uniform(0.1, 0.9, 20000)
    slopes = []
    for n in (20000, 100):  # a program, and what is printed
        x = torch.tensor(numbers[:n], requires_grad=True)
        y = x * 1
        (IN_PLACE[name](y) ** 2).sum().backward()
        slopes.append(x.grad.numpy()[:100])
    np.testing.assert_allclose(*slopes, rtol=1e-9)
