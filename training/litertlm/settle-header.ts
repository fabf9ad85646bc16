/** The converter writes the time and a random id into the header; with fixed ones of the same length, bytes can be compared. */
export function settleHeader(file: Buffer): Buffer {
  const headerEnd = Number(file.readBigUInt64LE(24));
  const header = file.toString("latin1", 0, headerEnd);
  const settled = header
    .replace(/\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}\+00:00/, "1970-01-01T00:00:00.000000+00:00")
    .replace(/[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}/, "00000000-0000-0000-0000-000000000000");
  if (settled.length !== header.length) throw new Error("the header's time or id has another form");
  return Buffer.concat([Buffer.from(settled, "latin1"), file.subarray(headerEnd)]);
}
