export { BuildError, type BuildErrorCode } from "./errors.ts";
export {
  ensureNativeLibrary,
  findNativeLibrary,
  type NativeLibrary,
  type NativeVariant,
} from "./native-library.ts";
export { findTools, type Tool } from "./toolchain.ts";
