"""`torch.nn.parallel` on one device: wrappers that call the module they wrap."""

from .data_parallel import DataParallel
from .distributed import DistributedDataParallel
from .scatter_gather import gather, scatter

__all__ = ["DataParallel", "DistributedDataParallel", "gather", "scatter"]
