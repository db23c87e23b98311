"""Results that PyTorch lays out in C order are so here too, as `view` asks for that."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

import compat as torch

F = torch.nn.functional
Function = Callable[[Any], Any]

FUNCTIONS: dict[str, Function] = {
    "softmax": lambda x: x.softmax(-1),
    "softmax along the first": lambda x: x.softmax(0),
    "log_softmax": lambda x: x.log_softmax(1),
    "cumsum": lambda x: x.cumsum(1),
    "cumprod": lambda x: x.cumprod(1),
    "logcumsumexp": lambda x: x.logcumsumexp(1),
    "masked_fill": lambda x: x.masked_fill(x > 0, 0.0),
    "layer_norm": lambda x: F.layer_norm(x, x.shape[-1:]),
    "rms_norm": lambda x: F.rms_norm(x, x.shape[-1:]),
    "group_norm": lambda x: F.group_norm(x, 1),
    "batch_norm": lambda x: F.batch_norm(x, None, None, training=True),
    "batch_norm in evaluation": lambda x: F.batch_norm(
        x, torch.zeros(x.shape[1]), torch.ones(x.shape[1])
    ),
    "instance_norm": F.instance_norm,
    "cat": lambda x: torch.cat([x, x], 1),
    "cat along the first": lambda x: torch.cat([x, x]),
    "sum": lambda x: x.sum(1),
    "mean": lambda x: x.mean(0),
    "amax": lambda x: x.amax(0),
    "var": lambda x: x.var(1),
    "norm": lambda x: x.norm(dim=1),
    "logsumexp": lambda x: x.logsumexp(1, keepdim=True),
    "tril": torch.tril,
    "one_hot": lambda x: F.one_hot((x > 0).long(), 2),
    "glu": lambda x: F.glu(torch.cat([x, x], -1)),
    "cross": lambda x: torch.linalg.cross(x[:, :3], x[:, :3], dim=1),
    "sort": lambda x: x.sort(-1)[0],
    "gather": lambda x: x.gather(1, torch.zeros(*x.shape, dtype=torch.int64)),
    "linear": lambda x: F.linear(x, torch.ones(5, x.shape[-1])),
    "matmul": lambda x: x @ x.transpose(1, 2),
    "batched matmul": lambda x: torch.stack([x, x], 3).permute(3, 0, 2, 1) @ x,
    "cdist": lambda x: torch.cdist(x, x),
    "avg_pool1d": lambda x: F.avg_pool1d(x, 2),
    "max_pool1d": lambda x: F.max_pool1d(x, 2),
    "adaptive_avg_pool1d": lambda x: F.adaptive_avg_pool1d(x, 2),
    "attention": lambda x: F.scaled_dot_product_attention(x, x, x),
}

INPUTS = {
    "rows": lambda: torch.rand(2, 3, 4),
    "last two swapped": lambda: torch.rand(2, 4, 3).transpose(1, 2),
    "first two swapped": lambda: torch.rand(3, 2, 4).transpose(0, 1),
    "turned": lambda: torch.rand(3, 4, 2).permute(2, 0, 1),
    "repeated": lambda: torch.rand(2, 1, 4).expand(2, 3, 4),
    "every other": lambda: torch.rand(2, 3, 8)[:, :, ::2],
}


@pytest.mark.parametrize("order", INPUTS)
@pytest.mark.parametrize("name", FUNCTIONS)
def test_results_can_be_viewed(name: str, order: str) -> None:
    """Three times: functions remember calls with arguments of some types."""
    for requires_grad in (False, False, False, True, True, True):
        x = INPUTS[order]().requires_grad_(requires_grad)
        y, expected = FUNCTIONS[name](x), FUNCTIONS[name](x.detach().contiguous())
        assert y.is_contiguous() and y.view(-1).shape == (y.numel(),)
        torch.testing.assert_close(y.detach(), expected)
        if y.requires_grad:
            y.view(-1).sum().backward()


@pytest.mark.parametrize("order", ["repeated", "every other"])
def test_copies_of_what_has_gaps(order: str) -> None:
    x = INPUTS[order]()
    for y in (x.half(), x.double(), torch.zeros_like(x), x.to(torch.int64)):
        assert y.is_contiguous()


def test_channels_stay_last() -> None:
    x = torch.rand(2, 3, 4, 5).to(memory_format=torch.channels_last)
    for y in (torch.cat([x, x], 1), F.batch_norm(x, None, None, training=True)):
        assert y.is_contiguous(memory_format=torch.channels_last)
