import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';

const TESTS = join(import.meta.dirname, '..');
const OWN = 'house/concurrent-hooks.test.ts';

/** Whether tests that run at once end what they began by a hook without a context, which belongs to the test that began last. */
const sharesHooks = (text: string): boolean =>
  /\b(?:describe|it|test)\.concurrent\b/.test(text) &&
  /import\s*\{[^}]*\bonTest(?:Finished|Failed)\b[^}]*\}\s*from 'vitest'/.test(text);

describe('a hook for the end of a test', () => {
  it('is that of its context where tests run at once', () => {
    const files = readdirSync(TESTS, { recursive: true, encoding: 'utf8' }).filter(
      (file) => file.endsWith('.ts') && file !== OWN,
    );
    expect(files.length).toBeGreaterThan(400);
    expect(files.filter((file) => sharesHooks(readFileSync(join(TESTS, file), 'utf8')))).toEqual([]);
  });

  it.each([
    ["import { it, onTestFinished } from 'vitest';\ndescribe.concurrent('x', () => {});", true],
    ["import {\n  onTestFailed,\n} from 'vitest';\nit.concurrent('x', () => {});", true],
    ["import { it, onTestFinished } from 'vitest';\ndescribe('x', () => {});", false],
    ["import { it } from 'vitest';\ndescribe.concurrent('x', ({ onTestFinished }) => {});", false],
  ])('is shared in %j: %s', (text, isShared) => {
    expect(sharesHooks(text)).toBe(isShared);
  });
});
