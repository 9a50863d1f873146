import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { expect, it } from 'vitest';

const fileOf = (path: string) => new URL(`../../${path}`, import.meta.url);
const contentOf = (path: string): string => (existsSync(fileOf(path)) ? readFileSync(fileOf(path), 'utf8') : '');

/** `| reason | type | about | message | code | test |`, except headings and rulers. */
const rows = contentOf('docs/events.md')
  .split('\n')
  .filter((line) => /^\| `/.test(line))
  .map((line) => {
    const cells = line.split('|').slice(1, -1);
    const [reason = '', type = '', about = '', message = '', code = '', test = ''] = cells.map((cell) =>
      cell.trim().replaceAll('`', ''),
    );
    return { reason, type, about, message, code, test };
  });

it('is there, with something in it', () => {
  expect(rows.length).toBeGreaterThan(40);
});

it.each(rows)('$type $reason: it is in the code and in a test', ({ reason, type, about, message, code, test }) => {
  expect(['Normal', 'Warning']).toContain(type);
  expect(['pod', 'container', 'node']).toContain(about);
  expect(message).not.toBe('');
  expect(contentOf(code)).toMatch(new RegExp(`['\`]${reason}(['\`]|\\$)`));
  expect(contentOf(test)).toMatch(new RegExp(`\\b${reason}`));
});

/** Events that name their reason where they are made; others get theirs from a decision. */
const made = readdirSync(fileOf('src/streams'), { recursive: true, encoding: 'utf8' })
  .filter((name) => name.endsWith('.ts'))
  .flatMap((name) => {
    const code = contentOf(`src/streams/${name}`);
    return [
      ...code.matchAll(/emitEvent\(\s*\w+,\s*'(\w+)',\s*'(\w+)'/g),
      ...code.matchAll(/type: '(Normal|Warning)',\s*reason: '(\w+)'/g),
    ].map(([, type = '', reason = '']) => ({ name, type, reason }));
  });

it('knows where events are made', () => {
  expect(made.length).toBeGreaterThan(20);
});

it.each(made)('has $type $reason of $name', ({ type, reason }) => {
  expect(rows.some((row) => row.type === type && row.reason === reason)).toBe(true);
});
