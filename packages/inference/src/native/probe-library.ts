import { loadLibrary } from "./load-library.ts";
import { ABI_VERSION, type CacheTypeInfo } from "./native-library.ts";

/** The native library that this package would use, loaded and asked. Throws NATIVE_LIBRARY_MISSING or ABI_MISMATCH. */
export async function probeNativeLibrary(): Promise<{
  path: string;
  abi: string;
  cacheTypes: CacheTypeInfo[];
}> {
  const library = await loadLibrary();
  return { path: library.path, abi: ABI_VERSION, cacheTypes: library.cacheTypes() };
}
