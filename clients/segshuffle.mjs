// A client of segshuffle: it checks a plan before it sends anything, draws the messages exactly, and keeps an account.
// The steps of `check` are those of docs/proof.md, "A verifier without this package", in doubles; "In doubles" there
// bounds their errors. `draw` follows docs/wire.md. What a client must check and remember is in docs/clients.md.

// --- an upper bound of delta ---------------------------------------------------------------------------------------

const U = 2 ** -53;
const sum = (values) => values.reduce((a, b) => a + b, 0);

function limit(size, most) {
  if (!(size <= most)) throw Error("so many dummies, or different losses, take too long to check");
}

/** Step 1: e^x for x >= 0 is at least the sum of the first terms of its series. */
function exponential(x) {
  let value = 1;
  for (let k = 400; k > 0; k--) value = 1 + (value * x) / k;
  return value;
}

function power(x, n) {
  let value = 1;
  for (const digit of n.toString(2)) value *= value * (digit === "1" ? x : 1);
  return value;
}

/** The sums of a[i] b[j] over all i + j = k, for every k. */
function convolved(a, b) {
  const masses = new Float64Array(a.length + b.length + 3), padded = new Float64Array(b.length + 6);
  padded.set(b, 3);
  for (let i = 0; i < a.length; i += 4) { // four at a time: half the time
    const [a0, a1 = 0, a2 = 0, a3 = 0] = a.slice(i, i + 4);
    for (let j = 0; j < b.length + 3; j++) {
      masses[i + j] += a0 * padded[j + 3] + a1 * padded[j + 2] + a2 * padded[j + 1] + a3 * padded[j];
    }
  }
  return masses.slice(0, a.length + b.length - 1);
}

/** Step 2: masses of the counts of a part, and the mass that is lost. */
function counts(mean, p, tiny) {
  const c = mean * (1 - p) * (1 - 16 * U), mode = Math.floor((c - p) / (1 - p)), factor = (x) => (p * (x - 1) + c) / x;
  if (!(c > 0 && c >= p)) throw Error("nothing is proven for clusters with r < 1, or without dummies");
  limit(mean / (1 - p), 2.5e7);
  let lost = 0;
  const outwards = (next) => { // weights beyond the mode, whose weight is 1; next(i) leads to number i
    const weights = [];
    for (let w = 1, g = next(1); ; g = next(weights.length + 1)) {
      const rest = (w * g) / (1 - g);
      if (g < 0.999 && rest <= tiny) {
        lost += rest; // all further weights together: they fall faster than a geometric series
        return weights;
      }
      weights.push((w *= g));
    }
  };
  const right = outwards((i) => factor(mode + i)), left = outwards((i) => (i > mode ? 0 : 1 / factor(mode + 1 - i)));
  const weights = Float64Array.from([...left.reverse(), 1, ...right]), total = sum(weights);
  return [weights.map((weight) => weight / total), lost / total];
}

/** Step 3: masses of a counter in rows, in which an own message moves it by one, and the mass that is lost. */
function blanket(law, mean, tiny) {
  if (law.name !== "signed") {
    const [masses, lost] = counts(mean, law.p ?? 0, tiny);
    return [[masses], lost];
  }
  const [noise, lostNoise] = counts(((1 - law.flood) * mean) / 2, law.p, tiny);
  const [flood, lostFlood] = counts((law.flood * mean) / 2, law.flood_p, tiny);
  const n = noise.length, size = n + flood.length - 1, rows = [];
  limit(n * size, 8e6);
  for (let v = 0; v < size; v++) { // N- is v: z of them are of the flood
    const first = Math.max(0, v - n + 1);
    rows.push(convolved(flood.slice(first, v + 1).map((mass, i) => mass * noise[v - first - i]), noise));
  }
  return [rows, 2 * lostNoise + lostFlood];
}

/** Step 4: the tables {ratios, masses, lost} of a counter that is held, and of one that is not. */
function tables(rows, lost, copies, least) {
  const whole = Math.floor(copies), more = copies - whole;
  const held = { ratios: [1], masses: [0], lost }, other = { ratios: [1], masses: [0], lost }; // no table is empty
  for (const row of rows) {
    for (let x = 0; x < row.length + whole + 1; x++) {
      const b = row[x] ?? 0, a = (1 - more) * (row[x - whole] ?? 0) + more * (row[x - whole - 1] ?? 0);
      if (Math.min(a, b) > least) {
        held.ratios.push(b / a);
        held.masses.push(a);
        other.ratios.push(a / b);
        other.masses.push(b);
      } else {
        held.lost += a;
        other.lost += b;
      }
    }
  }
  return [held, other];
}

/** Step 5: split masses between places, whose ratios are the least one times powers of rho. */
function onLattice({ ratios, masses, lost }, rho) {
  const least = ratios.reduce((a, b) => Math.min(a, b)), most = ratios.reduce((a, b) => Math.max(a, b));
  const rungs = [least, least * rho];
  while (rungs.at(-1) < most) rungs.push(rungs.at(-1) * rho);
  const split = new Float64Array(rungs.length);
  ratios.forEach((ratio, k) => {
    let i = 0;
    for (let end = rungs.length - 1; end - i > 1; ) { // from place i to place end
      const middle = (i + end) >> 1;
      if (rungs[middle] <= ratio) i = middle;
      else end = middle;
    }
    const share = (rungs[i + 1] - ratio) / (rungs[i + 1] - rungs[i]);
    split[i] += masses[k] * share;
    split[i + 1] += masses[k] * (1 - share);
  });
  return { ratios: rungs, masses: split, lost };
}

/** The rho with which a table has about so many places; any other is safe, too. */
function rhoFor({ ratios }, places) {
  const most = ratios.reduce((a, b) => Math.max(a, b)), least = ratios.reduce((a, b) => Math.min(a, b));
  return 1 + (1e-3 + Math.log(most / least)) / places;
}

/** Bring a table into the order of its ratios; a large one on a fine lattice. */
function ordered(table) {
  if (table.ratios.length > 20_000) return onLattice(table, rhoFor(table, 20_000));
  const order = [...table.ratios.keys()].sort((i, j) => table.ratios[i] - table.ratios[j]);
  return { ...table, ratios: order.map((i) => table.ratios[i]), masses: order.map((i) => table.masses[i]) };
}

/** Step 5: lower the ratios of small masses at both ends, those of the first ones to 0. */
function trimmed({ ratios, masses, lost }, tiny) {
  let start = 0, end = masses.length, low = 0, high = 0;
  while (start < end - 1 && low + masses[start] <= tiny) low += masses[start++];
  while (start < end - 1 && high + masses[end - 1] <= Math.sqrt(tiny)) high += masses[--end];
  const kept = masses.slice(start, end);
  kept[kept.length - 1] += high;
  return { ratios: ratios.slice(start, end), masses: kept, lost: lost + low };
}

/** The mass at the ratio 0 of two tables together. */
const lostOf = (a, b) => a.lost * (b.lost + sum(b.masses)) + sum(a.masses) * b.lost;

/** Step 6: join tables of independent counters. */
function product(a, b, places, tiny) {
  const kept = [trimmed(a, tiny), trimmed(b, tiny)], rho = Math.max(...kept.map((table) => rhoFor(table, places)));
  const [x, y] = kept.map((table) => onLattice(table, rho)), masses = convolved(x.masses, y.masses);
  const ratios = [x.ratios[0] * y.ratios[0]];
  while (ratios.length < masses.length) ratios.push(ratios.at(-1) * rho);
  return { ratios, masses, lost: lostOf(x, y) };
}

/** Step 7: the sum of m m' (1 - c r r') over the outcomes of two tables where it is positive, rounded up by `error`. */
function excess(a, b, c, error) {
  const sums = [0], scaled = [0]; // of the masses m', and of m' r'
  b.masses.forEach((mass, j) => {
    sums.push(sums[j] + mass);
    scaled.push(scaled[j] + mass * b.ratios[j]);
  });
  let total = lostOf(a, b), end = b.masses.length;
  a.masses.forEach((mass, i) => {
    const factor = c * (1 - error) * a.ratios[i];
    while (end > 0 && factor * b.ratios[end - 1] >= 1) end--;
    total += mass * (sums[end] * (1 + error) - factor * scaled[end]);
  });
  return total * (1 + 2 * error) + 1e-290;
}

/** Bound delta without a cap. The last product of tables is left to `excess`. */
function uncapped([a, b], pairs, c, places, error, tiny) {
  let pair = null;
  [...pairs.toString(2)].slice(1).forEach((digit, i) => { // a and b are still to be joined
    const small = tiny * 2 ** (i + 1), joined = product(a, b, places, small);
    pair ??= joined;
    [a, b] = digit === "1" ? [product(joined, joined, places, small), pair] : [joined, joined];
  });
  return excess(a, b, c, error);
}

/** Step 8: kappa, and what is added to delta, for a cap; nothing is shown if kappa is 1. */
function costOf({ m, cap, honest, epsilon, delta, rounds }) {
  if (cap === null) return [0, 0];
  const extra = Math.log((1000 * rounds) / delta), log = epsilon + extra, total = m * honest, k = cap + 1;
  const x = ((total + Math.sqrt(2 * total * log) + log / 3) / honest) * (1 + 1e-12), share = Math.min(1, x / k);
  const kappa = honest * rounds * power(((share * Math.E) / exponential(share)) * (1 + 1e-12), k);
  return [Math.min(1, kappa), (rounds / exponential(extra)) * (1 + 1e-12)];
}

/** Step 8: bound delta at epsilon, closely enough to compare it with this delta. */
function deltaBound(asked) {
  const { law, m, honest, domainSize, copies, pairs, epsilon, delta } = asked, [kappa, added] = costOf(asked);
  if (pairs === 0 || copies === 0) return 0;
  if (kappa === 1) return 1;
  const c = exponential(epsilon) * (1 - kappa), tiny = delta / (1e6 * pairs);
  const [rows, lost] = blanket(law, (m * honest) / domainSize, tiny), size = sum(rows.map((row) => row.length));
  const made = tables(rows, lost, copies, tiny / (c * size)).map(ordered);
  const bound = (places) => {
    const error = 128 * pairs * (size + places) * U;
    limit(error, 1e-4);
    return ((uncapped(made, pairs, c, places, error, tiny) + added) / (1 - kappa)) * (1 + 1e-12);
  };
  const places = Math.ceil(Math.min(10_000, 60 * (8 - Math.log(delta)) * Math.sqrt(pairs.toString(2).length)));
  const found = bound(places);
  // among few dummies this first bound may be many times too large
  return found > delta && found < 1000 * delta ? Math.min(found, bound(5 * places)) : found;
}

// --- what a plan guarantees ----------------------------------------------------------------------------------------

const LAWS = { poisson: [], clustered: ["p"], signed: ["p", "flood_p", "flood"] };

function number(name, value, least, most, whole = false) {
  const fits = typeof value === "number" && value >= least && value <= most && (!whole || Number.isSafeInteger(value));
  if (fits) return value;
  const allowed = `a ${whole ? "whole " : ""}number from ${least} to ${most}`;
  throw Error(`${name} is ${JSON.stringify(value)}, but must be ${allowed}`);
}

/** Refuse a plan whose messages cannot be drawn; return what is needed for that. */
function scheme({ problem, scheme: { law, copies, blanket_per_user: m, blanket_cap: cap } }) {
  const names = Object.hasOwn(LAWS, law.name) ? LAWS[law.name] : null;
  if (!names || Object.keys(law).length !== names.length + 1) {
    throw Error(`nothing is known about dummies of the law ${JSON.stringify(law)}`);
  }
  for (const name of names) {
    const positive = name === "flood" || law.name === "clustered";
    number(name, law[name], positive ? 2 ** -1000 : 0, name === "flood" ? 1 - U : 0.99);
  }
  if (!Array.isArray(copies) || copies.length < 1 || copies.length > 100) {
    throw Error("copies must be a list with a number for each of at most 100 levels");
  }
  copies.forEach((each) => number("copies", each, 0, 64));
  number("blanket_per_user", m, 0, 1e9);
  if (cap !== null) {
    if (law.name !== "poisson") throw Error("nothing is proven for a cap on these dummies");
    number("blanket_cap", cap, Math.ceil(m), 2 ** 40, true);
  }
  const domainSize = number("domain_size", problem.domain_size, 2, 1e9, true);
  return { law, copies, m, cap, domainSize, setSize: number("set_size", problem.set_size, 1, domainSize, true) };
}

/** Bound how many random numbers a client draws for its dummies, on average. */
function steps({ law, m, cap }) {
  const count = (mean, p) => {
    const first = p ? (mean * (1 - p)) / p : 2 * mean, odds = p || 0.5;
    const pieces = Math.max(1, Math.ceil(first)), part = first / pieces;
    const kept = p ? (1 - odds) ** (1 - part) : (1 - odds) * Math.exp(odds * part);
    return (pieces * (1 + (2 * odds) / (1 - odds))) / kept + 2 * mean;
  };
  if (law.name !== "signed") return count(m, law.p ?? 0) * (cap === null ? 1 : 2);
  return 2 * count(((1 - law.flood) * m) / 2, law.p) + count((law.flood * m) / 2, law.flood_p);
}

/** What a plan guarantees a user who demands this, or why it is refused (see segshuffle.d.ts). */
export function check(plan, demand) {
  try {
    return { accepted: true, ...guaranteed(plan, demand) };
  } catch (error) {
    return { accepted: false, reason: `The plan is refused: ${error.message}. Nothing is sent.` };
  }
}

function guaranteed(plan, demand) {
  if (plan.format !== "segshuffle-plan" || plan.version !== 3 || plan.messages !== 1) {
    throw Error("only plans of version 3, with messages of version 1, are known");
  }
  const { law, copies, m, cap, domainSize, setSize } = scheme(plan), { level, epsilon } = demand;
  const { sets = "at-most", rounds = 1, mostMessages = 10_000, levelBudget = null } = demand;
  number("level", level, 0, copies.length - 1, true);
  number("honestUsers", demand.honestUsers, 1, 2 ** 53 - 1, true);
  number("epsilon", epsilon, 1e-9, 100);
  number("delta", demand.delta, 1e-110, 1 - 1e-9);
  number("rounds", rounds, 1, 10_000, true);
  if (sets !== "at-most" && sets !== "exactly") throw Error('sets must be "at-most" or "exactly"');
  if (sets === "exactly" && setSize === domainSize) throw Error("sets of all items are all the same");
  const messages = m + setSize * copies[level];
  if (messages > number("mostMessages", mostMessages, 0, 1e9)) {
    throw Error(`it asks for ${messages.toPrecision(4)} messages on average, more than ${mostMessages}`);
  }
  if (steps({ law, m, cap }) > Math.max(1e6, 100 * mostMessages)) {
    throw Error("its messages take too long to draw; ask for a plan with a larger p");
  }
  const all = sum(plan.problem.level_counts.map((n) => number("level_counts", n, 0, 1e15, true)));
  const honest = Math.min(demand.honestUsers, all);
  const bound = (epsilon, delta, other) => {
    const pairs = rounds * (sets === "exactly" && other === level ? Math.min(setSize, domainSize - setSize) : setSize);
    const more = Math.max(copies[level], copies[other]);
    return deltaBound({ law, m, cap, honest, domainSize, copies: more, pairs, epsilon, delta, rounds });
  };
  const refuse = (found, epsilon, asked) => {
    const shown = found.toPrecision(4);
    throw Error(`with ${honest} honest users delta is ${shown} at epsilon ${epsilon}, more than ${asked}`);
  };
  const delta = bound(epsilon, demand.delta, level), hidden = { epsilon: 0, delta: 0 };
  if (!(delta <= demand.delta)) refuse(delta, epsilon, demand.delta);
  for (let other = 0; levelBudget !== null && other < copies.length; other++) {
    if (other === level) continue;
    const most = number("levelBudget.delta", levelBudget.delta, 1e-110, 1 - 1e-9);
    let used = epsilon, found = bound(used, most, other);
    if (!(found <= most)) {
      const theirs = number("levels", plan.problem.levels[other], 1e-9, 100);
      used = Math.max(epsilon, Math.min(theirs, number("levelBudget.epsilon", levelBudget.epsilon, 1e-9, 100)));
      found = bound(used, most, other);
    }
    if (!(found <= most)) refuse(found, used, `${most} for a user who may be of level ${other}`);
    hidden.epsilon = Math.max(hidden.epsilon, used);
    hidden.delta = Math.max(hidden.delta, found);
  }
  return { epsilon, delta, level: hidden, messages };
}

// --- messages: docs/wire.md ----------------------------------------------------------------------------------------

const gcd = (a, b) => (b ? gcd(b, a % b) : a);
const lowest = ([a, b]) => { const g = gcd(a, b); return [a / g, b / g]; };
const times = ([a, b], [c, d]) => lowest([a * c, b * d]);
const minus = ([a, b], [c, d]) => lowest([a * d - c * b, b * d]);
const ONE = [1n, 1n], HALF = [1n, 2n];

/** The fraction [numerator, denominator] that a double is. */
function exact(value) {
  let denominator = 1n;
  for (; !Number.isInteger(value); denominator *= 2n) value *= 2;
  return lowest([BigInt(value), denominator]);
}

const secure = (n) => crypto.getRandomValues(new Uint8Array(n));

class Draw {
  constructor(bytes) { this.bytes = bytes; }

  below(n) {
    const digits = n > 1n ? (n - 1n).toString(2).length : 0, size = Math.ceil(digits / 8);
    for (;;) {
      let value = 0n;
      for (const byte of size ? this.bytes(size) : []) value = (value << 8n) + BigInt(byte);
      value >>= BigInt(8 * size - digits);
      if (value < n) return value;
    }
  }

  chance([x, y]) { return this.below(y) < x; }

  shuffle(values) {
    for (let i = values.length - 1; i > 0; i--) {
      const j = Number(this.below(BigInt(i + 1)));
      [values[i], values[j]] = [values[j], values[i]];
    }
    return values;
  }

  count(odds, first, growth) {
    const pieces = (first[0] + first[1] - 1n) / first[1];
    let total = 0n;
    for (let piece = 0n, [x, y] = lowest([first[0], first[1] * (pieces || 1n)]); piece < pieces; piece++) {
      for (let kept = false; !kept; ) {
        let k = 0n, j = 0n;
        while (this.chance(odds)) k++;
        while (j < k && this.chance([x + growth * j * y, (j + 1n) * y])) j++; // not in lowest terms
        if ((kept = j === k)) total += k;
      }
    }
    return total;
  }

  units(mean, p, domainSize) {
    const places = [], r = p[0] ? times(times(mean, minus(ONE, p)), [p[1], p[0]]) : null;
    const n = r ? this.count(p, r, 1n) : this.count(HALF, times([2n, 1n], mean), 0n);
    for (let e = 0n; e < n; e++) {
      const joins = r && this.chance(lowest([e * r[1], r[0] + e * r[1]]));
      places.push(joins ? places[Number(this.below(e))] : this.below(domainSize));
    }
    return places;
  }
}

function parts({ law, m }) {
  const mean = exact(m), p = exact(law.p ?? 0);
  if (law.name !== "signed") return [[mean, p, [""]]];
  const flood = exact(law.flood), noise = times(times(minus(ONE, flood), mean), HALF);
  return [[noise, p, ["+"]], [noise, p, ["-"]], [times(times(flood, mean), HALF), exact(law.flood_p), ["+", "-"]]];
}

/** Draw the messages of a user in random order; `bytes(n)` are n secret random bytes. */
export function draw(plan, level, items, bytes = secure) {
  const told = scheme(plan), { copies, domainSize, setSize, cap } = told, chance = new Draw(bytes);
  number("level", level, 0, copies.length - 1, true);
  items.forEach((item) => number("an item", item, 0, domainSize - 1, true));
  if (new Set(items).size !== items.length) throw Error("every item may be named once only");
  const a = exact(copies[level]), own = [], sign = told.law.name === "signed" ? "+" : "";
  for (const item of items.length > setSize ? chance.shuffle([...items]).slice(0, setSize) : items) {
    const n = Number(a[0] / a[1]) + (chance.chance(minus(a, [a[0] / a[1], 1n])) ? 1 : 0);
    own.push(...Array(n).fill(sign + item));
  }
  for (;;) {
    const dummies = [];
    for (const [mean, p, signs] of parts(told)) {
      const places = chance.units(mean, p, BigInt(domainSize));
      for (const each of signs) for (const place of places) dummies.push(each + place);
    }
    if (cap === null || dummies.length <= cap) return chance.shuffle([...own, ...dummies]);
  }
}

// --- what a client remembers ---------------------------------------------------------------------------------------

/** Keep an account in a browser, under a name. */
export function browserStore(name = "segshuffle") {
  return {
    read: () => localStorage.getItem(name),
    write: (text) => localStorage.setItem(name, text),
    locked: (work) => (globalThis.navigator?.locks ? navigator.locks.request(name, work) : work()),
  };
}

/** Check, draw and remember: one answer per collection, the same one if it is asked for again, within a budget. */
export function send(store, plan, demand, items, { collection = 1, budget, bytes = secure }) {
  return store.locked(() => {
    const kept = JSON.parse(store.read() ?? '{"version": 1, "sent": []}');
    if (kept.version !== 1 || !Array.isArray(kept.sent)) {
      throw Error("The account is not one of this module. Nothing is sent.");
    }
    number("collection", collection, 1, 1e9, true);
    if (!/^[0-9a-f]{64}$/.test(plan.digest)) throw Error("The plan has no digest. Nothing is sent.");
    const { digest } = plan, told = JSON.stringify([plan.problem, plan.scheme]), rounds = demand.rounds ?? 1;
    if (rounds > 1 && collection > rounds) throw Error(`Only ${rounds} collections were demanded. Nothing is sent.`);
    const asked = JSON.stringify([items, demand.level]), before = kept.sent.filter((each) => each.digest === digest);
    if (before.some((each) => each.told !== told)) throw Error("Another plan had the same digest. Nothing is sent.");
    const same = before.find((each) => each.collection === collection);
    if (same && same.asked !== asked) {
      throw Error("This collection was answered with other items or another level. Nothing else is sent.");
    }
    if (same) return { lines: same.lines, guarantee: same.guarantee };
    const guarantee = check(plan, demand);
    if (!guarantee.accepted) throw Error(guarantee.reason);
    const covered = ({ rounds: before, level, guarantee: { epsilon } }) =>
      rounds > 1 && before === rounds && level === demand.level && epsilon === demand.epsilon;
    const none = { epsilon: 0, delta: 0 }, own = { epsilon: guarantee.epsilon, delta: guarantee.delta };
    const spent = before.some(covered) ? { items: none, level: none } : { items: own, level: guarantee.level };
    const most = { items: budget, level: demand.levelBudget ?? { epsilon: Infinity, delta: Infinity } };
    for (const what of ["items", "level"]) {
      for (const name of ["epsilon", "delta"]) {
        const all = sum([...kept.sent.map((each) => each.spent[what][name]), spent[what][name]]) * (1 - 1e-12);
        if (!(all <= most[what][name])) {
          const sums = `All collections together would reveal ${name} ${all.toPrecision(4)} about the ${what}`;
          throw Error(`${sums}, more than the budget of ${most[what][name]}. Nothing is sent.`);
        }
      }
    }
    const lines = [`#${digest.slice(0, 16)}-${collection}`, ...draw(plan, demand.level, items, bytes)];
    kept.sent.push({ digest, told, collection, asked, level: demand.level, rounds, spent, guarantee, lines });
    store.write(JSON.stringify(kept)); // before anything is sent
    return { lines, guarantee };
  });
}
