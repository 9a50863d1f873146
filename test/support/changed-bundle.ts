import { build } from 'esbuild';
import { cpSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('../..', import.meta.url));

/** A text of one source file, and what stands there instead. */
export interface Change {
  /** From the root of the repository, such as `src/model/values/back-off.ts`. */
  readonly file: string;
  readonly from: string;
  readonly to: string;
}

/**
 * Bundles the command line with one change of its sources into the folder; the path of its script. The sources stay as they are.
 * Errors: the text is not in the file exactly once.
 */
export const changedBundle = async (folder: string, { file, from, to }: Change): Promise<string> => {
  const path = join(root, file);
  const parts = readFileSync(path, 'utf8').split(from);
  if (parts.length !== 2) throw new Error(`${file} has ${parts.length - 1} times ${JSON.stringify(from)}`);
  await build({
    absWorkingDir: root,
    entryPoints: { 'rx-kubelet': 'src/cli/main.ts' },
    outdir: join(folder, 'dist'),
    ...{ bundle: true, splitting: true, platform: 'node', target: 'node20', format: 'esm', logLevel: 'error' },
    chunkNames: 'chunks/[name]-[hash]',
    // Some packages of the bundle are CommonJS and ask for Node's own modules, and for the path of their file.
    banner: {
      js: [
        "import { createRequire as bundledRequire } from 'node:module';",
        'const require = bundledRequire(import.meta.url);',
        "import { fileURLToPath as bundledPath } from 'node:url';",
        'const __filename = bundledPath(import.meta.url);',
        "const __dirname = bundledPath(new URL('.', import.meta.url));",
      ].join('\n'),
    },
    plugins: [
      {
        name: 'one-change',
        setup: (plugin) =>
          plugin.onLoad({ filter: /\.ts$/ }, (args) =>
            args.path === path ? { contents: parts.join(to), loader: 'ts' } : undefined,
          ),
      },
    ],
  });
  cpSync(join(root, 'package.json'), join(folder, 'package.json'));
  return join(folder, 'dist', 'rx-kubelet.js');
};
