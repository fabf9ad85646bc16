// Run by killed-save.test.ts: saves one session over and over until it is killed.
import { Inference } from "../../src/inference.ts";

const [model = "", libraryPath = "", slot = ""] = process.argv.slice(2);
const inference = await Inference.open(model, { libraryPath, contextSize: 2048, threads: 1 });
const session = await inference.session({ maxTokens: 1 });
for await (const _ of session.generate("Once upon a time ".repeat(300))) {
}
for (;;) {
  await session.save(slot);
  process.stdout.write(".");
}
