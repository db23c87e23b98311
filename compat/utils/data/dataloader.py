"""`torch.utils.data.dataloader`: where PyTorch's code has the `DataLoader`."""

from collections.abc import Callable, Iterator
from typing import Any

from .collate import default_collate as default_collate
from .collate import default_convert as default_convert
from .loader import DataLoader as DataLoader
from .workers import ParallelIterator
from .workers import get_worker_info as get_worker_info

_collate_fn_t = Callable[[list[Any]], Any]
_BaseDataLoaderIter = Iterator
_MultiProcessingDataLoaderIter = ParallelIterator
