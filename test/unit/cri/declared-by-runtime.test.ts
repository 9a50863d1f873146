import { expect, it } from 'vitest';
import { keepsStarts, sharesNetwork } from '../../../src/model/cri/declared-by-runtime.js';

it.each<{ info: Record<string, string>; keeps: boolean }>([
  { info: {}, keeps: false },
  { info: { config: '{"keepsStarts":true}' }, keeps: false },
  { info: { info: '{"keepsStarts":true}' }, keeps: true },
  { info: { info: '{"keepsStarts":"yes"}' }, keeps: false },
  { info: { info: '{"sandboxID":"x"}' }, keeps: false },
  { info: { info: 'null' }, keeps: false },
  { info: { info: 'not JSON' }, keeps: false },
])('a runtime that says $info keeps starts: $keeps', ({ info, keeps }) => {
  expect(keepsStarts(info)).toBe(keeps);
});

it('a runtime shares the network of the machine only if it says so', () => {
  expect(sharesNetwork({ info: '{"sharesNetwork":true,"keepsStarts":false}' })).toBe(true);
  expect(sharesNetwork({ info: '{"keepsStarts":true}' })).toBe(false);
});
