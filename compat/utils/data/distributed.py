"""`DistributedSampler`: each of several processes its part of the examples."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sized
from typing import Any

from ... import distributed
from ...ops.generator import Generator
from ...ops.random import randperm
from .samplers import Sampler


class DistributedSampler(Sampler[int]):
    """Every `num_replicas`-th index from `rank` on, of an order that all of them share.

    So that the parts are equally long some indices come twice, or with `drop_last` the last ones not
    at all. `set_epoch` gives another order.

    Raises: RuntimeError: `num_replicas` or `rank` is left to `torch.distributed`. ValueError: `rank`
    is none of theirs.
    """

    def __init__(
        self,
        dataset: Sized,
        num_replicas: int | None = None,
        rank: int | None = None,
        shuffle: bool = True,
        seed: int = 0,
        drop_last: bool = False,
    ) -> None:
        if (num_replicas is None or rank is None) and not distributed.is_available():
            raise RuntimeError("Requires distributed package to be available")
        replicas: Any = num_replicas
        place: Any = rank
        if not 0 <= place < replicas:
            raise ValueError(
                f"Invalid rank {rank}, rank should be in the interval [0, {replicas - 1}]"
            )
        self.dataset = dataset
        self.num_replicas: int = replicas
        self.rank: int = place
        self.epoch = 0
        self.shuffle = shuffle
        self.seed = seed
        self.drop_last = drop_last
        count = len(dataset)
        self.num_samples = count // replicas if drop_last else math.ceil(count / replicas)
        self.total_size = self.num_samples * replicas

    def __iter__(self) -> Iterator[int]:
        count = len(self.dataset)
        indices = list(range(count))
        if self.shuffle:
            generator = Generator()
            generator.manual_seed(self.seed + self.epoch)
            indices = randperm(count, generator=generator).tolist()
        short = self.total_size - count
        if short > 0:
            indices += (indices * math.ceil(short / count))[:short]
        return iter(indices[self.rank : self.total_size : self.num_replicas])

    def __len__(self) -> int:
        return self.num_samples

    def set_epoch(self, epoch: int) -> None:
        """The order of another epoch."""
        self.epoch = epoch
