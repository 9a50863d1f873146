// Bundles the command line into dist/ with esbuild, for a quick start.
import { build } from 'esbuild';
import { readdirSync, rmSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { forNode, root } from './bundle-options.mjs';

const { metafile } = await build({
  ...forNode,
  metafile: true,
  // The second entry is started as a worker thread, by its file.
  entryPoints: { 'rx-kubelet': 'src/cli/main.ts', 'manifest-worker': 'src/sources/manifest-worker.ts' },
  outdir: 'dist',
  splitting: true,
  sourcemap: 'linked',
  legalComments: 'linked',
  chunkNames: 'chunks/[name]-[hash]',
  // Some packages of the bundle are CommonJS: they load Node's modules with `require`, and read the path of their file.
  banner: {
    js: "#!/usr/bin/env node\nimport { createRequire as bundledRequire } from 'node:module';\nconst require = bundledRequire(import.meta.url);\nimport { fileURLToPath as bundledPath } from 'node:url';\nconst __filename = bundledPath(import.meta.url);\nconst __dirname = bundledPath(new URL('.', import.meta.url));",
  },
});

// Removes the chunks of earlier builds, except those that a running agent may still load.
const AN_HOUR_MS = 3_600_000;
const chunks = join(root, 'dist', 'chunks');
for (const name of readdirSync(chunks)) {
  const isCurrent = `dist/chunks/${name}` in metafile.outputs;
  if (!isCurrent && Date.now() - statSync(join(chunks, name)).mtimeMs > AN_HOUR_MS) rmSync(join(chunks, name));
}
