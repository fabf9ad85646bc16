import koffi from "koffi";
import { shown } from "../arguments/rule.ts";
import { InferenceError } from "../errors.ts";
import { type StreamConfig, streamConfigProblem, streamConfigType } from "./stream-config.ts";

type KoffiType = string | ReturnType<typeof koffi.pointer>;

/** One parameter of a C function: its type there, and what of JavaScript may go into it. */
export interface Parameter<T> {
  readonly type: KoffiType;
  /** What is wrong with a value, in words that follow "is"; undefined if it fits. */
  problem(value: unknown): string | undefined;
  /** What koffi is given. */
  pass(value: T): unknown;
}

/** An object that the library made. koffi takes any number for a pointer, so addresses stay inside. */
export class NativeHandle<Kind extends string> {
  readonly kind: Kind;
  readonly #address: bigint;
  #isOpen = true;

  constructor(kind: Kind, address: bigint) {
    this.kind = kind;
    this.#address = address;
  }

  get address(): bigint {
    return this.#address;
  }

  get isOpen(): boolean {
    return this.#isOpen;
  }

  /** Once, before the library frees it: no call may see it afterwards. */
  release(): void {
    this.#isOpen = false;
  }
}

function parameter<T>(
  type: KoffiType,
  problem: (value: unknown) => string | undefined,
  pass: (value: T) => unknown = (value) => value,
): Parameter<T> {
  return { type, problem, pass };
}

/** A string of C. */
export const string: Parameter<string> = parameter("const char *", (value) => {
  if (typeof value !== "string") return `${shown(value)}, not a string`;
  return value.includes("\0") ? "a string with a NUL, where C would end it" : undefined;
});

/** Text with its length in the next parameter, so that it may hold NULs. */
export const bytes: Parameter<Uint8Array> = parameter("const uint8_t *", (value) =>
  value instanceof Uint8Array ? undefined : `${shown(value)}, not bytes`,
);

export const writableBytes: Parameter<Uint8Array> = { ...bytes, type: "uint8_t *" };

export const int32: Parameter<number> = parameter("int32_t", (value) =>
  Number.isInteger(value) && (value as number) === ((value as number) | 0)
    ? undefined
    : `${shown(value)}, not an integer of 32 bits`,
);

export const size: Parameter<number> = parameter("size_t", (value) =>
  Number.isSafeInteger(value) && (value as number) >= 0 ? undefined : `${shown(value)}, not a size`,
);

export const int32s: Parameter<Int32Array> = parameter("int32_t *", (value) =>
  value instanceof Int32Array ? undefined : `${shown(value)}, not an Int32Array`,
);

export const uint64s: Parameter<BigUint64Array> = parameter("uint64_t *", (value) =>
  value instanceof BigUint64Array ? undefined : `${shown(value)}, not a BigUint64Array`,
);

/** A place for a pointer that the library writes. */
export const out: Parameter<[unknown]> = parameter("_Out_ void **", (value) =>
  Array.isArray(value) && value.length === 1 && value[0] === null
    ? undefined
    : `${shown(value)}, not an empty place for a result`,
);

/** What `out` or a result gave, to be freed. */
export const allocation: Parameter<bigint> = parameter("void *", (value) =>
  typeof value === "bigint" && value > 0n ? undefined : `${shown(value)}, not an allocation`,
);

export const config: Parameter<StreamConfig> = parameter(
  koffi.pointer(streamConfigType),
  streamConfigProblem,
);

/** An object of one kind that has not been closed. */
export function handle<Kind extends string>(kind: Kind): Parameter<NativeHandle<Kind>> {
  return parameter(
    "void *",
    (value) => {
      if (!(value instanceof NativeHandle) || value.kind !== kind) return `${shown(value)}, not a ${kind}`;
      return value.isOpen ? undefined : `a ${kind} that was closed`;
    },
    (value) => value.address,
  );
}

/**
 * The values of a call as koffi is to have them. Every call of the library goes through here: koffi reads memory at
 * whatever number it gets for a pointer.
 *
 * @throws InferenceError INVALID_ARGUMENT
 */
export function passed(
  symbol: string,
  parameters: readonly Parameter<never>[],
  values: readonly unknown[],
): unknown[] {
  if (values.length !== parameters.length) {
    throw refusal(`${symbol} was called with ${values.length} values, it takes ${parameters.length}`);
  }
  return parameters.map((each, index) => {
    const problem = each.problem(values[index]);
    if (problem !== undefined) throw refusal(`value ${index + 1} of ${symbol} is ${problem}`);
    return each.pass(values[index] as never);
  });
}

function refusal(message: string): InferenceError {
  return new InferenceError(
    "INVALID_ARGUMENT",
    message,
    "Give the types that the API declares; JavaScript does not check them.",
  );
}
