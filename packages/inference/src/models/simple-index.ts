import { FetchError, fetchText } from "@eliza-inference/fetch";
import type { WheelIndex } from "./wheel-index.ts";

const accept =
  "application/vnd.pypi.simple.v1+json, application/vnd.pypi.simple.v1+html;q=0.5, text/html;q=0.1";

/**
 * The address of `file` in the project's page of a simple repository (PEP 691 JSON or PEP 503 HTML).
 *
 * @throws FetchError NOT_FOUND when the page does not list the file, and what fetchText throws.
 */
export async function findWheelUrl(
  index: WheelIndex,
  project: string,
  file: string,
  signal?: AbortSignal,
): Promise<string> {
  const name = project.toLowerCase().replace(/[-_.]+/g, "-");
  const page = await fetchText(`${index.url}/${name}/`, { headers: { ...index.headers, accept }, signal });
  const links = page.contentType.includes("json") ? linksOfJson(page.text) : linksOfHtml(page.text);
  for (const link of links) {
    if (!URL.canParse(link, page.url)) continue;
    const url = new URL(link, page.url);
    url.hash = "";
    if (decodeURIComponent(url.pathname.split("/").at(-1) ?? "") === file) return url.href;
  }
  throw new FetchError("NOT_FOUND", `${index.url}/${name}/ does not list ${file}`, {
    hint: "The index lacks this version: name another one in ELIZA_WHEEL_INDEX.",
  });
}

function linksOfJson(text: string): string[] {
  let page: unknown;
  try {
    page = JSON.parse(text);
  } catch {
    return [];
  }
  const files = typeof page === "object" && page !== null && "files" in page ? page.files : undefined;
  if (!Array.isArray(files)) return [];
  return files.flatMap((file: unknown) =>
    typeof file === "object" && file !== null && "url" in file && typeof file.url === "string"
      ? [file.url]
      : [],
  );
}

function linksOfHtml(text: string): string[] {
  return Array.from(text.matchAll(/<a\b[^>]*?\bhref\s*=\s*(?:"([^"]*)"|'([^']*)')/gi), (match) =>
    (match[1] ?? match[2] ?? "").replaceAll("&amp;", "&"),
  );
}
