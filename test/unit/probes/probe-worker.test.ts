import { expect, it } from 'vitest';
import { isProbed, probeWorkersOf } from '../../../src/model/probes/probe-worker.js';
import { aPod } from '../../support/a-pod.js';

const probe = { tcpSocket: { port: 80 } };
const all = { startupProbe: probe, readinessProbe: probe, livenessProbe: probe };
const pod = aPod({
  spec: {
    containers: [{ name: 'a', ...all }, { name: 'b' }, { name: 'c', livenessProbe: probe }],
    initContainers: [
      { name: 'once', ...all },
      { name: 'sidecar', restartPolicy: 'Always', readinessProbe: probe },
    ],
    ephemeralContainers: [{ name: 'debug', ...all }],
  },
});

it('goes to regular containers first, then to sidecars, and to no other', () => {
  expect(probeWorkersOf(pod).map(({ container, type }) => `${container.name} ${type}`)).toEqual([
    'a startup',
    'a readiness',
    'a liveness',
    'c liveness',
    'sidecar readiness',
  ]);
});

it.each([
  ['a', 'startup', true],
  ['b', 'startup', false],
  ['sidecar', 'readiness', true],
  ['once', 'readiness', false],
  ['debug', 'liveness', false],
] as const)('%s is asked for its %s: %s', (name, type, expected) => {
  expect(isProbed(pod, name, type)).toBe(expected);
});
