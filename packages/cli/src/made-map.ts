import type { OpenModel } from "./engine.ts";
import { onInterrupt } from "./interrupts.ts";
import { failureOf, type Reporter } from "./reporter.ts";

/** Waits until the map that `--kv-map make` makes is written, since closing the model would stop it; Ctrl-C ends the wait. */
export async function waitForMap(model: OpenModel, reporter: Reporter): Promise<void> {
  const making = model.madeMap();
  const release = onInterrupt(() => void model.close());
  const late = setTimeout(() => reporter.note("waiting for the learned map (Ctrl-C: without it)"), 100);
  try {
    const made = await making;
    if (made) reporter.note(`the learned map is ready for the next time: ${made.path}`);
  } catch (error) {
    reporter.note(`no learned map was made: ${failureOf(error).message}`);
  } finally {
    clearTimeout(late);
    release();
  }
}
