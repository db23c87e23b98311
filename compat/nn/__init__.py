"""Neural networks: modules with parameters, their layers and losses, and how they start.

>>> import compat as torch
>>> model = torch.nn.Sequential(torch.nn.Linear(2, 3), torch.nn.Tanh(), torch.nn.Linear(3, 1))
>>> loss = torch.nn.MSELoss()(model(torch.ones(4, 2)), torch.zeros(4, 1))
>>> loss.backward()
>>> [tuple(p.grad.shape) for p in model.parameters()]
[(3, 2), (3,), (1, 3), (1,)]
"""

from .._missing import explain as _explain_missing
from ..parameter import Parameter
from . import functional, init, utils
from .activation import LogSoftmax, ReLU, Sigmoid, Softmax, Tanh
from .container import ModuleDict, ModuleList, ParameterDict, ParameterList, Sequential
from .dropout import Dropout
from .linear import Identity, Linear
from .loss import BCELoss, BCEWithLogitsLoss, CrossEntropyLoss, L1Loss, MSELoss, NLLLoss
from .module import Module
from .normalization import BatchNorm1d

_explain_missing("torch.nn", globals())

__all__ = [
    "BCELoss",
    "BCEWithLogitsLoss",
    "BatchNorm1d",
    "CrossEntropyLoss",
    "Dropout",
    "Identity",
    "L1Loss",
    "Linear",
    "LogSoftmax",
    "MSELoss",
    "Module",
    "ModuleDict",
    "ModuleList",
    "NLLLoss",
    "Parameter",
    "ParameterDict",
    "ParameterList",
    "ReLU",
    "Sequential",
    "Sigmoid",
    "Softmax",
    "Tanh",
    "functional",
    "init",
    "utils",
]
