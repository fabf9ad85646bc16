export { ensureNativeLibrary } from "./ensure-native-library.ts";
export { BuildError, type BuildErrorCode } from "./errors.ts";
export { findNativeLibrary, type NativeLibrary, type NativeVariant } from "./native-library.ts";
export { findTools, type Tool } from "./toolchain.ts";
