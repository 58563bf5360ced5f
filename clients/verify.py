#!/usr/bin/env python3
"""Check that a plan of segshuffle keeps its promises: python3 verify.py plan.json [--honest-users N].

It needs only Python, and the section "A verifier without this package" of docs/proof.md, which proves each step below.
For every level it bounds delta from above; dummies with signs may take minutes. The exit status is 0 if all levels are
accepted, 1 if one is refused, 2 if the file is no plan, or if nothing is proven for it.

Masses and ratios are whole numbers of units 2^-bits, and are rounded to the safe side. Floating point only chooses how
fine the lattice is and what is left out: the bound holds whatever it chooses. Exponentials are those of `decimal`.
"""

import hashlib
import json
import math
import sys
from bisect import bisect_right
from decimal import MAX_EMAX, MAX_PREC, MIN_EMIN, ROUND_CEILING, Context, Decimal, Inexact, localcontext
from fractions import Fraction
from itertools import accumulate
from pathlib import Path

LAWS = {"poisson": {"name"}, "clustered": {"name", "p"}, "signed": {"name", "p", "flood_p", "flood"}}
EXACT = Context(prec=MAX_PREC, Emax=MAX_EMAX, Emin=MIN_EMIN, traps=[Inexact])
TINY = Decimal("1e-30")  # more than `decimal` errs by in 60 digits
PLACES = 75  # a bound is then at most about 2e-4 of delta too large, but among few dummies


def limit(size, most):
    """Refuse what would take too long."""
    if size > most:
        raise ValueError("so many dummies, or different losses, take too long to check")


def up(a, b):
    """Divide whole numbers, and round up."""
    return -(-a // b)


def convolved(a, b, bits):
    """Convolve by one product of long numbers, and round up."""
    width, n, one = len(str(max(a) * max(b) * len(a))), len(a) + len(b) - 1, 1 << bits
    long = [Decimal("".join(f"{value:0{width}}" for value in values)) for values in (a, b)]
    digits = f"{EXACT.multiply(*long):f}".zfill(n * width)
    return [up(int(digits[i : i + width]), one) for i in range(0, n * width, width)]


def counts(mean, p, tiny, bits):
    """Step 2: masses of the counts of a part, each of n at most n + 2 units too large, and the mass that is lost."""
    c = mean * (1 - p)
    if not 0 < c >= p:
        raise ValueError("nothing is proven for clusters with r < 1, or without dummies")
    limit(mean / (1 - p), 25 * 10**6)
    mode, sides, lost = math.floor((c - p) / (1 - p)), [], 0

    def factor(x):
        return (p * (x - 1) + c) / x

    for outwards in (lambda i: factor(mode + i), lambda i: 1 / factor(mode + 1 - i) if i <= mode else Fraction(0)):
        weights, g = [1 << bits], outwards(1)
        while g >= 1 or (rest := math.ceil(weights[-1] * g / (1 - g))) > tiny:
            weights.append(math.ceil(weights[-1] * g))
            g = outwards(len(weights))
        sides.append(weights)
        lost += rest  # all further weights together: they fall faster than a geometric series
    weights = sides[1][:0:-1] + sides[0]
    total = sum(weights) - len(weights) ** 2
    return [up(weight << bits, total) for weight in weights], up(lost << bits, total)


def blanket(law, mean, tiny, bits):
    """Step 3: masses of a counter in rows, in which own messages move it; the mass that is lost; a mass's excess."""
    if law["name"] != "signed":
        masses, lost = counts(mean, law.get("p", Fraction(0)), tiny, bits)
        return [masses], lost, len(masses) + 2
    noise, lost_noise = counts((1 - law["flood"]) * mean / 2, law["p"], tiny, bits)
    flood, lost_flood = counts(law["flood"] * mean / 2, law["flood_p"], tiny, bits)
    n, size, rows = len(noise), len(noise) + len(flood) - 1, []
    limit(n * size, 8 * 10**6)
    for v in range(size):  # N- is v, of which z are of the flood
        floods = range(max(0, v - n + 1), min(v + 1, len(flood)))
        rows.append(convolved([up(flood[z] * noise[v - z], 1 << bits) for z in floods], noise, bits))
    return rows, 2 * lost_noise + lost_flood, 4 * (size + 3)


def tables(rows, lost, excess, copies, least, bits):
    """Step 4: the tables (ratios, masses, lost mass) of a counter that is held, and of one that is not."""
    unit = copies.denominator
    whole, more = divmod(copies.numerator, unit)
    held, other = [(1 << bits, 0)], [(1 << bits, 0)]  # no table is empty
    lost_held = lost_other = lost
    for row in rows:
        none = [0] * (whole + 1)
        for b, few, many in zip(row + none, none[1:] + row + [0], none + row, strict=True):
            a = up((unit - more) * few + more * many, unit)
            if min(a, b) > max(least, 2 * excess):
                held.append(((b - excess << bits) // a, a))
                other.append(((a - excess - 1 << bits) // b, b))
            else:
                lost_held, lost_other = lost_held + a, lost_other + b
    return [(*zip(*sorted(found), strict=True), left) for found, left in ((held, lost_held), (other, lost_other))]


def trimmed(table, tiny, bits):
    """Step 5: lower the ratios of small masses at both ends, those of the first ones to 0."""
    ratios, masses, lost = table
    start = min(bisect_right(list(accumulate(masses)), tiny), len(masses) - 1)
    most = bisect_right(list(accumulate(masses[::-1])), math.isqrt(tiny << bits))
    end = max(start, len(masses) - 1 - most)
    return ratios[start : end + 1], [*masses[start:end], sum(masses[end:])], lost + sum(masses[:start])


def on_lattice(ratios, masses, n):
    """Step 5: split masses between places, whose ratios are the first one times powers of rho = 1 + 1/n."""
    rungs, place = [ratios[0]], 0
    while len(rungs) < 2 or rungs[-1] < ratios[-1]:
        rungs.append(up(rungs[-1] * (n + 1), n))
    split = [0] * len(rungs)
    for ratio, mass in zip(ratios, masses, strict=True):
        while rungs[place + 1] < ratio:
            place += 1
        lower = up(mass * (rungs[place + 1] - ratio), rungs[place + 1] - rungs[place])
        split[place] += lower
        split[place + 1] += mass - lower
    return split


def lost_of(a, b, bits):
    """Return the mass at the ratio 0 of two tables together."""
    return up(a[2] * (sum(b[1]) + b[2]) + sum(a[1]) * b[2], 1 << bits)


def product(a, b, places, tiny, bits):
    """Step 6: join tables of independent counters."""
    a, b = trimmed(a, tiny, bits), trimmed(b, tiny, bits)
    n = math.ceil(places / (1e-3 + max(math.log(table[0][-1]) - math.log(table[0][0]) for table in (a, b))))
    masses = convolved(on_lattice(*a[:2], n), on_lattice(*b[:2], n), bits)
    ratios = [a[0][0] * b[0][0] >> bits]
    while len(ratios) < len(masses):
        ratios.append(ratios[-1] * (n + 1) // n)
    return ratios, masses, lost_of(a, b, bits)


def excess_mass(a, b, c, bits):
    """Step 7: the sum of m m' (1 - c r r') over the outcomes of two tables where it is positive."""
    sums = [0, *accumulate(b[1])]
    scaled = [0, *accumulate(ratio * mass for ratio, mass in zip(b[0], b[1], strict=True))]
    total, end, one = 0, len(b[0]), 1 << 3 * bits
    for ratio, mass in zip(a[0], a[1], strict=True):
        while end and c * ratio * b[0][end - 1] >= one:
            end -= 1
        total += mass * (sums[end] * one - c * ratio * scaled[end])
    return up(total, one << bits) + lost_of(a, b, bits)


def cost(scheme, honest, epsilon, delta, rounds):
    """Return e^epsilon from below, and from above kappa and what a cap adds to delta (steps 1 and 8)."""
    with localcontext(Context(prec=60)):
        epsilon, delta = (Decimal(each.numerator) / each.denominator for each in (epsilon, delta))
        c, cap = Fraction(epsilon.exp() * (1 - TINY)), scheme["blanket_cap"]
        if cap is None:
            return c, 0, 0
        extra, k, total = (1000 * rounds / delta).ln(), cap + 1, Decimal(float(scheme["blanket_per_user"])) * honest
        log = epsilon + extra
        x = (1 + TINY) * (total + (2 * total * log).sqrt() + log / 3) / honest
        kappa = honest * rounds * (k * (x / k).ln() + k - x).exp() * (1 + TINY) if x < k else 1
        return c, Fraction(kappa), Fraction(rounds * (-extra).exp() * (1 + TINY))


def delta_bound(scheme, honest, mean, copies, pairs, epsilon, delta, rounds, fineness=PLACES):
    """Step 8: bound delta at epsilon, closely enough to compare it with a promise."""
    bits = 64 * math.ceil((88 - 2 * math.log2(delta)) / 64)
    c, kappa, added = cost(scheme, honest, epsilon, delta, rounds)
    if kappa >= 1:
        return Fraction(1)
    c, tiny = math.floor(c * (1 - kappa) * 2**bits), math.floor(delta * Fraction(2**bits, 10**6 * pairs))
    rows, lost, excess = blanket(scheme["law"], mean, tiny, bits)
    a, b = tables(rows, lost, excess, copies, (tiny << bits) // (c * sum(map(len, rows))), bits)
    places, pair = math.ceil(fineness * (8 - math.log(delta)) * math.sqrt(pairs.bit_length())), None
    for power, digit in enumerate(f"{pairs:b}"[1:], 1):  # a and b are still to be joined
        joined = product(a, b, places, tiny << power, bits)
        pair = pair or joined
        a, b = (joined, joined) if digit == "0" else (product(joined, joined, places, tiny << power, bits), pair)
    bound = (Fraction(excess_mass(a, b, c, bits), 2**bits) + added) / (1 - kappa)
    if fineness == PLACES and delta < bound < 1000 * delta:  # among few dummies it may be many times too large
        return delta_bound(scheme, honest, mean, copies, pairs, epsilon, delta, rounds, 5 * PLACES)
    return bound


def number(value, least, most, whole=False):
    """Return a number of the plan as the fraction that it is."""
    if type(value) not in ((int,) if whole else (int, float)) or not least <= value <= most:
        raise ValueError(f"{value!r:.40} is no {'whole ' if whole else ''}number from {least:g} to {most:g}")
    return value if whole else Fraction(value)


def honest_of(share, n):
    """Return a share of n users, rounded down; k/n, as a double, means k."""
    return max(1, math.floor(Fraction(repr(float(share))) * n + Fraction(1, 10**6)))


def verify(plan, honest_users=None):
    """Return (epsilon, promised delta, bound of delta) for every level."""
    if [repr(plan[name]) for name in ("format", "version", "messages")] != ["'segshuffle-plan'", "3", "1"]:
        raise ValueError("only plans of version 3, with messages of version 1, are known")
    rest = json.dumps({name: plan[name] for name in plan if name != "digest"}, sort_keys=True, separators=(",", ":"))
    if hashlib.sha256(rest.encode()).hexdigest() != plan["digest"]:
        raise ValueError("it was changed after it was written: its digest is not that of its content")
    asked, assumed, law = plan["problem"], plan["assumptions"], plan["scheme"]["law"]
    if assumed["private_levels"] is not False or assumed["sets"] not in ("exactly", "at-most"):
        raise ValueError("nothing is proven here for private levels, or for sets that are not exactly or at-most")
    if any(type(each) is not list or not each for each in (asked["levels"], asked["level_counts"])):
        raise ValueError("nothing is proven here without a list of levels and one of their users")
    if set(law) != LAWS.get(law["name"]):
        raise ValueError(f"nothing is proven here for dummies of the law {law!r:.80}")
    law = {name: value if name == "name" else number(value, 0, 0.999999) for name, value in law.items()}
    m, cap = number(plan["scheme"]["blanket_per_user"], 0, 1e9), plan["scheme"]["blanket_cap"]
    if cap is not None and (law["name"] != "poisson" or number(cap, 0, 2**40, True) < m):
        raise ValueError("nothing is proven here for a cap below the mean, or of other dummies than poisson ones")
    d, rounds = number(asked["domain_size"], 2, 1e9, True), number(assumed["rounds"], 1, 10000, True)
    s, n = number(asked["set_size"], 1, d, True), sum(number(n, 0, 1e15, True) for n in asked["level_counts"])
    honest = honest_users or honest_of(number(assumed["honest_fraction"], 0, 1), n)
    pairs = rounds * (max(1, min(s, d - s)) if assumed["sets"] == "exactly" else s)
    scheme, found = {"law": law, "blanket_per_user": m, "blanket_cap": cap}, []
    deltas = [asked["delta"]] * len(asked["levels"]) if asked["level_deltas"] == [] else asked["level_deltas"]
    for epsilon, delta, copies in zip(asked["levels"], deltas, plan["scheme"]["copies"], strict=True):
        epsilon, delta, copies = number(epsilon, 1e-9, 100), number(delta, 1e-110, 0.999999), number(copies, 0, 64)
        found += [(epsilon, delta, delta_bound(scheme, honest, m * honest / d, copies, pairs, epsilon, delta, rounds))]
    return found


def main(arguments):
    """Print a verdict on every level of a plan."""
    try:
        honest = number(int(arguments[2]), 1, 1e15, True) if arguments[1:2] == ["--honest-users"] else None
        levels = verify(json.loads(Path(arguments[0]).read_text(encoding="utf-8")), honest)
    except (ArithmeticError, AttributeError, LookupError, OSError, RecursionError, TypeError, ValueError) as error:
        print(f"refused: {error}" if arguments else __doc__)
        return 2
    for epsilon, promised, bound in levels:
        shown = Context(prec=6, rounding=ROUND_CEILING).divide(Decimal(bound.numerator), Decimal(bound.denominator))
        verdict = "accepted" if bound <= promised else "REFUSED"
        print(f"{verdict}: at epsilon {float(epsilon):g} delta is at most {shown:.5e}, promised is {float(promised):g}")
    return 0 if all(bound <= promised for _, promised, bound in levels) else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
