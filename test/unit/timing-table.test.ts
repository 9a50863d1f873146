import { existsSync, readFileSync } from 'node:fs';
import { expect, it } from 'vitest';

const fileOf = (path: string) => new URL(`../../${path}`, import.meta.url);
const table = readFileSync(fileOf('docs/timing.md'), 'utf8');

/** `| what | value | `file` `constant` | `file` "test" |`, except headings and rulers. */
const rows = table
  .split('\n')
  .filter((line) => line.startsWith('|') && !/^\| (What|-+) /.test(line))
  .map((line) => {
    const [what = '', value = '', code = '', test = ''] = line
      .split('|')
      .slice(1, -1)
      .map((cell) => cell.trim());
    return { what, value, code, test };
  });

it('is there, with something in it', () => {
  expect(rows.length).toBeGreaterThan(30);
});

it.each(rows)('$what: the code says so, and a test holds it', ({ value, code, test }) => {
  expect(value).not.toBe('');
  const [, codeFile = '', constant = ''] = /^`([^`]+)` `([^`]+)`$/.exec(code) ?? [];
  const [, testFile = '', name = ''] = /^`([^`]+)` "([^"]+)"$/.exec(test) ?? [];
  expect([codeFile, testFile].filter((path) => path === '' || !existsSync(fileOf(path)))).toEqual([]);
  const text = readFileSync(fileOf(codeFile), 'utf8');
  expect(text).toContain(constant);
  const [, named] = /^([A-Z][A-Z_0-9]+)(?:: [^=]+)?(?: = .*)?$/.exec(constant) ?? [];
  if (named) expect(new RegExp(`^export const ${named}\\b`, 'm').test(text), `${named} is exported`).toBe(true);
  expect(readFileSync(fileOf(testFile), 'utf8')).toContain(name);
});
