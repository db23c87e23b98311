"""`DataParallel`: batches spread over GPUs; without several it is the module."""

from __future__ import annotations

from typing import Any

from ... import cuda
from ..module import Module


class DataParallel(Module):
    """A module under the name `module`, called as it is where there is no GPU or one.

    >>> import compat as torch
    >>> model = DataParallel(torch.nn.Linear(2, 1))
    >>> list(model.state_dict())
    ['module.weight', 'module.bias']

    Raises: NotImplementedError: it would be spread over several GPUs.
    """

    def __init__(
        self, module: Module, device_ids: Any = None, output_device: Any = None, dim: int = 0
    ) -> None:
        super().__init__()
        if cuda.device_count() > 1 and (device_ids is None or len(device_ids) > 1):
            raise NotImplementedError(
                "DataParallel over several GPUs is not offered here; pass device_ids=[0] for one."
            )
        self.module = module
        self.device_ids: list[Any] = []
        self.dim = dim

    def forward(self, *inputs: Any, **kwargs: Any) -> Any:
        return self.module(*inputs, **kwargs)
