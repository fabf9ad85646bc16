// A node:test reporter that writes one JSON line: how many tests passed, failed and were skipped.
export default async function* count(source) {
  const totals = { pass: 0, fail: 0, skipped: 0, todo: 0, cancelled: 0 };
  for await (const event of source) {
    if (event.type !== "test:diagnostic" || event.data.nesting !== 0) continue;
    const match = /^(pass|fail|skipped|todo|cancelled) (\d+)$/.exec(event.data.message);
    if (match) totals[match[1]] += Number(match[2]);
  }
  yield `${JSON.stringify(totals)}\n`;
}
