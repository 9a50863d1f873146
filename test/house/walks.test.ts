import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join, normalize } from 'node:path';
import { describe, expect, it } from 'vitest';

const ROOT = join(import.meta.dirname, '../..');
const PORTS = 'src/streams/ports/';

const files = readdirSync(join(ROOT, 'src'), { recursive: true, encoding: 'utf8' })
  .filter((file) => file.endsWith('.ts'))
  .map((file) => join('src', file));
const imports = new Map(
  files.map((file) => {
    const found = readFileSync(join(ROOT, file), 'utf8').matchAll(/from '(\.[^']+)\.js'/g);
    return [file, new Set([...found].map(([, path]) => normalize(join(dirname(file), `${path}.ts`))))] as const;
  }),
);
const has = (from: string, to: string): boolean => imports.get(from)?.has(to) ?? false;

/** An import one way or the other, a file that imports both, or a port between them. */
const areJoined = (one: string, other: string): boolean =>
  has(one, other) ||
  has(other, one) ||
  files.some((file) => has(file, one) && has(file, other)) ||
  [...(imports.get(one) ?? [])].some((file) => file.startsWith(PORTS) && has(other, file));

const walks = readFileSync(join(ROOT, 'docs/walks.md'), 'utf8')
  .split(/^## /m)
  .slice(1)
  .map((section) => {
    const [title = '', ...lines] = section.split('\n');
    return { title, steps: lines.flatMap((line) => /^\d+\. `([^`]+)`/.exec(line)?.[1] ?? []) };
  });

describe('the walks through the code', () => {
  it('the walks have steps', () => expect(walks.filter(({ steps }) => steps.length < 2)).toEqual([]));

  it.each(walks)('every step of the walk "$title" is a file that is joined to an earlier one', ({ steps }) => {
    expect(steps.filter((step) => !imports.has(step))).toEqual([]);
    expect(
      steps.filter((step, index) => index > 0 && !steps.slice(0, index).some((earlier) => areJoined(earlier, step))),
    ).toEqual([]);
  });

  it('two files without an import between them are not joined', () => {
    expect(areJoined('src/sources/manifest-files.ts', 'src/model/pod-actions/restart-policy.ts')).toBe(false);
  });
});
