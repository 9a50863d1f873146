import { build, type Plugin } from 'esbuild';
import { cpSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('../..', import.meta.url));

/**
 * Bundles a script of the project, such as `src/cli/main.ts`, into the folder, whence it starts in a fraction of the time; the path of what
 * to run. Errors: what esbuild says.
 */
export const sourceBundle = async (folder: string, script: string, plugins: Plugin[] = []): Promise<string> => {
  await build({
    absWorkingDir: root,
    // The second is started as a thread, by its file.
    entryPoints: { script, 'manifest-worker': 'src/sources/manifest-worker.ts' },
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
    plugins,
  });
  cpSync(join(root, 'package.json'), join(folder, 'package.json'));
  return join(folder, 'dist', 'script.js');
};
