// The options of esbuild for all bundles that Node runs.
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

export const root = fileURLToPath(new URL('..', import.meta.url));

/** @type {import('esbuild').BuildOptions} */
export const forNode = {
  absWorkingDir: root,
  bundle: true,
  platform: 'node',
  target: 'node20',
  format: 'esm',
  // Node would load the build for the JavaScript of 2009: 300 KB more, and slower by a tenth.
  alias: { rxjs: join(root, 'node_modules/rxjs/dist/esm/index.js') },
  logLevel: 'warning',
};

/** @type {import('esbuild').BuildOptions} */
export const commandLine = {
  ...forNode,
  entryPoints: { 'rx-kubelet': 'src/cli/main.ts' },
  define: { IS_BUNDLED: 'true' },
  splitting: true,
  chunkNames: 'chunks/[name]-[hash]',
  // Some packages of the bundle are CommonJS: they load Node's modules with `require`, and read the path of their file.
  banner: {
    js: "#!/usr/bin/env node\nimport { createRequire as bundledRequire } from 'node:module';\nconst require = bundledRequire(import.meta.url);\nimport { fileURLToPath as bundledPath } from 'node:url';\nconst __filename = bundledPath(import.meta.url);\nconst __dirname = bundledPath(new URL('.', import.meta.url));",
  },
};

/**
 * Programs of their own, without chunks: the command reads them at its start and runs them later, see `keptProgram`.
 *
 * @type {import('esbuild').BuildOptions}
 */
export const keptPrograms = {
  ...forNode,
  entryPoints: {
    'manifest-worker': 'src/sources/manifest-worker.ts',
    'x509-requests': 'src/kube-api/x509-requests.ts',
  },
  minify: true,
  // They have no place on the disk from which they could load anything but Node's own modules.
  banner: {
    js: "import { createRequire as bundledRequire } from 'node:module'; const require = bundledRequire('file:///');",
  },
};
