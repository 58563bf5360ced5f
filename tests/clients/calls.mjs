// Call functions of clients/segshuffle.mjs: a list of [name, arguments] comes in, a list of results goes out, as JSON.
// In arguments {"hex": "09f2"} is a source of these bytes, and {"store": null} a store for accounts with this content.
import { readFileSync } from "node:fs";

const [, , path, ...faults] = process.argv;
let text = readFileSync(path, "utf8");
for (let i = 0; i < faults.length; i += 2) {
  if (!text.includes(faults[i])) throw Error(`there is no ${faults[i]}`);
  text = text.replace(faults[i], faults[i + 1]);
}
const client = await import("data:text/javascript;base64," + Buffer.from(text).toString("base64"));

function made(value, left) {
  if (Array.isArray(value)) return value.map((each) => made(each, left));
  if (typeof value !== "object" || value === null) return value;
  if (typeof value.hex === "string") {
    const bytes = Buffer.from(value.hex, "hex");
    let at = 0;
    left.push(() => bytes.length - at);
    return (n) => {
      if (at + n > bytes.length) throw Error("no bytes are left");
      return bytes.subarray(at, (at += n));
    };
  }
  if ("store" in value) {
    let kept = value.store;
    return { read: () => kept, write: (content) => { kept = content; }, locked: (work) => work() };
  }
  return Object.fromEntries(Object.entries(value).map(([key, each]) => [key, made(each, left)]));
}

const shared = {};
const results = [];
for (const [name, given] of JSON.parse(readFileSync(0, "utf8"))) {
  const left = [];
  const values = given.map((value) => (value?.shared ? (shared[value.shared] ??= made({ store: null }, left)) : made(value, left)));
  const started = performance.now();
  try {
    results.push({ value: await client[name](...values), left: left.map((count) => count()), milliseconds: performance.now() - started });
  } catch (error) {
    results.push({ error: error.message, milliseconds: performance.now() - started });
  }
}
console.log(JSON.stringify(results));
