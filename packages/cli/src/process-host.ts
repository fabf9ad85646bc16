import type { Engine } from "./engine.ts";
import type { Host } from "./host.ts";

/** The real process and the real library, which is loaded when a model is opened. */
export function processHost(engine: Engine = libraryEngine): Host {
  const { stdin, stdout, stderr } = process;
  // Without a listener an error would end the process with a stack; runCli looks at it.
  stdout.on("error", () => {});
  return { stdin, stdout, stderr, engine };
}

const libraryEngine: Engine = {
  open: async (path, options) => {
    const { Inference } = await import("eliza-inference");
    return await Inference.open(path, options);
  },
};
