// A wrapper such as npm passes a terminal's Ctrl-C on, so that one press may arrive twice.
const samePressMs = 300;

/**
 * Calls `onInterrupt` on the first Ctrl-C (or SIGTERM); a second press ends the process at once with status
 * 130. Returns the function that takes the handlers away again.
 */
export function onInterrupt(act: () => void): () => void {
  let pressedAt: number | undefined;
  const handle = (signal: NodeJS.Signals): void => {
    const now = performance.now();
    if (pressedAt === undefined) {
      pressedAt = now;
      act();
    } else if (now - pressedAt > samePressMs) {
      process.exit(signal === "SIGTERM" ? 143 : 130);
    }
  };
  process.on("SIGINT", handle);
  process.on("SIGTERM", handle);
  const release = (): void => {
    process.off("SIGINT", handle);
    process.off("SIGTERM", handle);
  };
  return () => {
    if (pressedAt === undefined) release();
    else setTimeout(release, samePressMs).unref();
  };
}
