import { expect, it } from 'vitest';
import { isStopSignal, stopSignalName, toCriSignal } from '../../../src/model/manifest/stop-signals.js';

it.each([
  ['SIGTERM', 'SIGTERM'],
  ['SIGCLD', 'SIGCLD'],
  ['SIGRTMIN', 'SIGRTMIN'],
  ['SIGRTMIN+3', 'SIGRTMINPLUS3'],
  ['SIGRTMAX-14', 'SIGRTMAXMINUS14'],
] as const)('%s is %s in CRI, there and back', (name, signal) => {
  expect(isStopSignal(name)).toBe(true);
  expect(toCriSignal(name)).toBe(signal);
  expect(stopSignalName(signal)).toBe(name);
});

it.each(['TERM', 'SIGRTMIN+16', 'SIGRTMAX-15', 'SIGRTMINPLUS3', ''])('%j is none', (name) => {
  expect(isStopSignal(name)).toBe(false);
  expect(toCriSignal(name)).toBe('RUNTIME_DEFAULT');
});

it('is not said where the runtime does not say', () => expect(stopSignalName('RUNTIME_DEFAULT')).toBeUndefined());
