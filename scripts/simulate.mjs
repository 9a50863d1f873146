// Runs simulated nodes: `npm run simulate -- --help`. Bundles scripts/simulate/ first, since worker threads need plain JavaScript.
import { build } from 'esbuild';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { forNode } from './bundle-options.mjs';

const directory = mkdtempSync(join(tmpdir(), 'rx-kubelet-simulate-'));
process.on('exit', () => rmSync(directory, { recursive: true, force: true }));

const [main, worker] = ['main', 'worker'].map((name) => join(directory, `${name}.mjs`));
await build({
  ...forNode,
  entryPoints: { main: 'scripts/simulate/main.ts', worker: 'scripts/simulate/worker.ts' },
  outdir: directory,
  outExtension: { '.js': '.mjs' },
  sourcemap: 'inline',
});
process.setSourceMapsEnabled(true);

const { main: run } = await import(pathToFileURL(main).href);
process.exitCode = await run(process.argv.slice(2), pathToFileURL(worker));
