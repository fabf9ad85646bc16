import { isRecord } from "../arguments/rule.ts";

/** What "#/$defs/name" means within a schema (RFC 6901); undefined where there is nothing, or it leads elsewhere. */
export function resolveReference(root: unknown, reference: string): unknown {
  if (reference !== "#" && !reference.startsWith("#/")) return undefined;
  let at: unknown = root;
  for (const step of reference.split("/").slice(1)) {
    const key = decodeURIComponent(step).replaceAll("~1", "/").replaceAll("~0", "~");
    if (!(isRecord(at) || Array.isArray(at)) || !Object.hasOwn(at, key)) return undefined;
    at = (at as Record<string, unknown>)[key];
  }
  return at;
}
