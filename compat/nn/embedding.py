"""Tables of vectors, one for each word."""

from __future__ import annotations

from typing import Any, TypeVar

from ..autograd import no_grad
from ..ops.create import empty
from ..parameter import Parameter
from . import functional as F
from . import init
from .embedding_functions import embedding_bag
from .module import Module

_E = TypeVar("_E", bound="_Table")


class _Table(Module):
    """A matrix `weight` of normal numbers, with a row for each word; that of `padding_idx` is 0."""

    num_embeddings: int
    embedding_dim: int
    padding_idx: int | None

    def _start(
        self, padding_idx: int | None, sparse: bool, weight: Any, freeze: bool, **kind: Any
    ) -> None:
        """Make or take the matrix.

        Raises: AssertionError: `padding_idx` is no row, or `weight` has another shape.
        NotImplementedError: sparse gradients.
        """
        if sparse:
            raise NotImplementedError(
                f"{type(self).__name__}: sparse gradients are not implemented; leave sparse=False"
            )
        rows, shape = self.num_embeddings, (self.num_embeddings, self.embedding_dim)
        if padding_idx is not None and not (padding_idx == 0 or -rows <= padding_idx < rows):
            raise AssertionError("padding_idx must be within num_embeddings")
        self.padding_idx = None if padding_idx is None else padding_idx % max(rows, 1)
        self.sparse = sparse
        if weight is not None:
            if tuple(weight.shape) != shape:
                raise AssertionError(
                    "Shape of weight does not match num_embeddings and embedding_dim"
                )
            self.weight = Parameter(weight, requires_grad=not freeze)
            return
        self.weight = Parameter(empty(shape, **kind), requires_grad=not freeze)
        self.reset_parameters()

    def reset_parameters(self) -> None:
        """Draw the matrix anew."""
        init.normal_(self.weight)
        if self.padding_idx is not None:
            with no_grad():
                self.weight[self.padding_idx].fill_(0)

    @classmethod
    def _of(cls: type[_E], embeddings: Any, **options: Any) -> _E:
        """With the given matrix. Raises: AssertionError: it is none."""
        if embeddings.dim() != 2:
            raise AssertionError("Embeddings parameter is expected to be 2-dimensional")
        rows, columns = embeddings.shape
        return cls(num_embeddings=rows, embedding_dim=columns, _weight=embeddings, **options)


class Embedding(_Table):
    """The rows of `weight`, which start as normal numbers, that the input counts.

    The row `padding_idx` starts as 0 and gets no gradient. Rows longer than `max_norm`, by the norm
    of order `norm_type`, are made shorter when they are taken. `scale_grad_by_freq`: a row's
    gradient is divided by how often it is taken.

    Shapes: ``(*) -> (*, embedding_dim)``.
    Raises: AssertionError: `padding_idx` is no row. NotImplementedError: sparse gradients.

    >>> import compat as torch
    >>> Embedding(10, 3)(torch.tensor([[1, 2], [1, 9]])).shape
    torch.Size([2, 2, 3])
    """

    def __init__(
        self,
        num_embeddings: int,
        embedding_dim: int,
        padding_idx: int | None = None,
        max_norm: float | None = None,
        norm_type: float = 2.0,
        scale_grad_by_freq: bool = False,
        sparse: bool = False,
        _weight: Any = None,
        _freeze: bool = False,
        device: Any = None,
        dtype: Any = None,
    ) -> None:
        super().__init__()
        self.num_embeddings = num_embeddings
        self.embedding_dim = embedding_dim
        self.max_norm = max_norm
        self.norm_type = norm_type
        self.scale_grad_by_freq = scale_grad_by_freq
        self._start(padding_idx, sparse, _weight, _freeze, device=device, dtype=dtype)

    def forward(self, input: Any) -> Any:
        return F.embedding(
            input,
            self.weight,
            self.padding_idx,
            self.max_norm,
            self.norm_type,
            self.scale_grad_by_freq,
            self.sparse,
        )

    def extra_repr(self) -> str:
        shown = [f"{self.num_embeddings}", f"{self.embedding_dim}"]
        defaults = {"padding_idx": None, "max_norm": None, "norm_type": 2}
        for name, usual in {**defaults, "scale_grad_by_freq": False}.items():
            if getattr(self, name) != usual:
                shown.append(f"{name}={getattr(self, name)}")
        return ", ".join(shown)

    @classmethod
    def from_pretrained(
        cls,
        embeddings: Any,
        freeze: bool = True,
        padding_idx: int | None = None,
        max_norm: float | None = None,
        norm_type: float = 2.0,
        scale_grad_by_freq: bool = False,
        sparse: bool = False,
    ) -> Embedding:
        """With the given matrix, which is not learnt if `freeze`.

        Raises: AssertionError: it is none.

        >>> import compat as torch
        >>> Embedding.from_pretrained(torch.tensor([[1.0, 2.0], [3.0, 4.0]]))(torch.tensor(1))
        tensor([3., 4.])
        """
        return cls._of(
            embeddings,
            _freeze=freeze,
            padding_idx=padding_idx,
            max_norm=max_norm,
            norm_type=norm_type,
            scale_grad_by_freq=scale_grad_by_freq,
            sparse=sparse,
        )


class EmbeddingBag(_Table):
    """Sums, means or maxima of the rows of `weight` that are in one bag.

    See `functional.embedding_bag` for bags and options, and `Embedding` for the matrix.

    Raises: AssertionError: `padding_idx` is no row. NotImplementedError: sparse gradients.

    >>> import compat as torch
    >>> bags = EmbeddingBag(10, 3, mode="sum")
    >>> bags(torch.tensor([1, 2, 4, 5]), torch.tensor([0, 3])).shape
    torch.Size([2, 3])
    """

    def __init__(
        self,
        num_embeddings: int,
        embedding_dim: int,
        max_norm: float | None = None,
        norm_type: float = 2.0,
        scale_grad_by_freq: bool = False,
        mode: str = "mean",
        sparse: bool = False,
        _weight: Any = None,
        include_last_offset: bool = False,
        padding_idx: int | None = None,
        device: Any = None,
        dtype: Any = None,
    ) -> None:
        super().__init__()
        self.num_embeddings = num_embeddings
        self.embedding_dim = embedding_dim
        self.max_norm = max_norm
        self.norm_type = norm_type
        self.scale_grad_by_freq = scale_grad_by_freq
        self.mode = mode
        self.include_last_offset = include_last_offset
        self._start(padding_idx, sparse, _weight, False, device=device, dtype=dtype)

    def forward(self, input: Any, offsets: Any = None, per_sample_weights: Any = None) -> Any:
        return embedding_bag(
            input,
            self.weight,
            offsets,
            self.max_norm,
            self.norm_type,
            self.scale_grad_by_freq,
            self.mode,
            self.sparse,
            per_sample_weights,
            self.include_last_offset,
            self.padding_idx,
        )

    def extra_repr(self) -> str:
        shown = [f"{self.num_embeddings}", f"{self.embedding_dim}"]
        defaults = {"max_norm": None, "norm_type": 2, "scale_grad_by_freq": False, "mode": None}
        for name, usual in {**defaults, "padding_idx": None}.items():
            if getattr(self, name) != usual:
                shown.append(f"{name}={getattr(self, name)!r}")
        return ", ".join(shown)

    @classmethod
    def from_pretrained(
        cls,
        embeddings: Any,
        freeze: bool = True,
        max_norm: float | None = None,
        norm_type: float = 2.0,
        scale_grad_by_freq: bool = False,
        mode: str = "mean",
        sparse: bool = False,
        include_last_offset: bool = False,
        padding_idx: int | None = None,
    ) -> EmbeddingBag:
        """With the given matrix, which is not learnt if `freeze`.

        Raises: AssertionError: it is none.
        """
        found = cls._of(
            embeddings,
            max_norm=max_norm,
            norm_type=norm_type,
            scale_grad_by_freq=scale_grad_by_freq,
            mode=mode,
            sparse=sparse,
            include_last_offset=include_last_offset,
            padding_idx=padding_idx,
        )
        found.weight.requires_grad = not freeze
        return found


__all__ = ["Embedding", "EmbeddingBag"]
