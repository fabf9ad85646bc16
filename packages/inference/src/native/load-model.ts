import { InferenceError } from "../errors.ts";
import type { ContextHandle, NativeLibrary } from "./native-library.ts";

const progressEveryMs = 50;

/**
 * Loads llama.cpp's model, and ends when the load has. An aborted signal stops it; so does a progress callback that throws, whose error
 * is passed on.
 *
 * @param onProgress is told the share that is loaded, 0 to 1, at most every 50 ms, and 1 at the end
 * @throws InferenceError CANCELLED, MODEL_INVALID, MODEL_NOT_FOUND, OUT_OF_MEMORY
 */
export async function loadModel(
  library: NativeLibrary,
  context: ContextHandle,
  gpuLayers: number,
  {
    onProgress,
    signal,
  }: { onProgress?: ((loaded: number) => void) | undefined; signal?: AbortSignal | undefined },
): Promise<void> {
  if (signal?.aborted) {
    throw new InferenceError("CANCELLED", "the load was cancelled before it began", "Open the model again.");
  }
  let thrown: { error: unknown } | undefined;
  const tell = (loaded: number): void => {
    try {
      onProgress?.(loaded);
    } catch (error) {
      thrown ??= { error };
      library.cancelLoad(context);
    }
  };
  const stop = (): void => library.cancelLoad(context);
  const timer = onProgress && setInterval(() => tell(library.loadProgress(context)), progressEveryMs);
  signal?.addEventListener("abort", stop, { once: true });
  try {
    // To its end: the context may be freed only when the load has let go of it.
    await library.loadModel(context, gpuLayers);
    if (!thrown) tell(1);
  } catch (error) {
    throw thrown ? thrown.error : error;
  } finally {
    clearInterval(timer);
    signal?.removeEventListener("abort", stop);
  }
  if (thrown) throw thrown.error;
}
