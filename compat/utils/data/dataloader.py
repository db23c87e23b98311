"""`torch.utils.data.dataloader`: where PyTorch's code has the `DataLoader`."""

from .collate import default_collate as default_collate
from .collate import default_convert as default_convert
from .loader import DataLoader as DataLoader
from .workers import get_worker_info as get_worker_info
