const ABSENT = "nothing";

function shown(value: unknown): string {
  if (value === undefined) return ABSENT;
  const text = JSON.stringify(value);
  return text.length > 80 ? `${text.slice(0, 77)}...` : text;
}

function isObject(value: unknown): value is Record<string, unknown> {
  return value !== null && typeof value === "object";
}

/** An entry of a list goes by its id where it has one, so that a missing entry is named and not all after it. */
function entries(value: Record<string, unknown>): Map<string, unknown> {
  if (!Array.isArray(value)) return new Map(Object.entries(value));
  return new Map(
    value.map((entry: unknown, i) => [
      isObject(entry) && "id" in entry ? String(entry.id) : String(i),
      entry,
    ]),
  );
}

/** Every place where two JSON values differ: `place: found stands there, expected is derived`. */
export function differences(found: unknown, expected: unknown, place = ""): string[] {
  if (!isObject(found) || !isObject(expected) || Array.isArray(found) !== Array.isArray(expected)) {
    if (Object.is(found, expected)) return [];
    return [`${place || "the whole"}: ${shown(found)} stands there, ${shown(expected)} is derived`];
  }
  const here = entries(found);
  const there = entries(expected);
  const lines = [...new Set([...there.keys(), ...here.keys()])].flatMap((name) =>
    differences(here.get(name), there.get(name), place ? `${place}.${name}` : name),
  );
  const order = [...here.keys()].join() !== [...there.keys()].join();
  const repeated = Array.isArray(found) && found.length !== here.size;
  if (lines.length === 0 && (order || repeated))
    lines.push(`${place || "the whole"}: other order or an entry twice`);
  return lines;
}
