// Runs simulated nodes: `npm run simulate -- --help`. Bundles scripts/simulate/ first, since worker threads need plain JavaScript.
import { build } from 'esbuild';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';

const root = fileURLToPath(new URL('..', import.meta.url));
const directory = mkdtempSync(join(tmpdir(), 'rx-kubelet-simulate-'));
process.on('exit', () => rmSync(directory, { recursive: true, force: true }));

const [main, worker] = ['main', 'worker'].map((name) => join(directory, `${name}.mjs`));
await build({
  absWorkingDir: root,
  entryPoints: { main: 'scripts/simulate/main.ts', worker: 'scripts/simulate/worker.ts' },
  outdir: directory,
  outExtension: { '.js': '.mjs' },
  bundle: true,
  platform: 'node',
  target: 'node20',
  // As in scripts/build.mjs.
  alias: { rxjs: join(root, 'node_modules/rxjs/dist/esm/index.js') },
  format: 'esm',
  sourcemap: 'inline',
  logLevel: 'warning',
});
process.setSourceMapsEnabled(true);

const { main: run } = await import(pathToFileURL(main).href);
process.exitCode = await run(process.argv.slice(2), pathToFileURL(worker));
