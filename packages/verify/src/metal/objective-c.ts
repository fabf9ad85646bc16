import koffi from "koffi";
import { VerifyError } from "../errors.ts";

const OBJECT = "uint64_t";

koffi.struct("MTLSize", { width: "uint64_t", height: "uint64_t", depth: "uint64_t" });

/** The shapes of message that the Metal device sends: result, then arguments after receiver and selector. */
const SHAPES = {
  object: [OBJECT, ""],
  objectFromObject: [OBJECT, OBJECT],
  objectFromString: [OBJECT, "str"],
  objectFromObjectError: [OBJECT, `${OBJECT}, _Out_ uint64_t *`],
  objectFromTwoError: [OBJECT, `${OBJECT}, ${OBJECT}, _Out_ uint64_t *`],
  objectFromLengthOptions: [OBJECT, "uint64_t, uint64_t"],
  text: ["str", ""],
  integer: ["uint64_t", ""],
  real: ["double", ""],
  none: ["void", ""],
  setInteger: ["void", "uint64_t"],
  setObject: ["void", OBJECT],
  setConstant: ["void", "const void *, uint64_t, uint64_t"],
  setBuffer: ["void", `${OBJECT}, uint64_t, uint64_t`],
  setBytes: ["void", "const void *, uint64_t, uint64_t"],
  setMemoryLength: ["void", "uint64_t, uint64_t"],
  dispatch: ["void", "MTLSize, MTLSize"],
} as const;

export type MessageShape = keyof typeof SHAPES;

/** The Objective-C runtime and Metal's one C function. */
export interface ObjectiveC {
  /** The class, as a receiver. */
  getClass(name: string): bigint;
  /** Sends a message of the given shape. */
  send(shape: MessageShape, receiver: bigint, selector: string, ...args: readonly unknown[]): unknown;
  /** The same on a worker thread. */
  sendAsync(shape: MessageShape, receiver: bigint, selector: string): Promise<unknown>;
  createSystemDefaultDevice(): bigint;
  /** Runs `work` with a pool that frees what Metal returns autoreleased. */
  withPool<T>(work: () => T): T;
}

function open(name: string): ReturnType<typeof koffi.load> {
  try {
    return koffi.load(name);
  } catch (error) {
    throw new VerifyError(
      "DEVICE_UNAVAILABLE",
      `${name} cannot be opened`,
      "Metal needs macOS 11 or later",
      error,
    );
  }
}

/**
 * Binds the Objective-C runtime and Metal. ELIZA_METAL_LIBRARY names one library that stands for both, for tests
 * of the messages without a Mac.
 * @throws VerifyError DEVICE_UNAVAILABLE away from macOS
 */
export function loadObjectiveC(): ObjectiveC {
  const mock = process.env.ELIZA_METAL_LIBRARY;
  if (!mock && process.platform !== "darwin") {
    throw new VerifyError(
      "DEVICE_UNAVAILABLE",
      `Metal runs on macOS and iOS only; this is ${process.platform}`,
      "use --device emulated-metal to check the sources here",
    );
  }
  const runtime = open(mock ?? "/usr/lib/libobjc.A.dylib");
  const metal = open(mock ?? "/System/Library/Frameworks/Metal.framework/Metal");
  const getClass = runtime.func(`${OBJECT} objc_getClass(str)`);
  const register = runtime.func(`${OBJECT} sel_registerName(str)`);
  const push = runtime.func("uint64_t objc_autoreleasePoolPush()");
  const pop = runtime.func("void objc_autoreleasePoolPop(uint64_t)");
  const create = metal.func(`${OBJECT} MTLCreateSystemDefaultDevice()`);
  const messages = Object.fromEntries(
    Object.entries(SHAPES).map(([shape, [result, args]]) => [
      shape,
      runtime.func("objc_msgSend", result, [OBJECT, OBJECT, ...args.split(", ").filter(Boolean)]),
    ]),
  );
  const selectors = new Map<string, bigint>();
  const selectorOf = (name: string): bigint => {
    const known = selectors.get(name);
    if (known !== undefined) return known;
    const selector = BigInt(register(name));
    selectors.set(name, selector);
    return selector;
  };
  return {
    getClass: (name) => BigInt(getClass(name)),
    send: (shape, receiver, selector, ...args) => messages[shape]!(receiver, selectorOf(selector), ...args),
    sendAsync: (shape, receiver, selector) =>
      new Promise((resolve, reject) => {
        messages[shape]!.async(receiver, selectorOf(selector), (error: unknown, result: unknown) =>
          error ? reject(error) : resolve(result),
        );
      }),
    createSystemDefaultDevice: () => BigInt(create()),
    withPool: (work) => {
      const pool = push();
      try {
        return work();
      } finally {
        pop(pool);
      }
    },
  };
}
