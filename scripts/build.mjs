// Bundles the command line into dist/ with esbuild, for a quick start.
import { build } from 'esbuild';
import { readdirSync, rmSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { commandLine, keptPrograms, root } from './bundle-options.mjs';

const { metafile } = await build({
  ...commandLine,
  metafile: true,
  outdir: 'dist',
  sourcemap: 'linked',
  legalComments: 'linked',
});

await build({ ...keptPrograms, outdir: 'dist' });

// Removes the chunks of earlier builds, except those that a running agent may still load.
const AN_HOUR_MS = 3_600_000;
const chunks = join(root, 'dist', 'chunks');
for (const name of readdirSync(chunks)) {
  const isCurrent = `dist/chunks/${name}` in metafile.outputs;
  if (!isCurrent && Date.now() - statSync(join(chunks, name)).mtimeMs > AN_HOUR_MS) rmSync(join(chunks, name));
}
