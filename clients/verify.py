#!/usr/bin/env python3
"""Check that a plan of segshuffle keeps its promises: python3 verify.py plan.json [--honest-users N].

It needs only Python, and the section "A verifier without this package" of docs/proof.md, which proves each step below.
For every level it bounds delta from above; dummies with signs may take a minute. The exit status is 0 if all levels are
accepted, 1 if one is refused, 2 if the file is no plan, or if nothing is proven for it.

Masses and ratios are whole numbers of units 2^-bits, and are rounded to the safe side. Floating point only chooses how
fine the lattice is and what is left out: the bound holds whatever it chooses.
"""

import hashlib
import json
import math
import sys
from bisect import bisect_left, bisect_right
from decimal import MAX_EMAX, MAX_PREC, MIN_EMIN, ROUND_CEILING, Context, Decimal, Inexact
from fractions import Fraction
from itertools import accumulate
from pathlib import Path

LAWS = {"poisson": {"name"}, "clustered": {"name", "p"}, "signed": {"name", "p", "flood_p", "flood"}}
EXACT = Context(prec=MAX_PREC, Emax=MAX_EMAX, Emin=MIN_EMIN, traps=[Inexact])


def limit(size, most=200_000):
    """Refuse what would take too long."""
    if size > most:
        raise ValueError("so many dummies, or different losses, take too long to check")


def up(a, b):
    """Divide whole numbers, and round up."""
    return -(-a // b)


def power(base, n, bits, least):
    """Bound a power from below (least = 0) or above (1)."""
    value = 1 << bits
    for digit in f"{n:b}":
        value = (value * value >> bits) + least
        value = (value * base >> bits) + least if digit == "1" else value
    return value


def exp_low(x, bits):
    """Step 1: e^x is at least (1 + x/N)^N."""
    return power((1 << bits) + math.floor(x * 2 ** (bits - bits // 2)), 2 ** (bits // 2), bits, 0)


def convolved(a, b, bits):
    """Convolve by one product of long numbers, and round up."""
    width, n, one = len(str(max(a) * max(b) * len(a))), len(a) + len(b) - 1, 1 << bits
    long = [Decimal("".join(f"{value:0{width}}" for value in values)) for values in (a, b)]
    digits = f"{EXACT.multiply(*long):f}".zfill(n * width)
    return [up(int(digits[i : i + width]), one) for i in range(0, n * width, width)]


def counter(mean, p, tiny, bits):
    """Step 2: weights of the counts of a part, and what they lack; each of n is at most n + 2 units too large."""
    c = mean * (1 - p)
    if not 0 < c >= p:
        raise ValueError("nothing is proven for clusters with r < 1, or without dummies")
    limit(40 * math.sqrt(mean / (1 - p) + 1))
    unit, mode = math.lcm(c.denominator, p.denominator), math.floor((c - p) / (1 - p))
    c, p, sides, lost = int(c * unit), int(p * unit), ([1 << bits], [1 << bits]), 0
    for side, step in zip(sides, (1, -1), strict=True):
        x = mode
        while x + step >= 0:
            factor, divisor = (p * x + c, unit * (x + 1)) if step == 1 else (unit * x, p * (x - 1) + c)
            if factor < divisor and (rest := up(side[-1] * factor, divisor - factor)) <= tiny:
                lost += rest  # all further weights together: they fall faster than a geometric series
                break
            side.append(up(side[-1] * factor, divisor))
            x += step
    weights = sides[1][:0:-1] + sides[0]
    total = sum(weights) - len(weights) ** 2
    return [up(weight << bits, total) for weight in weights], up(lost << bits, total)


def blanket(law, mean, tiny, bits):
    """Step 3: masses of a counter in columns, which an own message moves by one; what they lack; an entry's excess."""
    if law["name"] != "signed":
        weights, lost = counter(mean, law.get("p", Fraction(0)), tiny, bits)
        return [[weight] for weight in weights], lost, len(weights) + 2
    noise, lost_noise = counter((1 - law["flood"]) * mean / 2, law["p"], tiny, bits)
    flood, lost_flood = counter(law["flood"] * mean / 2, law["flood_p"], tiny, bits)
    n, rows, lost = len(noise), len(noise) + len(flood), 2 * lost_noise + lost_flood
    limit(n * rows / 40)
    plus, minus = [], []  # N+ - N- is k, or -k; the rows are N-
    for k in range(n):
        pairs = [up(noise[i] * noise[i + k], 1 << bits) for i in range(n - k)]
        if len(plus) < k or (k and sum(pairs) * n < tiny):
            lost += 2 * sum(pairs)
            continue
        column = convolved(pairs, flood, bits)
        plus.append(column + [0] * (rows - len(column)))
        minus.append([0] * k + column + [0] * (rows - len(column) - k))
    return minus[:0:-1] + plus, lost, 4 * (rows + 2)


def atoms(columns, copies, excess, tiny):
    """Step 4: (mass, lower bound of the mass otherwise) for values of a counter, held and not held; masses left out."""
    whole, unit = math.floor(copies), copies.denominator
    more, none = copies.numerator - whole * unit, [[0] * len(columns[0])] * (whole + 1)
    padded, held, other, lost_held, lost_other = none + columns + none, [], [], 0, 0
    least = tiny // (len(padded) * len(columns[0]))
    for k in range(whole + 1, len(padded)):
        for b, few, many in zip(padded[k], padded[k - whole], padded[k - whole - 1], strict=True):
            a = up((unit - more) * few + more * many, unit)
            if a + b <= least or min(a, b) <= 2 * excess:
                lost_held, lost_other = lost_held + a, lost_other + b
            else:
                held.append((a, b - excess))
                other.append((b, a - excess - 1))
    return (held, lost_held), (other, lost_other)


def table(listed, lost, fine, tiny, bits):
    """Step 5: split atoms between the ratios top, top/rho, ..., rho = 1 + 1/fine: (masses, first, all mass), top."""
    one, ratios = 1 << bits, [up(mass << bits, rest) for mass, rest in listed]
    rungs, bottom = [max(ratios, default=one)], min(ratios, default=one)
    while rungs[-1] >= bottom:
        rungs.append(rungs[-1] * fine // (fine + 1))
        limit(len(rungs) / 10)
    masses, rising = [0] * len(rungs), rungs[::-1]
    for (mass, _), ratio in zip(listed, ratios, strict=True):
        place = len(rungs) - 1 - bisect_left(rising, ratio)
        share = min(one, up((ratio - rungs[place + 1]) * (fine + 1) << bits, ratio))
        raised = up(mass * share, one)
        masses[place] += raised
        masses[place + 1] += mass - raised
    return trimmed(masses, 0, sum(masses) + lost, tiny), rungs[0]


def trimmed(masses, first, total, tiny):
    """Step 6: raise small masses at both ends, those of the largest ratios to infinity."""
    start = bisect_right(list(accumulate(masses)), tiny)
    last = max(start, len(masses) - 1 - bisect_right(list(accumulate(masses[::-1])), tiny))
    return [*masses[start:last], sum(masses[last:])], first + start, total


def product(a, b, tiny, bits):
    """Step 6: join tables of independent counters."""
    limit(len(a[0]) + len(b[0]))
    total = up(a[2] * b[2], 1 << bits) + len(a[0]) + len(b[0])
    return trimmed(convolved(a[0], b[0], bits), a[1] + b[1], total, tiny)


def excess_mass(a, b, top, ratio, fine, bits):
    """Step 7: the sum of (mass of P - ratio mass of Q) over the places of the product, where it is positive."""
    unit, rho = 1 << top.bit_length(), (1 << bits) + (1 << bits) // fine
    total = up(a[2] * b[2] - sum(a[0]) * sum(b[0]), 1 << bits)  # the mass at the ratio infinity
    powers, sums = [1 << bits], [(0, 0)]  # of rho; of masses of b, and of these masses times powers of rho
    for mass in b[0]:
        sums.append((sums[-1][0] + mass, sums[-1][1] + (mass * powers[-1] >> bits)))
        powers.append(powers[-1] * rho >> bits)
    # other is what mass of Q counts where the mass of P is 1; from the end on it outweighs that
    other, end = ratio * unit // top * power(rho, a[1] + b[1], bits, 0) >> bits, len(b[0])
    for mass in a[0]:
        while end and other * powers[end - 1] >= unit << bits:
            end -= 1
        total += up(mass * (sums[end][0] * unit - other * sums[end][1]), unit << bits)
        other = other * rho >> bits
    return total


def uncapped(counters, pairs, ratio, expected, width, tiny, bits):
    """Bound delta at the log of a ratio, about `width` too large if it is near `expected`, and count the places."""
    tilt = 0.5 - 2 * math.log(expected) / max(math.log(ratio / 2**bits), 1e-9)
    fine = math.ceil(math.sqrt((tilt * (1 + tilt) * pairs / 6 + 1) / width))
    (held, top), (other, top_other) = (table(listed, lost, fine, tiny, bits) for listed, lost in counters)
    a, b, pair = held, other, None  # what is still to be joined
    for place, digit in enumerate(f"{pairs:b}"[1:], 1):
        joined = product(a, b, tiny << place, bits)
        pair = pair or joined
        a, b = (joined, joined) if digit == "0" else (product(joined, joined, tiny << place, bits), pair)
    tops = power(up(top * top_other, 1 << bits), pairs, bits, 1)
    return excess_mass(a, b, tops, ratio, fine, bits), len(a[0]) + len(b[0])


def delta_bound(scheme, honest, mean, copies, pairs, epsilon, delta, rounds):
    """Step 8: bound delta at epsilon, with the cost of a cap, closely enough to compare it with a promise."""
    bits = 64 * math.ceil((88 - 2 * math.log2(delta)) / 64)
    one, cap, best = 1 << bits, scheme["blanket_cap"], 1 << bits
    ratio, kappa, tail = exp_low(epsilon, bits), 0, 0
    if cap is not None:
        log = Fraction(math.ceil(1000 * (epsilon + math.log(1000 * rounds / delta))), 1000)
        total, k = honest * scheme["blanket_per_user"], cap + 1
        x = (total + Fraction(math.isqrt(math.floor(2 * total * log * one**2)) + 1, one) + log / 3) / honest
        share = min(1, x / k)  # 1 makes kappa at least 1: then nothing is shown
        chance = power(math.ceil(share * one**2 / exp_low(share - 1, bits)), k, bits, 1)
        kappa, tail = honest * rounds * chance, up(rounds * one**2, exp_low(log - epsilon, bits))
        if kappa >= one:
            return Fraction(1)
        ratio = ratio * (one - kappa) >> bits
    tiny = math.floor(delta * Fraction(one, 10**6 * pairs))
    columns, lost, excess = blanket(scheme["law"], mean, tiny, bits)
    counters = [(listed, lost + left) for listed, left in atoms(columns, copies, excess, tiny)]
    signed = scheme["law"]["name"] == "signed"  # losses of signs end near epsilon; those of few outcomes have gaps
    places_enough = 18_000 if signed else 30_000 * (pairs * len(counters[0][0]) < 128)
    for width in (6e-4, 6e-5, 6e-6, 6e-7)[1 + (pairs <= 2) if signed else 0 :]:
        found, places = uncapped(counters, pairs, ratio, float(delta), width, tiny, bits)
        before, best, most = best, min(best, up((found + tail) * one, one - kappa)), delta * one
        hopeless = best > 1000 * most or (width < 1e-4 and 2 * (before - best) < best - most)
        if hopeless or (best <= most and (2000 * best < most or places >= places_enough)):
            break  # finer lattices cannot show the promise, or would hardly change the bound
    return Fraction(best, one)


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
