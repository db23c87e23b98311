"""Connectionist temporal classification: how likely a sequence is, if it is known only what is said
and not when.

At each time a network says a label or `blank`. All ways to say the target, with repetitions and blanks
between its labels, are summed by dynamic programming in logarithms.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from .. import numpy as fnp
from ..core import aval_of
from ..errors import ShapeError
from ..errors import where as user_line
from ..numpy._arguments import host
from ..ops.exponential import logaddexp
from ..ops.index import take_along_axis
from ..ops.select import where
from ..transforms.loops import scan
from ._arguments import integers, real, require
from .losses import reduced


def ctc_tables(
    labels: Any, input_sizes: Any, target_sizes: Any, times: int, blank: int
) -> tuple[Any, ...]:
    """What `ctc_terms` needs to know of targets and lengths.

    The states of an example are its labels with blanks before, between and behind: `said` at each.
    From a state one stays, goes to the next one, or skips the one between if that is allowed. `last`
    are the two states to end in, `ends` whether both are there, `running` the times of each example.

    Shapes: ``labels: (n, s), sizes: (n,)``.

    >>> said, skips, last, ends, running = ctc_tables(
    ...     np.array([[3, 4]]), np.array([5]), np.array([2]), 5, 0
    ... )
    >>> said.tolist(), last.tolist(), skips.astype(int).tolist()
    ([[0, 3, 0, 4, 0]], [[4, 3]], [[0, 0, 0, 1, 0]])
    """
    count, longest = labels.shape
    said = np.full((count, 2 * longest + 1), blank)
    said[:, 1::2] = labels
    skips = np.zeros(said.shape, bool)
    skips[:, 2:] = said[:, 2:] != said[:, :-2]
    last = np.stack([2 * target_sizes, np.maximum(2 * target_sizes - 1, 0)], axis=1)
    ends = np.stack([np.ones(count, bool), target_sizes > 0], axis=1)
    running = np.arange(times)[:, None, None] < input_sizes[:, None]
    return said, skips, last, ends, running


def ctc_terms(
    x: Any,
    said: Any,
    skips: Any,
    last: Any,
    ends: Any,
    running: Any,
    /,
    *,
    zero_infinity: bool,
) -> Any:
    """Minus the logarithms of the probabilities of the targets that `ctc_tables` describes.

    Shapes: ``x: (t, n, c) -> (n,)``.
    Source: Graves et al., "Connectionist temporal classification", ICML 2006, section 4.1.

    >>> tables = ctc_tables(np.array([[1]]), np.array([2]), np.array([1]), 2, 0)
    >>> x = np.log(np.full((2, 1, 2), 0.5))
    >>> np.exp(ctc_terms(x, *tables, zero_infinity=False)).round(4).tolist()
    [1.3333]
    """
    spoken = take_along_axis(x, said[None], axis=2, bounds="known")
    nowhere = np.full((said.shape[0], 2), -np.inf, x.dtype)

    def step(before: Any, now: Any) -> tuple[Any, None]:
        heard, on = now
        states = fnp.concatenate([nowhere, before], axis=1)
        moved = logaddexp(before, states[:, 1:-1])
        moved = logaddexp(moved, where(skips, states[:, :-2], -np.inf))
        return where(on, moved + heard, before), None

    start = np.full(said.shape, -np.inf, x.dtype)
    start[:, 0] = 0  # a blank that nobody has heard
    found, _ = scan(step, start, (spoken, running))
    found = where(ends, take_along_axis(found, last, axis=1, bounds="known"), -np.inf)
    losses = -logaddexp(found[:, 0], found[:, 1])
    return where(fnp.isinf(losses), 0, losses) if zero_infinity else losses


def ctc_loss(
    log_probabilities: Any,
    labels: Any,
    input_lengths: Any,
    label_lengths: Any,
    *,
    blank: int = 0,
    zero_infinity: bool = False,
    reduction: str = "mean",
) -> Any:
    """Minus the logarithm of the probability of each target; the mean is of losses per label.

    A target longer than its input allows has probability 0: its loss is infinite, or 0 with
    `zero_infinity`; the gradient is 0. What stands behind the lengths does not matter.

    Shapes: ``log_probabilities: (t, n, c), labels: (n, s), lengths: (n,) -> (n,)``, reduced to ``()``.
    Dtypes: real; labels and lengths integers, which must be known while tracing.
    Derivative: that of the formula.
    Raises: ShapeError: the shapes do not fit. ArgumentError: a length or a label is out of range, or
    no such reduction. ConcretizationError: labels or lengths are traced.
    Source: Graves et al., "Connectionist temporal classification", ICML 2006, section 4.1.

    >>> x = np.log(np.full((2, 1, 2), 0.5))
    >>> float(np.exp(ctc_loss(x, [[1]], [2], [1])).round(4))  # 1 / P("-a", "a-" or "aa")
    1.3333
    """
    x = real("ctc_loss", log_probabilities)
    labels, ins, outs = (
        host("nn.ctc_loss", what, integers("ctc_loss", what, given))
        for what, given in (
            ("labels", labels),
            ("input_lengths", input_lengths),
            ("label_lengths", label_lengths),
        )
    )
    aval = aval_of(x)
    if (
        aval.ndim != 3
        or labels.ndim != 2
        or {labels.shape[:1], ins.shape, outs.shape} != {aval.shape[1:2]}
    ):
        raise ShapeError(
            f"nn.ctc_loss: log_probabilities {aval}, labels {list(labels.shape)}, lengths "
            f"{list(ins.shape)} and {list(outs.shape)}; need (t, n, c), (n, s), (n,), (n,){user_line()}"
        )
    times, _, classes = aval.shape
    _require_range("input_lengths", ins, times + 1)
    _require_range("label_lengths", outs, labels.shape[1] + 1)
    _require_range("blank", np.asarray(blank), classes)
    labels = np.where(np.arange(labels.shape[1]) < outs[:, None], labels, blank)
    _require_range("labels", labels, classes)
    tables = ctc_tables(labels, ins, outs, times, blank)
    losses = ctc_terms(x, *tables, zero_infinity=zero_infinity)
    if reduction == "mean":
        losses = losses / np.maximum(outs, 1).astype(aval.dtype)
    return reduced("ctc_loss", losses, reduction)


def _require_range(what: str, found: Any, end: int) -> None:
    inside = (found >= 0) & (found < end)
    require(inside, "ctc_loss", what, found.tolist(), f"at least 0 and less than {end}")
