"""The text that the language models learn: Python's own documentation, which comes with Python."""

from __future__ import annotations

from pydoc_data.topics import topics
from typing import Any

import compat as torch


class Text:
    """The documentation as one tensor of character numbers, the last tenth held out.

    Characters are numbered in sorted order; what a Python version has besides printable ASCII and
    line ends is left out, so that all versions have the same characters.
    """

    def __init__(self) -> None:
        whole = "".join(topics[key] for key in sorted(topics))
        self.characters = "\n" + "".join(map(chr, range(32, 127)))
        self._numbers = {c: i for i, c in enumerate(self.characters)}
        data = self.encode("".join(c for c in whole if c in self._numbers))
        count = len(data) * 9 // 10
        self.train, self.test = data[:count], data[count:]

    def __len__(self) -> int:
        """How many different characters there are."""
        return len(self.characters)

    def encode(self, text: str) -> Any:
        """The numbers of the characters of `text`. Shapes: () -> (n,)."""
        return torch.tensor([self._numbers[c] for c in text])

    def decode(self, numbers: Any) -> str:
        """The characters of a vector of numbers."""
        return "".join(self.characters[i] for i in numbers.tolist())


def random_batch(data: Any, batch: int, length: int) -> tuple[Any, Any]:
    """Pieces of `data` from random places, and the same pieces one character further.

    Shapes: (n,) -> (batch, length), (batch, length).
    """
    starts = torch.randint(len(data) - length, (batch, 1))
    places = starts + torch.arange(length)
    return data[places], data[places + 1]


def in_order(data: Any, length: int) -> tuple[Any, Any]:
    """All of `data` cut into pieces, and the same one character further; what is left is dropped.

    Shapes: (n,) -> (m, length), (m, length) with ``m = (n - 1) // length``.
    """
    count = (len(data) - 1) // length * length
    return data[:count].reshape(-1, length), data[1 : count + 1].reshape(-1, length)


def pick(logits: Any, temperature: float) -> Any:
    """One character for each row, drawn from the softmax. Shapes: (n, c) -> (n, 1)."""
    return torch.multinomial(torch.softmax(logits / temperature, dim=-1), 1)
