// Bundles the command line into dist/, as small and quick to start as esbuild makes it.
import { build } from 'esbuild';
import { fileURLToPath } from 'node:url';

await build({
  absWorkingDir: fileURLToPath(new URL('..', import.meta.url)),
  entryPoints: { 'rx-kubelet': 'src/cli/main.ts' },
  outdir: 'dist',
  bundle: true,
  splitting: true,
  platform: 'node',
  target: 'node20',
  format: 'esm',
  sourcemap: 'linked',
  legalComments: 'linked',
  chunkNames: 'chunks/[name]-[hash]',
  // Some packages of the bundle are CommonJS and ask for Node's own modules through `require`,
  // and for the path of their file.
  banner: {
    js: "#!/usr/bin/env node\nimport { createRequire as bundledRequire } from 'node:module';\nconst require = bundledRequire(import.meta.url);\nimport { fileURLToPath as bundledPath } from 'node:url';\nconst __filename = bundledPath(import.meta.url);\nconst __dirname = bundledPath(new URL('.', import.meta.url));",
  },
  logLevel: 'warning',
});
