import { expect, it } from 'vitest';
import { farewell } from '../../../src/cli/run/farewell.js';
import type { Pod } from '../../../src/model/pod/pod.js';

const pod = (phase: string) =>
  ({
    metadata: { name: 'web', namespace: 'default', uid: 'u' },
    spec: { containers: [] },
    status: { phase },
  }) as unknown as Pod;

it.each([
  [[], false, undefined, undefined],
  [[pod('Succeeded'), pod('Failed')], false, 7, undefined],
  [[pod('Running')], false, undefined, /^1 pod goes on running.* to stop it, start the agent again with --stop-pods/],
  [[pod('Running'), pod('Pending'), pod('Failed')], false, 7, /^2 pods go on running .*finds them again/],
  [[pod('Running')], true, undefined, undefined],
  [[pod('Running')], true, 7, /^the embedded runtime \(pid 7\) keeps running .*kill 7 ends it$/],
] as const)('says at the end what goes on: %#', (pods, stopsPods, runtimePid, expected) => {
  const said = farewell({ pods, stopsPods, runtimePid });
  if (expected === undefined) expect(said).toBeUndefined();
  else expect(said).toMatch(expected);
});
