"""`torch.nn.parallel` on one device: wrappers that call the module they wrap."""

from .data_parallel import DataParallel
from .distributed import DistributedDataParallel

__all__ = ["DataParallel", "DistributedDataParallel"]
