import { build } from 'esbuild';
import { readFile } from 'node:fs/promises';
import { relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Edit } from './mutants.js';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));

/**
 * The simulation as one CommonJS text, with edits to the sources of the product that go into it.
 *
 * Errors: an edit whose text does not stand in its file exactly once, or whose file is no part of the simulation.
 */
export const bundleSimulation = async (edits: readonly Edit[]): Promise<string> => {
  const left = new Set(edits);
  const { outputFiles } = await build({
    entryPoints: [`${ROOT}/test/mutations/hunt.ts`],
    bundle: true,
    write: false,
    platform: 'node',
    format: 'cjs',
    target: 'node20',
    logLevel: 'silent',
    plugins: [
      {
        name: 'mutate',
        setup: (building) => {
          building.onLoad({ filter: /\/src\/.*\.ts$/ }, async ({ path }) => {
            const file = relative(ROOT, path);
            let contents = await readFile(path, 'utf8');
            for (const edit of edits) {
              if (edit.file !== file) continue;
              contents = edited(contents, edit);
              left.delete(edit);
            }
            return { contents, loader: 'ts' };
          });
        },
      },
    ],
  });
  const [missed] = left;
  if (missed) throw new Error(`${missed.file}: is no part of the simulation, so a bug in it would never be seen`);
  return outputFiles[0]!.text;
};

const edited = (contents: string, { file, find, replace }: Edit): string => {
  const places = contents.split(find).length - 1;
  if (places !== 1) throw new Error(`${file}: ${JSON.stringify(find)} stands there ${places} times (expected once)`);
  // A function, since a replacement may hold what a pattern means.
  return contents.replace(find, () => replace);
};
