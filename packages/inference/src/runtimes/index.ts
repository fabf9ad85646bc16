export {
  type AddedRuntime,
  type AddRuntimeOptions,
  addRuntime,
  findRuntime,
  type RuntimeProgress,
} from "./add-runtime.ts";
export { findKnownRuntime, type KnownRuntime, knownRuntimes, type RuntimeWheel } from "./known-runtimes.ts";
