"""The test vectors of docs/: this package's client and a second one, written from docs/wire.md alone, send the same."""

import io
import json
import math
from fractions import Fraction

import pytest

from segshuffle.blankets.exact import uniform
from segshuffle.blankets.named import laws
from segshuffle.collection.messages import Client, Demand
from segshuffle.collection.messages.message_lines import lines_of
from segshuffle.errors import ParameterError
from segshuffle.plans.scheme import Scheme

#: The table of laws in docs/wire.md: the signs of a unit, its mean per user and its cluster parameter, for every part.
PARTS = {
    "poisson": lambda m: [([""], m, Fraction(0))],
    "clustered": lambda m, p: [([""], m, p)],
    "signed": lambda m, p, flood_p, flood: [
        (["+"], (1 - flood) * m / 2, p),
        (["-"], (1 - flood) * m / 2, p),
        (["+", "-"], flood * m / 2, flood_p),
    ],
}
#: The least and the largest value of parameters, and whether these two are allowed.
RANGES = {
    ("clustered", "p"): (0, 0.99, False, True),
    ("signed", "p"): (0, 0.99, True, True),
    ("signed", "flood_p"): (0, 0.99, True, True),
    ("signed", "flood"): (0, 1, False, False),
}


class SecondClient:
    """A client as docs/wire.md describes it; attributes have the names of the document."""

    def __init__(self, entry):
        self.entry, self.scheme = entry, entry["scheme"]
        self.left = bytes.fromhex(entry["bytes"])
        self.d = self.scheme["domain_size"]
        self.capped = 0

    def bits(self, taken, b):
        return f"{int.from_bytes(taken, 'big'):0{8 * len(taken)}b}"[:b]

    def number(self, n):
        b = len(f"{n - 1:b}") if n > 1 else 0
        while True:
            size = math.ceil(b / 8)
            taken, self.left = self.left[:size], self.left[size:]
            assert len(taken) == size, "no bytes are left"
            if (found := int(self.bits(taken, b) if b else "0", 2)) < n:
                return found

    def chance(self, x, y):
        return self.number(y) < x

    def event(self, fraction):
        """Return whether an event happens whose chance is a fraction in lowest terms."""
        return self.chance(*fraction.as_integer_ratio())

    def shuffled(self, values):
        for i in range(len(values) - 1, 0, -1):
            j = self.number(i + 1)
            values[i], values[j] = values[j], values[i]
        return values

    def chosen(self, items):
        return self.shuffled(items)[: self.scheme["set_size"]] if len(items) > self.scheme["set_size"] else items

    def count(self, odds, first, growth):
        pieces, total = math.ceil(first), 0
        for _ in range(pieces):
            x, y = (first / pieces).as_integer_ratio()
            while True:
                k = 0
                while self.event(odds):
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
            places.append(places[self.number(e)] if self.event(e / (r + e)) else self.number(self.d))
        return places

    def lines(self, places, signs):
        return [f"{sign}{place}" for sign in signs for place in places]

    def law(self):
        """Return the name and the parameters of a law, if these are in their ranges."""
        parameters = {name: Fraction(value) for name, value in self.scheme["law"].items() if name != "name"}
        name = self.scheme["law"]["name"]
        for parameter, value in parameters.items():
            least, most, from_least, to_most = RANGES.get((name, parameter), (0, math.inf, True, True))
            if not (least <= value <= most and (from_least or value > least) and (to_most or value < most)):
                raise ValueError(parameter)
        return name, parameters

    def parts(self):
        name, parameters = self.law()
        if self.scheme["blanket_cap"] is not None and name != "poisson":
            raise ValueError("blanket_cap")
        return PARTS[name](Fraction(self.scheme["blanket_per_user"]), **parameters)

    def dummies(self):
        return [line for signs, mean, p in self.parts() for line in self.lines(self.units(mean, p), signs)]

    def above(self, number, cap):
        return cap is not None and number > cap

    def send(self):
        a, own = Fraction(self.scheme["copies"][self.entry["level"]]), []
        sign = self.parts()[0][0][0]
        for item in self.chosen([*self.entry["items"]]):
            own += [f"{sign}{item}"] * (math.floor(a) + self.event(a - math.floor(a)))
        while self.above(len(dummies := self.dummies()), self.scheme["blanket_cap"]):
            self.capped += 1
        return self.shuffled(own + dummies)


class LeavesTheUrn(SecondClient):
    """Does not reduce the chance to join an earlier unit."""

    def units(self, mean, p):
        r, places = mean * (1 - p) / p if p else None, []
        if p == 0:
            return super().units(mean, p)
        x, y = r.as_integer_ratio()
        for e in range(self.count(p, r, 1)):
            places.append(places[self.number(e)] if self.chance(e * y, x + e * y) else self.number(self.d))
        return places


class ReducesFractions(SecondClient):
    """Has every fraction in lowest terms."""

    def chance(self, x, y):
        return super().chance(*Fraction(x, y).as_integer_ratio())


class KeepsTheFirst(SecondClient):
    """Keeps the first items of a user who holds more than s."""

    def chosen(self, items):
        return items[: self.scheme["set_size"]]


class SortsItems(SecondClient):
    """Sends the items in the order of their numbers."""

    def chosen(self, items):
        return super().chosen(sorted(items))


class Interleaves(SecondClient):
    """Appends both messages of a unit together."""

    def lines(self, places, signs):
        return [f"{sign}{place}" for place in places for sign in signs]


class RoundsDraws(SecondClient):
    """Has only numbers of 53 binary digits."""

    def chance(self, x, y):
        return float(self.number(y)) < float(x)


class TakesLowBits(SecondClient):
    """Takes the last bits of the bytes instead of the first."""

    def bits(self, taken, b):
        return super().bits(taken, 8 * len(taken))[-b:]


class IgnoresParameters(SecondClient):
    """Leaves out a parameter that it does not know."""

    def parts(self):
        poisson = self.scheme["law"]["name"] == "poisson"
        return PARTS["poisson"](Fraction(self.scheme["blanket_per_user"])) if poisson else super().parts()


class TakesMissingForZero(SecondClient):
    """Takes a parameter that is missing for 0."""

    def law(self):
        name, parameters = super().law()
        return name, {each: Fraction(0) for law, each in RANGES if law == name} | parameters


class IgnoresRanges(SecondClient):
    """Accepts every value of a parameter."""

    def law(self):
        law = self.scheme["law"]
        return law["name"], {name: Fraction(value) for name, value in law.items() if name != "name"}


class CapsEveryLaw(SecondClient):
    """Accepts a cap with every law."""

    def parts(self):
        name, parameters = self.law()
        return PARTS[name](Fraction(self.scheme["blanket_per_user"]), **parameters)


class AppendsPlusesFirst(SecondClient):
    """Appends the messages with a plus of all parts, and only then those with a minus."""

    def dummies(self):
        return sorted(super().dummies(), key=lambda line: line.startswith("-"))


class TakesNothingForCertain(SecondClient):
    """Takes no bytes for what surely happens."""

    def chance(self, x, y):
        return x >= y or super().chance(x, y)


class CapsOneEarlier(SecondClient):
    """Draws again if there are as many dummies as the cap."""

    def above(self, number, cap):
        return cap is not None and number >= cap


WRONG = SecondClient.__subclasses__()


def verdict(client):
    """Return the messages that a client sends, or None if it refuses or fails."""
    try:
        return client.send()
    except (KeyError, TypeError, ValueError, AssertionError, ZeroDivisionError):
        return None


@pytest.fixture(scope="module")
def vectors(root):
    return json.loads((root / "docs/vectors.json").read_text(encoding="utf-8"))


def test_both_clients_send_the_messages_of_every_vector(vectors):
    capped = 0
    for entry in vectors:
        second = SecondClient(entry)
        if entry["messages"] is None:
            with pytest.raises(ParameterError):
                Scheme.from_dict(entry["scheme"])
            with pytest.raises((KeyError, TypeError, ValueError)):
                second.send()
            continue
        scheme, taken = Scheme.from_dict(entry["scheme"]), io.BytesIO(bytes.fromhex(entry["bytes"]))
        client = Client(entry["items"], entry["level"], Demand(1.0, 0.5, 1), uniform(taken.read))
        assert lines_of(client.draw_unchecked(scheme), scheme).splitlines() == entry["messages"], entry["name"]
        assert second.send() == entry["messages"], entry["name"]
        assert second.left == b"", "all bytes are used"
        capped += second.capped
    assert capped > 0
    assert {entry["scheme"]["law"]["name"] for entry in vectors if entry["messages"] is not None} == set(laws())


@pytest.mark.parametrize("wrong", WRONG)
def test_a_wrong_client_fails_at_a_vector(vectors, wrong):
    assert any(verdict(wrong(entry)) != entry["messages"] for entry in vectors)


def test_every_law_and_parameter_is_documented(root):
    text = (root / "docs/wire.md").read_text(encoding="utf-8")
    for name, law in laws().items():
        (row,) = [line for line in text.splitlines() if line.startswith(f"| `{name}` |")]
        assert all(f"`{parameter}`" in row for parameter in law.parameters())
