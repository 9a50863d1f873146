import type { VolumeFile, VolumePayload } from './volume-payload.js';

const MAX_NAME_BYTES = 255;
const MAX_PATH_BYTES = 4096;

/**
 * Returns the files with cleaned paths.
 *
 * Errors: a path that leads out of the volume, that is reserved for the agent, or that is both a file and a directory.
 * Source: pkg/volume/util/atomic_writer.go validatePayload
 */
export const cleanPayload = (payload: VolumePayload): VolumePayload => {
  const cleaned = new Map<string, VolumeFile>();
  for (const [path, file] of payload) {
    const problem = payloadPathProblem(path);
    if (problem !== undefined) throw new Error(`invalid path: ${problem}`);
    cleaned.set(cleanPath(path), file);
  }
  const below = pathsBelowOthers([...cleaned.keys()]);
  for (const path of cleaned.keys()) {
    if (!below.has(path) && path !== '.') continue;
    throw new Error(`invalid path: ${path} is both a file and a directory`);
  }
  return cleaned;
};

/** The paths that are below another one. With the separator before all other characters, they follow that one. */
const pathsBelowOthers = (paths: readonly string[]): ReadonlySet<string> => {
  const below = new Set<string>();
  let above: string | undefined;
  for (const key of paths.map((path) => path.replaceAll('/', '\0')).sort()) {
    if (above !== undefined && key.startsWith(`${above}\0`)) below.add(key.replaceAll('\0', '/'));
    else above = key;
  }
  return below;
};

/** Returns the reason why a file of a volume cannot have this path; undefined for a valid path. */
export const payloadPathProblem = (path: string): string | undefined => {
  if (path === '') return 'must not be empty: ""';
  if (path.startsWith('/')) return `must be relative path: ${path}`;
  if (path.includes('\0')) return 'must not contain a NUL character';
  if (bytesOf(path) > MAX_PATH_BYTES) return `must be less than or equal to ${MAX_PATH_BYTES} characters`;
  const names = path.split('/');
  if (names.includes('..')) return `must not contain '..': ${path}`;
  if (names.some((name) => bytesOf(name) > MAX_NAME_BYTES))
    return `filenames must be less than or equal to ${MAX_NAME_BYTES} characters`;
  // The first name after cleaning counts, since `./..data` is the link of the agent too.
  return cleanPath(path).startsWith('..') ? `must not start with '..': ${path}` : undefined;
};

/** Returns a relative path without empty names and dots. */
export const cleanPath = (path: string): string =>
  path
    .split('/')
    .filter((name) => name !== '' && name !== '.')
    .join('/') || '.';

/** Returns the directories above a path, outermost first. */
export const ancestorsOf = (path: string): readonly string[] => {
  const above: string[] = [];
  for (let end = path.indexOf('/'); end !== -1; end = path.indexOf('/', end + 1)) above.push(path.slice(0, end));
  return above;
};

const bytesOf = (text: string): number => Buffer.byteLength(text);
