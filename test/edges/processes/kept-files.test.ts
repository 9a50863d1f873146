import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { dice, SEED } from '../../embedded/seeded.js';
import { atEachLoss, canTrace } from '../../support/power-loss/traced-program.js';

const SLOW_MACHINE_MS = 300_000;

const program = (replace: string): string => `
  import { appendFileSync } from 'node:fs';
  import { replaceFile, replaceFileSync } from './src/processes/replace-file.ts';
  for (const text of ['first', 'second', 'third']) {
    ${replace}(process.env.DIR + '/new/deep/file', text.repeat(2000), { mode: 0o600, directoryMode: 0o700 });
    appendFileSync(process.env.DONE, text + '\\n');
  }
`;

describe.runIf(canTrace)('a file that is replaced', () => {
  it.each(['await replaceFile', 'replaceFileSync'])(
    'by %s stays whole, and is kept, when the power goes at any moment',
    async (replace) => {
      const texts = ['first', 'second', 'third'];
      const count = await atEachLoss(program(replace), dice(SEED).between, ({ directory, done, text }) => {
        const path = join(directory, 'new/deep/file');
        const found = existsSync(path) ? readFileSync(path, 'utf8').slice(0, texts[0]!.length + 1) : '';
        const whole = existsSync(path) ? readFileSync(path, 'utf8') : '';
        // The one of the last replacement that had ended, or a later one.
        const allowed = texts.slice(Math.max(done.length - 1, 0)).map((one) => one.repeat(2000));
        expect([...allowed, ...(done.length === 0 ? [''] : [])], `${text}: ${found}`).toContain(whole);
      });
      expect(count).toBeGreaterThan(100);
    },
    SLOW_MACHINE_MS,
  );
});
