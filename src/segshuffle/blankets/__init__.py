"""Laws of dummy messages, called blankets, one file each.

The proof of docs/proof.md needs two things of a blanket: that the counters of the items are independent, and that more
of it is post-processing of less. Both hold for every *compound Poisson* blanket, one made of Poisson-many independent
clusters, each at a uniform item. What is left to choose is the law of a cluster. A blanket says (`base.Blanket`)

- which `Part` s it consists of at a given mean: from these follow messages, variance and exact samplers alike, and
  the part that n' of n users send is the same blanket at n'/n of the mean;
- the pair of counters that an exchanged item changes (`base.CounterPair`): that is all that the accountants of
  products, `product`, `calibration` and `composition`, ask for.
"""

import re
from pathlib import Path

_NAME = re.compile(r'^class \w+\(Blanket\):.*?^    name = "([^"]+)"$', re.MULTILINE | re.DOTALL)


def law_names() -> list[str]:
    """List the names of all laws, read from their files: the command line shows them before anything is imported."""
    found = (_NAME.search(path.read_text(encoding="utf-8")) for path in sorted(Path(__file__).parent.glob("*.py")))
    return [match[1] for match in found if match]
