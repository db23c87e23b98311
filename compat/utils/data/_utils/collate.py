"""`torch.utils.data._utils.collate`: under the name that it has in PyTorch's code."""

import re

from ..collate import default_collate as default_collate
from ..collate import default_convert as default_convert

np_str_obj_array_pattern = re.compile(
    "[SaUO]"
)  # of the names of NumPy's dtypes that are no numbers
