"""Data sets, samplers and the `DataLoader`.

>>> import compat as torch
>>> from compat.utils.data import DataLoader, TensorDataset
>>> for x, y in DataLoader(TensorDataset(torch.arange(3.0), torch.arange(3)), batch_size=2):
...     print(x, y)
tensor([0., 1.]) tensor([0, 1])
tensor([2.]) tensor([2])
"""

from ..._missing import explain as _explain_missing
from . import dataloader as dataloader
from . import dataset as dataset
from . import sampler as sampler
from .collate import default_collate, default_convert
from .datasets import (
    ChainDataset,
    ConcatDataset,
    Dataset,
    IterableDataset,
    StackDataset,
    Subset,
    TensorDataset,
    random_split,
)
from .distributed import DistributedSampler
from .loader import DataLoader
from .samplers import (
    BatchSampler,
    RandomSampler,
    Sampler,
    SequentialSampler,
    SubsetRandomSampler,
    WeightedRandomSampler,
)
from .workers import get_worker_info

__all__ = [
    "BatchSampler",
    "ChainDataset",
    "ConcatDataset",
    "DataLoader",
    "Dataset",
    "DistributedSampler",
    "IterableDataset",
    "RandomSampler",
    "Sampler",
    "SequentialSampler",
    "StackDataset",
    "Subset",
    "SubsetRandomSampler",
    "TensorDataset",
    "WeightedRandomSampler",
    "default_collate",
    "default_convert",
    "get_worker_info",
    "random_split",
]

_explain_missing("torch.utils.data", globals())
