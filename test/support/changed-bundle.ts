import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { sourceBundle } from './source-bundle.js';

/** A text of one source file, and what stands there instead. */
export interface Change {
  /** From the root of the repository, such as `src/model/values/back-off.ts`. */
  readonly file: string;
  readonly from: string;
  readonly to: string;
}

/**
 * Bundles a script, the command line unless it is another one, with one change of its sources into the folder; the path of what to run.
 * The sources stay as they are. Errors: the text is not in the file exactly once.
 */
export const changedBundle = async (
  folder: string,
  { file, from, to }: Change,
  script = 'src/cli/main.ts',
): Promise<string> => {
  const path = fileURLToPath(new URL(`../../${file}`, import.meta.url));
  const parts = readFileSync(path, 'utf8').split(from);
  if (parts.length !== 2) throw new Error(`${file} has ${parts.length - 1} times ${JSON.stringify(from)}`);
  return sourceBundle(folder, script, [
    {
      name: 'one-change',
      setup: (plugin) =>
        plugin.onLoad({ filter: /\.ts$/ }, (args) =>
          args.path === path ? { contents: parts.join(to), loader: 'ts' } : undefined,
        ),
    },
  ]);
};
