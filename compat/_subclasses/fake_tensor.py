"""`torch._subclasses.fake_tensor`: code is traced with values that funcgrad knows, not with these."""

from __future__ import annotations

from .._tensor import Tensor


class FakeTensor(Tensor):
    """A tensor that has a shape but no numbers. There are none here."""


def is_fake(x: object) -> bool:
    """False, unless `x` is one."""
    return isinstance(x, FakeTensor)
