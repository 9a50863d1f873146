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
  for (const path of cleaned.keys()) {
    const above = ancestorsOf(path).find((ancestor) => cleaned.has(ancestor));
    if (above === undefined && path !== '.') continue;
    throw new Error(`invalid path: ${path} is both a file and a directory`);
  }
  return cleaned;
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
  const names = path.split('/');
  return names.slice(1).map((_, index) => names.slice(0, index + 1).join('/'));
};

const bytesOf = (text: string): number => Buffer.byteLength(text);
