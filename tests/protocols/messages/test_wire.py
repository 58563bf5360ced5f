"""The test vectors of docs/: a second client, written from docs/wire.md alone, sends the same messages."""

import json
import math
from fractions import Fraction

import pytest
from wire import vectors

from segshuffle.blankets.named import laws


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
def written(root):
    return (root / "docs/vectors.json").read_text(encoding="utf-8")


def test_vectors_are_what_clients_send(written):
    assert written == vectors(), "python tests/wire.py > docs/vectors.json"


def test_a_client_written_from_the_document_sends_the_same(written):
    clients = [SecondClient(entry) for entry in json.loads(written)]
    for client in clients:
        assert client.send() == client.entry["messages"], client.entry["name"]
        assert client.left == b""
    assert sum(client.capped for client in clients) > 0
    assert {client.scheme["law"]["name"] for client in clients} == set(laws())


def test_every_law_and_parameter_is_documented(root):
    text = (root / "docs/wire.md").read_text(encoding="utf-8")
    for name, law in laws().items():
        (row,) = [line for line in text.splitlines() if line.startswith(f"| `{name}` |")]
        assert all(f"`{parameter}`" in row for parameter in law.parameters())
