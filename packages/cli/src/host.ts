import type { Readable, Writable } from "node:stream";
import type { Engine } from "./engine.ts";

/** A standard stream, which may be a terminal. */
export type Input = Readable & { isTTY?: boolean };
export type Output = Writable & { isTTY?: boolean; columns?: number };

/** What a command works with. */
export interface Host {
  stdin: Input;
  stdout: Output;
  stderr: Output;
  engine: Engine;
}
