import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';

const ROOT = join(import.meta.dirname, '../..');
const textOf = (file: string): string => readFileSync(join(ROOT, file), 'utf8');

it('README.md names the versions of Node that the check runs on, beside the oldest one', () => {
  const versions = execFileSync(join(ROOT, 'test/support/node.sh'), { encoding: 'utf8' }).trim().split('\n');
  const [, named = ''] = /the tests run on ([^.]+)\./.exec(textOf('README.md')) ?? [];
  expect(named.match(/\d+/g)).toEqual(['20', ...versions.map((version) => version.split('.')[0])]);
});

it('README.md names the oldest versions of Node that package.json allows', () => {
  const { engines } = JSON.parse(textOf('package.json')) as { readonly engines: { readonly node: string } };
  const oldest = engines.node.split(' || ').map((range) => range.replace(/^\D+/, '').replace(/(\.0)+$/, ''));
  const [, named = ''] = /Node (20[^;]*) and everything newer/.exec(textOf('README.md')) ?? [];
  expect(named.match(/[\d.]*\d/g)).toEqual(oldest);
});
