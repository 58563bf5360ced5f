/** A plan, as `segshuffle plan --save` writes it and `JSON.parse` reads it. */
export interface Plan {
  format: "segshuffle-plan";
  version: 3;
  messages: 1;
  digest: string;
  problem: { domain_size: number; set_size: number; levels: number[]; level_counts: number[] };
  scheme: { copies: number[]; blanket_per_user: number; blanket_cap: number | null; law: { name: string; [parameter: string]: number | string } };
  items?: string[] | null;
}

/** What a user demands, from itself and never from the plan. */
export interface Demand {
  /** Number of the user's level, from 0. */
  level: number;
  /** Guarantee of its items: epsilon in (0, 100], delta in [1e-110, 1). */
  epsilon: number;
  delta: number;
  /** Users, this one included, who certainly exist, send their dummies and do not reveal them to the server. */
  honestUsers: number;
  /** What all users are known to hold; by default at most `set_size` items. */
  sets?: "at-most" | "exactly";
  /** Collections with this plan that epsilon and delta cover together; by default 1. */
  rounds?: number;
  /** Most messages on average; by default 10,000. */
  mostMessages?: number;
  /** Most that a collection, or with `send` all together, may reveal about the level; by default (null) it is not secret. */
  levelBudget?: { epsilon: number; delta: number } | null;
}

/** What is proven for a plan. Nothing may be sent if it is not accepted. */
export type Verdict =
  | { accepted: true; epsilon: number; delta: number; level: { epsilon: number; delta: number }; messages: number }
  | { accepted: false; reason: string };

/** Secret random bytes, or those of a test. */
export type Bytes = (n: number) => Uint8Array;

/** Where an account is kept. `locked` keeps all others waiting who want to change it. */
export interface Store {
  read(): string | null;
  write(text: string): void;
  locked<T>(work: () => T): T | Promise<T>;
}

/** What a plan guarantees to a user with these demands, or why it is refused. It sends nothing. */
export function check(plan: Plan, demand: Demand): Verdict;

/** The messages of a user who holds these items (their numbers), in random order. It does not check the plan. */
export function draw(plan: Plan, level: number, items: number[], bytes?: Bytes): string[];

/** Keep an account in the local storage of a browser. */
export function browserStore(name?: string): Store;

/**
 * Check, draw, and remember before anything is sent.
 *
 * For a collection that was answered it returns the very same lines again, and throws an error if other items or another
 * level are given. It also throws one if the plan is refused, or if all collections together would exceed the budget.
 * The first line names the collection; every other one is a message.
 */
export function send(
  store: Store,
  plan: Plan,
  demand: Demand,
  items: number[],
  options: { collection?: number; budget: { epsilon: number; delta: number }; bytes?: Bytes },
): Promise<{ lines: string[]; guarantee: Extract<Verdict, { accepted: true }> }>;
