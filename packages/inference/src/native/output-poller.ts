import type { ContextHandle, NativeLibrary, StreamHandle } from "./native-library.ts";

// Long enough to cost nothing, short enough to end by itself if a wake is lost.
const POLL_MS = 1000;
// Shorter than a frame of a screen.
const GATHER_MS = 12;

/**
 * Wakes the streams that wait for output. However many wait, one native poll is in flight, so one pool thread at most
 * is taken; none while nobody waits.
 */
export class OutputPoller {
  readonly #library: NativeLibrary;
  readonly #context: ContextHandle;
  readonly #waiting = new Map<bigint, () => void>();
  #loop: Promise<void> | undefined;

  constructor(library: NativeLibrary, context: ContextHandle) {
    this.#library = library;
    this.#context = context;
  }

  /** Resolves when the stream may have output. Call it only after tryNext said pending. */
  wait(stream: StreamHandle): Promise<void> {
    return new Promise((resolve) => {
      this.#waiting.set(this.#library.address(stream), resolve);
      this.#loop ??= this.#run();
    });
  }

  /** Lets go of a stream that is about to be closed. */
  forget(stream: StreamHandle): void {
    const address = this.#library.address(stream);
    this.#waiting.get(address)?.();
    this.#waiting.delete(address);
  }

  /** Resolves when no native poll is in flight; nobody may wait any more. */
  async stop(): Promise<void> {
    for (const wake of this.#waiting.values()) wake();
    this.#waiting.clear();
    this.#library.wakePoll(this.#context);
    await this.#loop;
  }

  async #run(): Promise<void> {
    try {
      while (this.#waiting.size > 0) {
        const ready = await this.#library.poll(this.#context, POLL_MS);
        for (const address of ready) {
          const wake = this.#waiting.get(address);
          this.#waiting.delete(address);
          wake?.();
        }
        // One wake for all tokens of this time: each wake takes a core from the threads that compute.
        if (ready.length > 0) await new Promise((resolve) => setTimeout(resolve, GATHER_MS));
      }
    } finally {
      this.#loop = undefined;
    }
  }
}
