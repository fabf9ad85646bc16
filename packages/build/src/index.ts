export { BuildError, type BuildErrorCode } from "./errors.ts";
export { findTools, type Tool } from "./toolchain.ts";
export { ensureNativeLibrary, type NativeLibrary } from "./native-library.ts";
