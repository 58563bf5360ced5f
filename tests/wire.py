"""Print docs/vectors.json: for every law, what a client sends, given its items and its random bytes."""

import hashlib
import io
import itertools
import json

from segshuffle.blankets.clustered import Clustered
from segshuffle.blankets.exact import uniform
from segshuffle.blankets.signed import Signed
from segshuffle.protocols.messages import Client, Demand
from segshuffle.protocols.messages.message_lines import lines_of
from segshuffle.protocols.scheme import Scheme

#: The draws do not depend on it.
ANYTHING = Demand(100.0, 0.999999, 10**9)
#: Name -> items, level, scheme.
CASES = {
    "poisson": ((0, 3, 5), 0, Scheme(17, 4, 5000, (0.3, 1.0), 2.5)),
    "poisson, copies above 1": ((1, 2), 1, Scheme(1000, 2, 5000, (0.3, 2.75), 4.1)),
    "poisson, no item": ((), 0, Scheme(300, 1, 5000, (0.5, 1.0), 1.2)),
    "poisson, drawn again": ((8, 6, 4, 2, 0), 0, Scheme(9, 2, 5000, (1.0,), 3.9, blanket_cap=4)),
    "clustered": ((4, 9), 0, Scheme(70_000, 2, 5000, (0.7,), 6.0, Clustered(0.6))),
    "clustered, few large clusters": ((), 0, Scheme(5, 1, 5000, (1.0,), 9.0, Clustered(0.97))),
    "signed": ((2, 7), 1, Scheme(40, 3, 5000, (0.5, 1.5), 8.0, Signed(0.3, 0.6, 0.4))),
    "signed, single units": ((11,), 0, Scheme(257, 1, 5000, (1.0,), 5.0, Signed(0.0, 0.0, 0.5))),
}


def vector(name, items, level, scheme):
    """Return one entry. Its bytes are the beginning of a hash, as long as they are needed."""
    for size in itertools.count():
        taken = hashlib.shake_256(name.encode()).digest(size)
        try:
            drawn = Client(items, level, ANYTHING, uniform(io.BytesIO(taken).read)).draw_unchecked(scheme)
        except EOFError:
            continue
        sent = {"bytes": taken.hex(), "messages": lines_of(drawn, scheme).splitlines()}
        return {"name": name, "scheme": scheme.as_dict(), "items": items, "level": level, **sent}


def vectors():
    """Return the text of the file, with a line for every entry."""
    entries = (json.dumps(vector(name, *case), ensure_ascii=False) for name, case in CASES.items())
    return "[\n" + ",\n".join(entries) + "\n]\n"


if __name__ == "__main__":
    print(vectors(), end="")
