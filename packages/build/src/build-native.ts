/** `npm run build:native`: builds the native library, or says that it is there. */

import { ensureNativeLibrary } from "./ensure-native-library.ts";
import { BuildError } from "./errors.ts";
import type { NativeVariant } from "./native-library.ts";

const variant = (process.argv[2] ?? "edited") as NativeVariant;
const started = Date.now();
try {
  const library = await ensureNativeLibrary({
    variant,
    onStage: (line) => console.error(line),
    onProgress: ({ step, of, line }) => console.error(`[${step}/${of}] ${line}`),
  });
  console.log(`${library.folder} (${((Date.now() - started) / 1000).toFixed(1)} s)`);
} catch (error) {
  if (!(error instanceof BuildError)) throw error;
  console.error(`${error.code}: ${error.message}\n${error.hint}`);
  process.exitCode = 1;
}
