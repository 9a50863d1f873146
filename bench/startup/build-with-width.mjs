// Builds the command line of this checkout into a folder, with a number of parallel starts: a number, or `all`.
//
//   node bench/startup/build-with-width.mjs /tmp/agent-8 8 && /tmp/agent-8/bin/rx-kubelet --version
import { build } from 'esbuild';
import { copyFileSync, mkdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { commandLine, keptPrograms, root } from '../../scripts/bundle-options.mjs';

const [folder = '', width = ''] = process.argv.slice(2);
if (folder === '' || !/^(all|[1-9]\d*)$/.test(width))
  throw new Error(`expected a folder, and a number or all as width, got ${JSON.stringify([folder, width])}`);

const OWN_WIDTH = /const STARTS_AT_ONCE = \d+;/;
let replaced = 0;
/** @type {import('esbuild').Plugin} */
const otherWidth = {
  name: 'another width',
  setup: ({ onLoad }) =>
    onLoad({ filter: /\/start-queue\.ts$/ }, ({ path }) => {
      const text = readFileSync(path, 'utf8');
      if (OWN_WIDTH.test(text)) replaced += 1;
      const contents = text.replace(OWN_WIDTH, `const STARTS_AT_ONCE = ${width === 'all' ? 'Infinity' : width};`);
      return { contents, loader: 'ts' };
    }),
};
await build({ ...commandLine, outdir: join(folder, 'dist'), plugins: [otherWidth] });
await build({ ...keptPrograms, outdir: join(folder, 'dist') });
if (replaced !== 1) throw new Error('start-queue.ts has no line with STARTS_AT_ONCE: the width is not set');

mkdirSync(join(folder, 'bin'));
copyFileSync(join(root, 'bin/rx-kubelet'), join(folder, 'bin/rx-kubelet'));
// The version is in it.
copyFileSync(join(root, 'package.json'), join(folder, 'package.json'));
