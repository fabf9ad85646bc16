import { fileURLToPath } from "node:url";
import { findRuntime } from "../../src/runtimes/index.ts";

/** A model of 131,000 parameters that was made here; models/tiny/README.md. */
export const tinyModel = fileURLToPath(new URL("../../../../models/tiny/tiny.litertlm", import.meta.url));

/** Why tests on LiteRT-LM are skipped here; false where it is there. */
export const noLitert: string | false =
  process.env.ELIZA_LITERT_LM_LIBRARY || (await findRuntime("litert-lm"))
    ? false
    : "LiteRT-LM is not here: npm run eliza-inference -- runtimes add litert-lm";
