"""Optimizers: they change parameters in place, from the gradients in `.grad`.

>>> import compat as torch
>>> x = torch.tensor([4.0], requires_grad=True)
>>> optimizer = torch.optim.SGD([x], lr=0.1)
>>> (x * x).sum().backward()
>>> optimizer.step()
>>> x
tensor([3.2000], requires_grad=True)
"""

import sys as _sys

from .._files import file_of as _file_of
from .._missing import explain as _explain_missing
from . import lr_scheduler, swa_utils
from .adam import Adam, AdamW
from .lbfgs import LBFGS
from .moments import Adamax, NAdam, RAdam
from .optimizer import Optimizer
from .others import ASGD, Adafactor, Muon
from .scaled import Adadelta, Adagrad, RMSprop, Rprop
from .sgd import SGD

# PyTorch has a file for each class; those of `Adam`, `SGD` and `LBFGS` are here as well.
for _name in [
    "ASGD",
    "Adadelta",
    "Adagrad",
    "AdamW",
    "Adamax",
    "NAdam",
    "RAdam",
    "RMSprop",
    "Rprop",
]:
    globals()[_name.lower()] = _file_of(
        __name__, _name.lower(), [(_sys.modules[__name__], f"{_name} Optimizer")]
    )

_explain_missing("torch.optim", globals())

__all__ = [
    "ASGD",
    "LBFGS",
    "SGD",
    "Adadelta",
    "Adafactor",
    "Adagrad",
    "Adam",
    "AdamW",
    "Adamax",
    "Muon",
    "NAdam",
    "Optimizer",
    "RAdam",
    "RMSprop",
    "Rprop",
    "lr_scheduler",
    "swa_utils",
]
