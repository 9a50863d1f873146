// Bundles the command line into dist/, as small and quick to start as esbuild makes it.
import { build } from 'esbuild';
import { readdirSync, rmSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('..', import.meta.url));

const { metafile } = await build({
  absWorkingDir: root,
  metafile: true,
  entryPoints: { 'rx-kubelet': 'src/cli/main.ts' },
  outdir: 'dist',
  bundle: true,
  splitting: true,
  platform: 'node',
  target: 'node20',
  format: 'esm',
  sourcemap: 'linked',
  // The one that Node.js would load is in the JavaScript of 2009: 300 KB more, and slower by a tenth.
  alias: { rxjs: join(root, 'node_modules/rxjs/dist/esm/index.js') },
  legalComments: 'linked',
  chunkNames: 'chunks/[name]-[hash]',
  // Some packages of the bundle are CommonJS and ask for Node's own modules through `require`,
  // and for the path of their file.
  banner: {
    js: "#!/usr/bin/env node\nimport { createRequire as bundledRequire } from 'node:module';\nconst require = bundledRequire(import.meta.url);\nimport { fileURLToPath as bundledPath } from 'node:url';\nconst __filename = bundledPath(import.meta.url);\nconst __dirname = bundledPath(new URL('.', import.meta.url));",
  },
  logLevel: 'warning',
});

// Chunks of earlier builds go, but not those that an agent which still runs may be about to load.
const AN_HOUR_MS = 3_600_000;
const chunks = join(root, 'dist', 'chunks');
for (const name of readdirSync(chunks)) {
  const isCurrent = `dist/chunks/${name}` in metafile.outputs;
  if (!isCurrent && Date.now() - statSync(join(chunks, name)).mtimeMs > AN_HOUR_MS) rmSync(join(chunks, name));
}
