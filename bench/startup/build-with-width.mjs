// Builds the command line of this checkout into a folder, with a width of its starts: a number, `all`, or `learned`, which is the agent as it is.
//
//   node bench/startup/build-with-width.mjs /tmp/agent-8 8 && /tmp/agent-8/bin/rx-kubelet --version
import { build } from 'esbuild';
import { copyFileSync, mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { commandLine, root } from '../../scripts/bundle-options.mjs';

const [folder = '', width = ''] = process.argv.slice(2);
if (folder === '' || !/^(learned|all|[1-9]\d*)$/.test(width))
  throw new Error(`expected a folder, and a number, all or learned as width, got ${JSON.stringify([folder, width])}`);

let replaced = 0;
/** @type {import('esbuild').Plugin} */
const fixedWidth = {
  name: 'fixed width',
  setup: ({ onResolve }) =>
    onResolve({ filter: /\/limit-climb\.js$/ }, () => {
      replaced += 1;
      return { path: join(root, 'bench/startup/fixed-climb.ts') };
    }),
};
const isFixed = width !== 'learned';
await build({
  ...commandLine,
  outdir: join(folder, 'dist'),
  ...(isFixed && { plugins: [fixedWidth], define: { START_WIDTH: width === 'all' ? 'Infinity' : width } }),
});
if (isFixed && replaced === 0) throw new Error('no module of the agent imports limit-climb.js: the width is not fixed');

mkdirSync(join(folder, 'bin'));
copyFileSync(join(root, 'bin/rx-kubelet'), join(folder, 'bin/rx-kubelet'));
// The version is in it.
copyFileSync(join(root, 'package.json'), join(folder, 'package.json'));
