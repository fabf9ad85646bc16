import { formatHashes } from "./format-hashes.ts";

interface Page {
  getElementById(id: string): { textContent: string | null } | null;
}

const { document } = globalThis as unknown as { document: Page };
const output = document.getElementById("hashes");
if (output) output.textContent = formatHashes().join("\n");
