// Bundles the script and the style of the timeline's page into src/generated/timeline-page.ts, with their hashes for the content security
// policy of the page, which allows no others.
import { buildSync } from 'esbuild';
import { createHash } from 'node:crypto';
import { readFileSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('..', import.meta.url));

const bundle = (options) =>
  buildSync({
    absWorkingDir: root,
    bundle: true,
    minify: true,
    write: false,
    charset: 'utf8',
    ...options,
  }).outputFiles[0].text.trim();
const minifiedStyle = (text) => bundle({ stdin: { contents: text, loader: 'css' } });
const fileText = (name) => readFileSync(`${root}src/tools/page/${name}`, 'utf8');

const script = bundle({ entryPoints: ['src/tools/page/timeline-page.ts'], format: 'iife', target: ['es2022'] });
const lanes = minifiedStyle(fileText('lanes.css'));
const style = minifiedStyle(`${fileText('lanes.css')}\n${fileText('page.css')}`);
for (const [text, end] of [
  [script, '</script'],
  [style, '</style'],
  [script, '<!--'],
]) {
  if (text.includes(end)) throw new Error(`the page of the timeline would end at a ${end} inside of it`);
}

const sha256 = (text) => `sha256-${createHash('sha256').update(text).digest('base64')}`;
const constant = (name, value) => `export const ${name} =\n  ${JSON.stringify(value)};\n`;
writeFileSync(
  `${root}src/generated/timeline-page.ts`,
  [
    '// Made by scripts/generate-timeline-page.mjs from src/tools/page.\n',
    constant('LANES_STYLE', lanes),
    constant('PAGE_STYLE', style),
    constant('PAGE_STYLE_HASH', sha256(style)),
    constant('PAGE_SCRIPT', script),
    constant('PAGE_SCRIPT_HASH', sha256(script)),
  ].join(''),
);
