import { expect, it } from 'vitest';
import { logNodeProblems } from '../../../src/streams/node/log-node-problems.js';

it('a problem of the Node is logged when it begins and when it is over, however often the Node is updated', () => {
  const lines: string[] = [];
  const log = (level: string) => (fields: object) =>
    void lines.push(`${level} ${(fields as { readonly problem: string }).problem}`);
  const report = logNodeProblems('node-1', { error: log('error'), info: log('info') });
  for (const problems of [['no address'], ['no address'], ['no address', 'b'], ['b'], [], [], ['b']]) report(problems);
  expect(lines).toEqual(['error no address', 'error b', 'info no address', 'info b', 'error b']);
});
