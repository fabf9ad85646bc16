export type { Answer, Engine, OpenModel } from "./engine.ts";
export type { Host } from "./host.ts";
export { processHost } from "./process-host.ts";
export { runCli } from "./run-cli.ts";
