import { Interpreter } from "@huggingface/jinja";

type Statement = { type: string } | undefined;
interface Value {
  value: unknown;
}

// The package's own declarations cannot be followed by Node's rules of resolution.
const JinjaInterpreter = Interpreter as unknown as new (
  environment: unknown,
) => {
  run(program: unknown): Value;
  evaluate(statement: Statement, environment: unknown): Value;
};

export interface TemplateLimits {
  /** Nodes of the template that are evaluated. */
  steps: number;
  /** Characters of all strings, and items of all lists, that the template makes. */
  size: number;
  milliseconds: number;
}

/** Far beyond what a long conversation takes; a template comes with a model from a stranger, and V8 ends the process at 2^27 matches. */
export const templateLimits: TemplateLimits = { steps: 2_000_000, size: 32 << 20, milliseconds: 3_000 };

/** As long as the event loop may wait for it. */
export const briefMilliseconds = 50;

/** What looks values up and makes none. */
const finding = new Set([
  "Identifier",
  "MemberExpression",
  "StringLiteral",
  "IntegerLiteral",
  "FloatLiteral",
]);

/** A template that went beyond its limits. */
export class TemplateTooLarge extends Error {
  /** Whether only time was lacking. */
  readonly isSlow: boolean;

  constructor(what: string, isSlow = false) {
    super(what);
    this.isSlow = isSlow;
  }
}

/**
 * Jinja's interpreter that stops at limits. A list counts with all that it holds: lists of lists that hold one list many
 * times are small in memory and endless as text.
 */
export class BoundedInterpreter extends JinjaInterpreter {
  readonly #limits: TemplateLimits;
  readonly #end: number;
  readonly #sizes = new WeakMap<object, number>();
  #steps = 0;
  #size = 0;

  constructor(environment: unknown, limits: TemplateLimits) {
    super(environment);
    this.#limits = limits;
    this.#end = performance.now() + limits.milliseconds;
  }

  override evaluate(statement: Statement, environment: unknown): Value {
    if (++this.#steps > this.#limits.steps) throw new TemplateTooLarge(`took ${this.#limits.steps} steps`);
    if (performance.now() > this.#end) {
      throw new TemplateTooLarge(`took ${this.#limits.milliseconds / 1000} seconds`, true);
    }
    const value = super.evaluate(statement, environment);
    if (statement && !finding.has(statement.type)) {
      this.#size += this.#sizeOf(value);
      if (this.#size > this.#limits.size) {
        throw new TemplateTooLarge(`made more than ${this.#limits.size} characters`);
      }
    }
    return value;
  }

  #sizeOf(value: Value): number {
    const held: unknown = value.value;
    if (typeof held === "string") return held.length;
    if (typeof held !== "object" || held === null) return 0;
    const known = this.#sizes.get(held);
    if (known !== undefined) return known;
    this.#sizes.set(held, 1); // whatever holds itself
    let size = 1;
    const items = Array.isArray(held) ? held : held instanceof Map ? held.values() : [];
    for (const item of items as Iterable<Value>) size += this.#sizeOf(item);
    this.#sizes.set(held, size);
    return size;
  }
}
