import { everyKernelFlag } from "@eliza-inference/build/kernels";
import koffi from "koffi";
import { z } from "zod";
import { VerifyError } from "../errors.ts";
import { ROOT } from "../repository.ts";

/** eliza_kv_format, field for field. */
const FIELDS = {
  name: "str",
  type: "int32_t",
  tile: "int32_t",
  tile_bytes: "int32_t",
  query_type: "int32_t",
  graph_rotation: "bool",
  shiftable: "bool",
  keys_only: "bool",
  needs_map: "bool",
  encode: "void *",
  encode_reference: "void *",
  decode: "void *",
  decode_rotated: "void *",
  prepare_query: "void *",
  dot: "void *",
};
const formatType = koffi.struct("eliza_kv_format", FIELDS);

const count = z.number().int().nonnegative();
const Report = z.object({
  sources: z.string(),
  flags: z.string(),
  compiler: z.string(),
  format: z.object({ size: count, offsets: z.record(z.string(), count) }),
});

/** What a libeliza_kv says of its own making. */
export interface LibraryBuild {
  /** Hash of its sources; meaningful where `vouched`. */
  readonly sources: string;
  readonly compiler: string;
  /** True if it was told its sources, and built with the flags of kernels/cpu/flags.txt. */
  readonly vouched: boolean;
}

function layoutDifferences({ size, offsets }: z.infer<typeof Report>["format"]): string[] {
  const own = koffi.sizeof(formatType);
  const names = new Set([...Object.keys(FIELDS), ...Object.keys(offsets)]);
  const moved = [...names].flatMap((name) => {
    const here = name in FIELDS ? koffi.offsetof(formatType, name) : "nowhere";
    const there = offsets[name] ?? "nowhere";
    return here === there ? [] : [`${name} at ${there} in the library, ${here} here`];
  });
  return size === own ? moved : [`${size} bytes in the library, ${own} here`, ...moved];
}

/**
 * Asks a library what it was made from, and checks the layout of its struct. A library from before it could say so
 * cannot be used: nothing is known of its layout.
 * @throws VerifyError DEVICE_UNAVAILABLE, with the first differences
 */
export function readLibraryBuild(library: ReturnType<typeof koffi.load>): LibraryBuild {
  let text: string;
  try {
    const describe = library.func("size_t eliza_kv_build(_Out_ uint8_t *text, size_t capacity)");
    const buffer = new Uint8Array(8192);
    describe(buffer, buffer.length);
    text = new TextDecoder().decode(buffer.subarray(0, buffer.indexOf(0)));
  } catch (error) {
    throw new VerifyError(
      "DEVICE_UNAVAILABLE",
      "the CPU library does not say what it was made from (it has no eliza_kv_build)",
      "build it again: npm run build:native",
      error,
    );
  }
  const { sources, flags, compiler, format } = Report.parse(JSON.parse(text));
  const differences = layoutDifferences(format);
  if (differences.length > 0) {
    throw new VerifyError(
      "DEVICE_UNAVAILABLE",
      `the CPU library lays eliza_kv_format out differently: ${differences.join("; ")}`,
      "use the library and the harness of one version",
    );
  }
  return { sources, compiler, vouched: sources !== "" && flags === everyKernelFlag(ROOT) };
}
