"""The test vectors of docs/: this package's client and a second one, written from docs/wire.md alone, send the same."""

import io
import json
import math
from fractions import Fraction

import pytest

from segshuffle.blankets.exact import uniform
from segshuffle.blankets.named import laws
from segshuffle.protocols.messages import Client, Demand
from segshuffle.protocols.messages.message_lines import lines_of
from segshuffle.protocols.scheme import Scheme


class SecondClient:
    """A client as docs/wire.md describes it; attributes have the names of the document."""

    def __init__(self, entry):
        self.entry, self.scheme = entry, entry["scheme"]
        self.left = bytes.fromhex(entry["bytes"])
        self.d = self.scheme["domain_size"]
        self.capped = 0

    def number(self, n):
        b = len(f"{n - 1:b}") if n > 1 else 0
        while True:
            size = math.ceil(b / 8)
            taken, self.left = self.left[:size], self.left[size:]
            digits = "".join(f"{byte:08b}" for byte in taken)[:b]
            if (found := int(digits or "0", 2)) < n:
                return found

    def chance(self, x, y):
        return self.number(y) < x

    def shuffled(self, values):
        for i in range(len(values) - 1, 0, -1):
            j = self.number(i + 1)
            values[i], values[j] = values[j], values[i]
        return values

    def count(self, odds, first, growth):
        pieces, total = math.ceil(first), 0
        for _ in range(pieces):
            x, y = (first / pieces).as_integer_ratio()
            while True:
                k = 0
                while self.chance(*odds.as_integer_ratio()):
                    k += 1
                if all(self.chance(x + growth * j * y, (j + 1) * y) for j in range(k)):
                    break
            total += k
        return total

    def units(self, mean, p):
        if p == 0:
            return [self.number(self.d) for _ in range(self.count(Fraction(1, 2), 2 * mean, 0))]
        r, places = mean * (1 - p) / p, []
        for e in range(self.count(p, r, 1)):
            joins = self.chance(*(e / (r + e)).as_integer_ratio())
            places.append(places[self.number(e)] if joins else self.number(self.d))
        return places

    def dummies(self):
        m, law = Fraction(self.scheme["blanket_per_user"]), self.scheme["law"]
        if law["name"] == "poisson":
            return [f"{place}" for place in self.units(m, Fraction(0))]
        if law["name"] == "clustered":
            return [f"{place}" for place in self.units(m, Fraction(law["p"]))]
        flood, lines = Fraction(law["flood"]), []
        for sign in "+-":
            lines += [f"{sign}{place}" for place in self.units((1 - flood) * m / 2, Fraction(law["p"]))]
        both = self.units(flood * m / 2, Fraction(law["flood_p"]))
        return lines + [f"+{place}" for place in both] + [f"-{place}" for place in both]

    def send(self):
        items, a = list(self.entry["items"]), Fraction(self.scheme["copies"][self.entry["level"]])
        if len(items) > self.scheme["set_size"]:
            items = self.shuffled(items)[: self.scheme["set_size"]]
        sign, own = "+" if self.scheme["law"]["name"] == "signed" else "", []
        for item in items:
            own += [f"{sign}{item}"] * (math.floor(a) + self.chance(*(a - math.floor(a)).as_integer_ratio()))
        cap = self.scheme["blanket_cap"]
        while len(dummies := self.dummies()) > (math.inf if cap is None else cap):
            self.capped += 1
        return self.shuffled(own + dummies)


@pytest.fixture(scope="module")
def vectors(root):
    return json.loads((root / "docs/vectors.json").read_text(encoding="utf-8"))


def test_both_clients_send_the_messages_of_every_vector(vectors):
    capped = 0
    for entry in vectors:
        scheme, taken = Scheme.from_dict(entry["scheme"]), io.BytesIO(bytes.fromhex(entry["bytes"]))
        client = Client(entry["items"], entry["level"], Demand(1.0, 0.5, 1), uniform(taken.read))
        assert lines_of(client.draw_unchecked(scheme), scheme).splitlines() == entry["messages"], entry["name"]
        second = SecondClient(entry)
        assert second.send() == entry["messages"], entry["name"]
        assert second.left == b"", "all bytes are used"
        capped += second.capped
    assert capped > 0
    assert {entry["scheme"]["law"]["name"] for entry in vectors} == set(laws())


def test_every_law_and_parameter_is_documented(root):
    text = (root / "docs/wire.md").read_text(encoding="utf-8")
    for name, law in laws().items():
        (row,) = [line for line in text.splitlines() if line.startswith(f"| `{name}` |")]
        assert all(f"`{parameter}`" in row for parameter in law.parameters())
