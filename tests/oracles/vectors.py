"""Vectors of flipped bits, shuffled: all multisets that can arrive, from the definition."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from fractions import Fraction
from itertools import product

Word = tuple[int, ...]


def word_of(items: Iterable[int], domain_size: int) -> Word:
    """Return ones at the items, noughts elsewhere."""
    held = set(items)
    return tuple(int(item in held) for item in range(domain_size))


def shuffled_words(words: Sequence[Word], flip: Fraction | float) -> Counter[Word]:
    """Return the law of how often each vector arrives if every bit of every word is flipped with probability `flip`."""
    outputs = list(product((0, 1), repeat=len(words[0])))
    law: Counter[Word] = Counter({(0,) * len(outputs): Fraction(1) if isinstance(flip, Fraction) else 1.0})
    for word in words:
        longer: Counter[Word] = Counter()
        for number, output in enumerate(outputs):
            flips = sum(sent != held for sent, held in zip(output, word, strict=True))
            chance = flip**flips * (1 - flip) ** (len(word) - flips)
            for counts, before in law.items():
                longer[(*counts[:number], counts[number] + 1, *counts[number + 1 :])] += before * chance
        law = longer
    return law
