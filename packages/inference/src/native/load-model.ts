import { untilAborted } from "../until-aborted.ts";
import type { ContextHandle, NativeLibrary } from "./native-library.ts";

const progressEveryMs = 50;

/**
 * Loads llama.cpp's model. An aborted signal really stops the load; so does a progress callback that throws, whose error
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
    await untilAborted(library.loadModel(context, gpuLayers), signal, async () => undefined);
    if (!thrown) tell(1);
  } catch (error) {
    throw thrown ? thrown.error : error;
  } finally {
    clearInterval(timer);
    signal?.removeEventListener("abort", stop);
  }
  if (thrown) throw thrown.error;
}
