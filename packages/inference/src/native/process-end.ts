import { isMainThread } from "node:worker_threads";
import type { NativeFunctions } from "./ffi-functions.ts";
import type { ContextHandle } from "./native-library.ts";

const watched = new Set<string>();

/**
 * A process that ends in the middle of a generation ends cleanly: on the main thread the engines are stopped before Node
 * joins its pool threads; a worker that is terminated takes its models with it.
 */
export function endWithHost(path: string, functions: NativeFunctions, context: ContextHandle): void {
  if (!isMainThread) {
    functions.end_with_thread.call(context);
  } else if (!watched.has(path)) {
    watched.add(path);
    process.once("exit", () => functions.shutdown.call());
  }
}
