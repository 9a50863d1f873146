import { existsSync, readFileSync } from 'node:fs';

/** Defined by the build of the command, whose files another version may replace while it runs. */
declare const IS_BUNDLED: true | undefined;

const kept = new Map<string, URL>();

/**
 * Reads a program of its own, which the build puts beside the command, and returns it as a URL that can be imported, or started as a thread,
 * also after another file has taken its place. Undefined where modules run from their own files: in the library and in tests.
 *
 * Errors: there is no such file.
 */
export const keptProgram = (name: string): URL | undefined => {
  if (typeof IS_BUNDLED === 'undefined') return undefined;
  const program = kept.get(name) ?? read(name);
  kept.set(name, program);
  return program;
};

const read = (name: string): URL => {
  // This module is in the program or in one of its chunks.
  const place = ['./', '../']
    .map((folder) => new URL(`${folder}${name}`, import.meta.url))
    .find((url) => existsSync(url));
  if (!place) throw new Error(`${name} is missing beside the program: install rx-kubelet again`);
  return new URL(`data:text/javascript;base64,${readFileSync(place, 'base64')}`);
};
