/** `npm run selector`: what the selector makes of every row of its table, through the C ABI. */
import { runtimesUnderTest } from "./runtimes-under-test.ts";
import { outcomeOf, selectorRows } from "./selector-rows.ts";

const runtimes = await runtimesUnderTest();
console.log(
  "| situation | ELIZA_LLM_BACKEND | runtime option | answers | candidates |\n|---|---|---|---|---|",
);
for (const row of selectorRows) {
  const { answers, candidates, error } = await outcomeOf(row, runtimes);
  const looked = candidates.map(({ runtime, reason }) => `${runtime}: ${reason}`).join("; ");
  const env = row.env === undefined ? "" : `"${row.env}"`;
  const cells = [row.row, env, row.option ?? "", answers ?? `${error?.code}`, looked || error?.message || ""];
  console.log(`| ${cells.map((cell) => cell.replaceAll("|", "\\|")).join(" | ")} |`);
}
