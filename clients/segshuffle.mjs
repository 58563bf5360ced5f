// A client of segshuffle: it checks a plan before it sends anything, draws the messages exactly, and keeps an account.
// The steps of `check` are those of docs/proof.md, "A verifier without this package": 2 to 5 in doubles, the others in
// whole numbers of units 2^-bits.
// `draw` follows docs/wire.md. What a client must check and remember is in docs/clients.md.

// --- fractions of whole numbers, [numerator, denominator] ---------------------------------------------------------------

const gcd = (a, b) => (b ? gcd(b, a % b) : a);
const lowest = ([a, b]) => { const g = gcd(a, b); return [a / g, b / g]; };
const times = ([a, b], [c, d]) => lowest([a * c, b * d]);
const minus = ([a, b], [c, d]) => lowest([a * d - c * b, b * d]);
const floor = ([a, b]) => (a >= 0n ? a / b : -((b - 1n - a) / b));
const up = (a, b) => (a + b - 1n) / b;
const ONE = [1n, 1n], HALF = [1n, 2n], ZERO = [0n, 1n];

/** The fraction that a double is. */
function exact(value) {
  let denominator = 1n;
  for (; !Number.isInteger(value); denominator *= 2n) value *= 2;
  return lowest([BigInt(value), denominator]);
}

// --- an upper bound of delta --------------------------------------------------------------------------------------------

const limit = (size) => { if (!(size <= 200_000)) throw Error("so many dummies, or different losses, take too long to check"); };
const sum = (values) => values.reduce((a, b) => a + b);
const U = 2 ** -53;

/** The first of the numbers 0, 1, ..., n - 1 that passes a test, which all later ones pass, or n. */
function search(n, test) {
  let first = 0;
  for (let end = n; first < end; ) { const middle = (first + end) >> 1; if (test(middle)) end = middle; else first = middle + 1; }
  return first;
}

function power(base, n, bits, least) {
  let value = 1n << bits;
  for (const digit of n.toString(2)) {
    value = ((value * value) >> bits) + least;
    if (digit === "1") value = ((value * base) >> bits) + least;
  }
  return value;
}

/** Step 1: e^x is at least (1 + x/N)^N. */
function expLow([a, b], bits) {
  return power((1n << bits) + floor([a << (bits - bits / 2n), b]), 1n << (bits / 2n), bits, 0n);
}

/** Convolve by one product of long numbers, and round up. */
function convolved(a, b, bits) {
  const width = (sum(a) * sum(b)).toString(16).length, n = a.length + b.length - 1, one = 1n << bits;
  const long = (values) => BigInt("0x" + values.map((value) => value.toString(16).padStart(width, "0")).join(""));
  const first = long(a), digits = (first * (a === b ? first : long(b))).toString(16).padStart(n * width, "0");
  return Array.from({ length: n }, (_, i) => up(BigInt("0x" + digits.slice(i * width, (i + 1) * width)), one));
}

/** Step 2: masses of the counts of a part, and what they lack, for a law with the double c in the place of mean (1 - p). */
function counter(mean, p, tiny) {
  const c = mean * (1 - p) * (1 - 8 * U), factor = (x) => (p * (x - 1) + c) / x, mode = Math.floor((c - p) / (1 - p));
  if (!(c > 0 && c >= p)) throw Error("nothing is proven for clusters with r < 1, or without dummies");
  limit(40 * Math.sqrt(mean / (1 - p) + 1));
  let lost = 0;
  const side = (next, end) => {
    const weights = [1];
    for (let x = mode, w = 1; x !== end; weights.push(w)) {
      const g = next(x), rest = g < 1 - 1e-9 ? (w * g) / (1 - g) : Infinity;
      if (rest <= tiny) { lost += rest * (1 + 1e-6); break; } // all further weights together
      w *= g;
      x += end < 0 ? 1 : -1;
    }
    return weights;
  };
  const right = side((x) => factor(x + 1), -1), left = side((x) => 1 / factor(x), 0);
  const weights = Float64Array.from([...left.slice(1).reverse(), ...right]), total = sum(weights);
  return [weights.map((weight) => weight / total), (lost / total) * 2];
}

/** Step 3: masses of a counter in columns, which an own message moves by one; what they lack; their relative error. */
function blanket(law, mean, tiny) {
  if (law.name !== "signed") {
    const [masses, lost] = counter(mean, law.p ?? 0, tiny);
    return [Array.from(masses, (mass) => [mass]), lost, 16 * (masses.length + 8) * U];
  }
  const [noise, lostNoise] = counter(((1 - law.flood) * mean) / 2, law.p, tiny);
  const [flood, lostFlood] = counter((law.flood * mean) / 2, law.flood_p, tiny);
  const n = noise.length, rows = n + flood.length, plus = [], minus = [], peak = flood.indexOf(Math.max(...flood));
  const cut = (32 * tiny) / (n * n * flood.length), below = new Float64Array(flood.length + 1), above = below.slice();
  let lost = 2 * lostNoise + lostFlood;
  limit((n * rows) / 40);
  flood.forEach((mass, z) => { below[z + 1] = below[z] + mass; });
  for (let z = flood.length; z-- > 0; ) above[z] = above[z + 1] + flood[z];
  for (let k = 0; k < n; k++) {
    const pairs = noise.slice(k).map((mass, i) => mass * noise[i]), total = sum(pairs);
    if (plus.length < k || (k && total * n < tiny)) { lost += 2 * total; continue; }
    const column = new Float64Array(rows), shifted = new Float64Array(rows);
    pairs.forEach((mass, i) => { // only products that matter: flood falls on both sides of its peak
      const first = search(peak, (z) => mass * flood[z] > cut), end = peak + search(flood.length - peak, (z) => mass * flood[peak + z] <= cut);
      lost += 2 * mass * (below[first] + above[end]);
      for (let z = first; z < end; z++) column[i + z] += mass * flood[z];
    });
    plus.push(column);
    shifted.set(column.subarray(0, rows - k), k);
    minus.push(shifted);
  }
  return [[...minus.slice(1).reverse(), ...plus], lost, 32 * (rows + 8) * U];
}

/** Step 4: masses of the values of a counter, held and not held, and what was left out of both. */
function atoms(columns, copies, tiny) {
  const whole = Math.floor(copies), more = copies - whole, rows = columns[0].length, none = new Float64Array(rows);
  const least = (32 * tiny) / ((columns.length + whole + 1) * rows), held = [], other = [], lost = [0, 0];
  for (let k = 0; k < columns.length + whole + 1; k++) {
    const [now, before, earlier] = [k, k - whole, k - whole - 1].map((at) => columns[at] ?? none);
    for (let row = 0; row < rows; row++) {
      const b = now[row], a = (1 - more) * before[row] + more * earlier[row];
      if (a + b > least && a < 1e140 * b && b < 1e140 * a) { held.push(a); other.push(b); } else { lost[0] += a; lost[1] += b; }
    }
  }
  return [held, other, lost];
}

/** Step 5: split masses between the ratios top, top/rho, ..., rho = 1 + 1/fine, and turn them into whole numbers. */
function table(masses, others, lost, error, fine, tiny, bits) {
  let top = 1e-140, bottom = 1e140;
  masses.forEach((mass, i) => { const ratio = mass / others[i]; top = Math.max(top, ratio); bottom = Math.min(bottom, ratio); });
  const size = Math.max(3, Math.ceil(Math.log(Math.max(top / bottom, 1)) * (fine + 1)) + 3), wrong = 4 * size * U + 4 * error;
  limit(size / 10);
  top *= 1 + 4 * wrong;
  const rungs = new Float64Array(size), cells = new Float64Array(size), logRho = Math.log1p(1 / fine), units = 2 ** Number(bits);
  for (let i = 0, rung = top; i < size; i++) { rungs[i] = rung; rung = (rung * fine) / (fine + 1); }
  masses.forEach((mass, i) => {
    const ratio = (mass / others[i]) * (1 + 2 * wrong);
    let place = Math.min(size - 2, Math.max(0, Math.floor(Math.log(top / ratio) / logRho)));
    while (place > 0 && rungs[place] < ratio * (1 + wrong)) place--;
    while (place < size - 2 && rungs[place + 1] >= ratio * (1 + wrong)) place++;
    const share = Math.min(1, Math.max(0, (ratio - rungs[place + 1] * (1 - wrong)) / ratio) * (fine + 1) * (1 + 16 * U));
    cells[place] += mass * share;
    cells[place + 1] += mass * (1 - share);
  });
  const safe = 1 + 2 * (masses.length + 16) * U + 2 * error, whole = (mass) => BigInt(Math.ceil(mass * safe * units)) + 1n;
  const [a, b] = exact(top);
  const listed = Array.from(cells, whole);
  return [trimmed(listed, 0, sum(listed) + whole(lost), tiny), up(a << bits, b)];
}

/** Step 6: raise small masses at both ends, those of the largest ratios to infinity. */
function trimmed(masses, first, total, tiny) {
  let start = 0, low = 0n, high = 0n;
  while (masses.length > 1 && low + masses.at(-1) <= tiny) low += masses.pop();
  masses[masses.length - 1] += low;
  while (start < masses.length - 1 && high + masses[start] <= tiny) high += masses[start++];
  return [masses.slice(start), first + start, total];
}

/** Step 6: join tables of independent counters. */
function product(a, b, tiny, bits) {
  limit(a[0].length + b[0].length);
  const total = up(a[2] * b[2], 1n << bits) + BigInt(a[0].length + b[0].length);
  return trimmed(convolved(a[0], b[0], bits), a[1] + b[1], total, tiny);
}

/** Step 7: the sum of (mass of P - ratio mass of Q) over the places of the product, where it is positive. */
function excessMass(a, b, top, ratio, fine, bits) {
  const shift = BigInt(top.toString(2).length), limit = 1n << (shift + bits), rho = (1n << bits) + (1n << bits) / fine;
  const powers = [1n << bits], sums = [0n], scaled = [0n]; // of rho; of masses of b, and of these masses times powers of rho
  b[0].forEach((mass, j) => {
    sums.push(sums[j] + mass);
    scaled.push(scaled[j] + ((mass * powers[j]) >> bits));
    powers.push((powers[j] * rho) >> bits);
  });
  let total = up(a[2] * b[2] - sum(a[0]) * sum(b[0]), 1n << bits); // the mass at the ratio infinity
  // other is what mass of Q counts where the mass of P is 1; from the end on it outweighs that
  let end = b[0].length, other = (((ratio << shift) / top) * power(rho, a[1] + b[1], bits, 0n)) >> bits;
  for (const mass of a[0]) {
    while (end && other * powers[end - 1] >= limit) end--;
    if (!end) break;
    total += up(mass * ((sums[end] << shift) - other * scaled[end]), limit);
    other = (other * rho) >> bits;
  }
  return total;
}

function uncapped([held, other, lost, error], pairs, ratio, expected, width, tiny, bits) {
  const z = Math.sqrt(-2 * Math.log(expected)), epsilon = Math.max(Math.log(Number(ratio) / 2 ** Number(bits)), 1e-9);
  const tilt = Math.max((z + Math.sqrt(z * z + 2 * epsilon)) ** 2 / (4 * epsilon) - 0.5, 1);
  const fine = Math.ceil(Math.sqrt(((tilt * (1 + tilt) * pairs) / 6 + 1) / width)), least = BigInt(Math.floor(tiny * 2 ** Number(bits)));
  let [a, top] = table(held, other, lost[0], error, fine, least, bits), [b, topOther] = table(other, held, lost[1], error, fine, least, bits), pair = null;
  [...pairs.toString(2)].slice(1).forEach((digit, place) => { // a and b are still to be joined
    const small = least << BigInt(place + 1), joined = product(a, b, small, bits);
    pair ??= joined;
    [a, b] = digit === "1" ? [product(joined, joined, small, bits), pair] : [joined, joined];
  });
  top = power(up(top * topOther, 1n << bits), pairs, bits, 1n);
  return [excessMass(a, b, top, ratio, BigInt(fine), bits), a[0].length + b[0].length];
}

function root(value) {
  let found = 1n << BigInt((value.toString(2).length + 1) >> 1);
  for (let next = found; ; found = next) { next = (found + value / found) >> 1n; if (next >= found) return found; }
}

/** Step 8: [whether delta is at most this at epsilon, a bound of delta], with the cost of a cap. */
function deltaBound({ law, m, cap, honest, domainSize, copies, pairs, epsilon, delta, rounds }) {
  if (pairs === 0 || copies === 0) return [true, 0];
  const bits = 4n * BigInt(Math.ceil((48 + Math.log2(pairs / delta)) / 4)), one = 1n << bits, n = BigInt(honest);
  const mean = ((m * honest) / domainSize) * (1 - 4 * U), [most, unit] = exact(delta), target = (most * one) / unit;
  let ratio = expLow(exact(epsilon), bits), kappa = 0n, tail = 0n, best = one;
  if (cap !== null) {
    const log = lowest([BigInt(Math.ceil(1000 * (epsilon + Math.log((1000 * rounds) / delta)))), 1000n]), k = BigInt(cap) + 1n;
    const total = times(exact(m), [n, 1n]), spread = root(floor(times(times(total, log), [2n * one * one, 1n]))) + 1n;
    const x = [total[0] * 3n * one * log[1] + (spread * 3n * log[1] + log[0] * one) * total[1], total[1] * 3n * one * log[1] * n];
    if (x[0] >= k * x[1]) return [false, 1];
    const share = [x[0], x[1] * k], chance = up(share[0] * one * one, share[1] * expLow(minus(share, ONE), bits));
    kappa = n * BigInt(rounds) * power(chance, k, bits, 1n);
    tail = up(BigInt(rounds) * one * one, expLow(minus(log, exact(epsilon)), bits));
    if (kappa >= one) return [false, 1];
    ratio = (ratio * (one - kappa)) >> bits;
  }
  const tiny = delta / (1e6 * pairs), [columns, lack, error] = blanket(law, mean, tiny), [held, other, left] = atoms(columns, copies, tiny);
  const counters = [held, other, left.map((mass) => (mass + lack) * (1 + 1e-6)), error];
  const signed = law.name === "signed", few = pairs * held.length < 128;
  const enough = signed ? 18_000 : few ? 30_000 : 0; // places: losses of signs end near epsilon, few outcomes have gaps
  for (const width of [6e-4, 6e-5, 6e-6, 6e-7].slice(signed ? (pairs > 2 ? 1 : 2) : 0)) {
    const before = best, [uncut, places] = uncapped(counters, pairs, ratio, delta, width, tiny, bits), found = up((uncut + tail) * one, one - kappa);
    if (found < best) best = found;
    const hopeless = best > 1000n * target || (width < 1e-4 && 2n * (before - best) < best - target);
    const rough = best * 2000n > target && places < enough;
    if (best > target ? hopeless : !rough) break;
  }
  return [best <= target, Number(best + (best >> 50n) + 1n) / 2 ** Number(bits)];
}

// --- what a plan guarantees ----------------------------------------------------------------------------------------------

const LAWS = { poisson: [], clustered: ["p"], signed: ["p", "flood_p", "flood"] };

function number(name, value, least, most, whole = false) {
  const fits = typeof value === "number" && value >= least && value <= most && (!whole || Number.isSafeInteger(value));
  if (!fits) throw Error(`${name} is ${JSON.stringify(value)}, but must be a ${whole ? "whole " : ""}number from ${least} to ${most}`);
  return value;
}

/** Refuse a plan whose messages cannot be drawn; return what is needed for that. */
function scheme(plan) {
  const { problem, scheme: { law, copies, blanket_per_user: m, blanket_cap: cap } } = plan, names = LAWS[Object.hasOwn(LAWS, law.name) ? law.name : ""];
  if (!names || Object.keys(law).length !== names.length + 1) throw Error(`nothing is known about dummies of the law ${JSON.stringify(law)}`);
  for (const name of names) number(name, law[name], name === "flood" || law.name === "clustered" ? 2 ** -1000 : 0, name === "flood" ? 1 - U : 0.99);
  if (!Array.isArray(copies) || copies.length < 1 || copies.length > 100) throw Error("copies must be a list with a number for each of at most 100 levels");
  copies.forEach((each) => number("copies", each, 0, 64));
  if (cap !== null && law.name !== "poisson") throw Error("nothing is proven for a cap on these dummies");
  if (cap !== null) number("blanket_cap", cap, Math.ceil(number("blanket_per_user", m, 0, 1e9)), 2 ** 40, true);
  const domainSize = number("domain_size", problem.domain_size, 2, 1e9, true);
  return { law, copies, m: number("blanket_per_user", m, 0, 1e9), cap, domainSize, setSize: number("set_size", problem.set_size, 1, domainSize, true) };
}

/** Bound how many random numbers a client draws for its dummies, on average. */
function steps({ law, m, cap }) {
  const count = (mean, p) => {
    const first = p ? (mean * (1 - p)) / p : 2 * mean, odds = p || 0.5, pieces = Math.max(1, Math.ceil(first)), part = first / pieces;
    const kept = p ? (1 - odds) ** (1 - part) : (1 - odds) * Math.exp(odds * part);
    return (pieces * (1 + (2 * odds) / (1 - odds))) / kept + 2 * mean;
  };
  if (law.name !== "signed") return count(m, law.p ?? 0) * (cap === null ? 1 : 2);
  return 2 * count(((1 - law.flood) * m) / 2, law.p) + count((law.flood * m) / 2, law.flood_p);
}

/** What a plan guarantees a user who demands this, or why it is refused (see segshuffle.d.ts). */
export function check(plan, demand) {
  try {
    if (plan.format !== "segshuffle-plan" || plan.version !== 3 || plan.messages !== 1) throw Error("only plans of version 3, with messages of version 1, are known");
    const { law, copies, m, cap, domainSize, setSize } = scheme(plan), { sets = "at-most", rounds = 1, mostMessages = 10_000, levelBudget = null } = demand;
    const level = number("level", demand.level, 0, copies.length - 1, true), honest = number("honestUsers", demand.honestUsers, 1, 2 ** 53 - 1, true);
    number("epsilon", demand.epsilon, 1e-9, 100);
    number("delta", demand.delta, 1e-110, 1 - 1e-9);
    number("rounds", rounds, 1, 10_000, true);
    if (sets !== "at-most" && sets !== "exactly") throw Error('sets must be "at-most" or "exactly"');
    if (sets === "exactly" && setSize === domainSize) throw Error("sets of all items are all the same, so there is nothing to estimate");
    const messages = m + setSize * copies[level];
    if (messages > number("mostMessages", mostMessages, 0, 1e9)) throw Error(`it asks for ${messages.toPrecision(4)} messages on average, more than ${mostMessages}`);
    if (steps({ law, m, cap }) > Math.max(1e6, 100 * mostMessages)) throw Error("its messages take too long to draw; ask for a plan with a larger p");
    const users = Math.min(honest, plan.problem.level_counts.reduce((a, n) => a + number("level_counts", n, 0, 1e15, true), 0));
    const bound = (epsilon, delta, other) => {
      const pairs = rounds * (sets === "exactly" && other === level ? Math.min(setSize, domainSize - setSize) : setSize);
      return deltaBound({ law, m, cap, honest: users, domainSize, copies: Math.max(copies[level], copies[other]), pairs, epsilon, delta, rounds });
    };
    const refuse = (delta, epsilon, asked) => { throw Error(`with ${users} honest users delta is ${delta.toPrecision(4)} at epsilon ${epsilon}, more than ${asked}`); };
    const [shown, delta] = bound(demand.epsilon, demand.delta, level);
    if (!shown) refuse(delta, demand.epsilon, demand.delta);
    const secret = { epsilon: 0, delta: 0 };
    for (let other = 0; levelBudget !== null && other < copies.length; other++) {
      if (other === level) continue;
      const most = number("levelBudget.delta", levelBudget.delta, 1e-110, 1 - 1e-9);
      let epsilon = demand.epsilon, [good, found] = bound(epsilon, most, other);
      if (!good) {
        epsilon = Math.max(epsilon, Math.min(number("levels", plan.problem.levels[other], 1e-9, 100), number("levelBudget.epsilon", levelBudget.epsilon, 1e-9, 100)));
        [good, found] = bound(epsilon, most, other);
        if (!good) refuse(found, epsilon, `${most} for a user who may be of level ${other}`);
      }
      secret.epsilon = Math.max(secret.epsilon, epsilon);
      secret.delta = Math.max(secret.delta, found);
    }
    return { accepted: true, epsilon: demand.epsilon, delta, level: secret, messages };
  } catch (error) {
    return { accepted: false, reason: `The plan is refused: ${error.message}. Nothing is sent.` };
  }
}

// --- messages: docs/wire.md ----------------------------------------------------------------------------------------------

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
    const pieces = up(first[0], first[1]);
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

// --- what a client remembers ---------------------------------------------------------------------------------------------

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
    if (kept.version !== 1 || !Array.isArray(kept.sent)) throw Error("The account is not one of this module. Nothing is sent.");
    number("collection", collection, 1, 1e9, true);
    if (!/^[0-9a-f]{64}$/.test(plan.digest)) throw Error("The plan has no digest. Nothing is sent.");
    const { digest } = plan, told = JSON.stringify([plan.problem, plan.scheme]), rounds = demand.rounds ?? 1;
    if (rounds > 1 && collection > rounds) throw Error(`Only ${rounds} collections were demanded. Nothing is sent.`);
    const asked = JSON.stringify([items, demand.level]), before = kept.sent.filter((each) => each.digest === digest);
    if (before.some((each) => each.told !== told)) throw Error("Another plan had the same digest. Nothing is sent.");
    const same = before.find((each) => each.collection === collection);
    if (same && same.asked !== asked) throw Error("This collection was answered with other items or another level. Nothing else is sent.");
    if (same) return { lines: same.lines, guarantee: same.guarantee };
    const guarantee = check(plan, demand);
    if (!guarantee.accepted) throw Error(guarantee.reason);
    const covered = rounds > 1 && before.some((each) => each.rounds === rounds && each.guarantee.epsilon === demand.epsilon && each.level === demand.level);
    const none = { epsilon: 0, delta: 0 }, own = { epsilon: guarantee.epsilon, delta: guarantee.delta };
    const spent = covered ? { items: none, level: none } : { items: own, level: guarantee.level };
    for (const [what, most] of Object.entries({ items: budget, level: demand.levelBudget ?? { epsilon: Infinity, delta: Infinity } })) {
      for (const name of ["epsilon", "delta"]) {
        const all = [...kept.sent.map((each) => each.spent[what][name]), spent[what][name]].reduce((a, b) => a + b) * (1 - 1e-12);
        if (!(all <= most[name])) {
          throw Error(`All collections together would reveal ${name} ${all.toPrecision(4)} about the ${what}, more than the budget of ${most[name]}. Nothing is sent.`);
        }
      }
    }
    const lines = [`#${digest.slice(0, 16)}-${collection}`, ...draw(plan, demand.level, items, bytes)];
    kept.sent.push({ digest, told, collection, asked, level: demand.level, rounds, spent, guarantee, lines });
    store.write(JSON.stringify(kept)); // before anything is sent
    return { lines, guarantee };
  });
}
