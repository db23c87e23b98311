"""As much of torchvision as `mnist.py` imports, so that it runs where torchvision is not."""

from . import datasets as datasets
from . import transforms as transforms
