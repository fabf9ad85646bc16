import { homedir } from "node:os";
import { posix, win32 } from "node:path";

export interface UserFolders {
  /** What can be made or fetched again: built libraries, partial downloads. */
  cache: string;
  /** Pulled models; inside `cache`. */
  models: string;
  /** What cannot be fetched again: calibration maps, saved slots. */
  data: string;
}

/**
 * The folders of this user, by the platform's custom; none is created here.
 * ELIZA_INFERENCE_CACHE, when not empty, replaces `cache` and moves `models` with it.
 */
export function userFolders(
  environment: Readonly<Record<string, string | undefined>> = process.env,
  platform: NodeJS.Platform = process.platform,
  home: string = homedir(),
): UserFolders {
  const { join, resolve, isAbsolute } = platform === "win32" ? win32 : posix;
  const name = "eliza-inference";
  // The XDG rules say that a relative path is to be ignored.
  const folder = (variable: string, fallback: string): string => {
    const value = environment[variable];
    return value && isAbsolute(value) ? value : fallback;
  };
  let cache: string;
  let data: string;
  if (platform === "win32") {
    const local = folder("LOCALAPPDATA", join(home, "AppData", "Local"));
    cache = join(local, name, "Cache");
    data = join(local, name, "Data");
  } else if (platform === "darwin") {
    cache = join(home, "Library", "Caches", name);
    data = join(home, "Library", "Application Support", name);
  } else {
    cache = join(folder("XDG_CACHE_HOME", join(home, ".cache")), name);
    data = join(folder("XDG_DATA_HOME", join(home, ".local", "share")), name);
  }
  const override = environment.ELIZA_INFERENCE_CACHE;
  if (override) cache = resolve(override);
  return { cache, models: join(cache, "models"), data };
}
