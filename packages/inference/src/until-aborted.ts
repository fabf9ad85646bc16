import { InferenceError } from "./errors.ts";

/**
 * What `work` gives, or CANCELLED as soon as the signal is aborted. Work that was left goes on to its end; whatever ends
 * without being taken is undone.
 *
 * @throws InferenceError CANCELLED with the signal's reason as cause, and what `work` throws
 */
export async function untilAborted<T>(
  work: Promise<T>,
  signal: AbortSignal | undefined,
  undo: () => Promise<void>,
): Promise<T> {
  let leave: (() => void) | undefined;
  const left = new Promise<never>((_, reject) => {
    leave = () => reject(cancelled(signal));
    if (signal?.aborted) leave();
    else signal?.addEventListener("abort", leave, { once: true });
  });
  try {
    return await Promise.race([left, work]);
  } catch (error) {
    const undone = work.then(undo, undo);
    if (signal?.aborted) undone.catch(() => undefined);
    else await undone;
    throw error;
  } finally {
    if (leave) signal?.removeEventListener("abort", leave);
  }
}

function cancelled(signal: AbortSignal | undefined): InferenceError {
  return new InferenceError(
    "CANCELLED",
    "opening the model was cancelled",
    "Nothing stays loaded; open it again.",
    { cause: signal?.reason },
  );
}
