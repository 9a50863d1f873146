import { describe, expect, it } from 'vitest';
import { containerHash } from '../../../src/model/pod-actions/container-hash.js';
import { type EndFacts, endVerdict } from '../../../src/model/pod-actions/end-counts.js';
import { withLostStarts } from '../../../src/model/pod-actions/with-lost-starts.js';
import { emptyPodStatus } from '../../../src/model/pleg/runtime-pod.js';
import { aContainer, aStatus } from '../pods.js';

const container = aContainer('web');
const exited = (exitCode: number, reason = exitCode === 0 ? 'Completed' : 'Error') => ({
  ...({ state: 'exited', exitCode, reason } as const),
  hash: containerHash(container),
});
const running = { state: 'running', exitCode: 0, reason: '', hash: containerHash(container) } as const;
const lost = withLostStarts(
  {
    ...emptyPodStatus({ uid: 'u', namespace: 'n', name: 'p' }),
    containers: [aStatus('web', { id: 'c1', state: 'created' })],
  },
  [{ containerId: 'c1', boots: ['old'] }],
  'new',
).containers[0]!;

type Row = readonly [row: string, instance: EndFacts['instance'], facts: Partial<EndFacts>];
const NOTHING = {};
const STOPPED = { isStopped: true };
const WITH_SANDBOX = { isSandboxReady: false };
const STOPPED_WHOLE = { ...STOPPED, ...WITH_SANDBOX };

const verdictOn = (instance: EndFacts['instance'], facts: Partial<EndFacts>) =>
  endVerdict({ instance, container, isSandboxReady: true, isStopped: false, ...facts });

describe('an end counts for the next agent', () => {
  const ROWS: readonly Row[] = [
    ['its process ended with an error', exited(1), NOTHING],
    ['its process ended well, and the policy is Always', exited(0), NOTHING],
    ['it used too much memory', exited(137, 'OOMKilled'), NOTHING],
    ['one of its own processes killed it', exited(137), NOTHING],
    ['it ended itself with the signal that also stops it', exited(143), NOTHING],
    ['it ended with 255, which is also the code of an unknown end', exited(255), NOTHING],
    ['it could not be started', exited(128, 'StartError'), NOTHING],
    ['it was killed after its liveness or startup probe, or its postStart hook', exited(137), NOTHING],
    ['a restart rule restarts it', exited(42), NOTHING],
    ['it ended by itself as another image', { ...exited(1), hash: 'abc' }, NOTHING],
    ['it still runs and is replaced after a failed probe', running, NOTHING],
  ];
  it.each(ROWS)('%s', (_, instance, facts) => {
    expect(verdictOn(instance, facts).counts).toBe(true);
  });
});

describe('an end does not count for the next agent', () => {
  const ROWS: readonly Row[] = [
    ['the agent has stopped the pod at its own exit', exited(143), STOPPED_WHOLE],
    ['it obeyed that stop', exited(0), STOPPED_WHOLE],
    ['the machine was shut down in order', exited(143), STOPPED_WHOLE],
    ['its manifest was removed', exited(137), STOPPED_WHOLE],
    ['its pod was evicted', exited(137), STOPPED_WHOLE],
    ['the agent was killed while it stopped the pod', exited(143), STOPPED],
    ['its preStop hook had ended it before the signal', exited(0), STOPPED],
    ['it was stopped for another spec, which was changed back', exited(143), STOPPED],
    ['it was stopped for a restart of all containers', exited(137), STOPPED],
    ['it is replaced by another image', { ...running, hash: 'abc' }, NOTHING],
    ['its sandbox has ended', exited(137), WITH_SANDBOX],
    ['the machine had no power', exited(255, 'Unknown'), WITH_SANDBOX],
    ['it crashed in another boot', exited(1), WITH_SANDBOX],
    ['the runtime was killed with it', exited(255, 'Unknown'), NOTHING],
    ['its start was lost in another boot', lost, NOTHING],
    ['the runtime does not know its state', { ...running, state: 'unknown' }, NOTHING],
  ];
  it.each(ROWS)('%s', (_, instance, facts) => {
    expect(verdictOn(instance, facts).counts).toBe(false);
  });

  it('each with its reason', () => {
    const reasons = new Set(ROWS.map(([, instance, facts]) => verdictOn(instance, facts).because));
    expect([...reasons].toSorted()).toEqual([
      'is no reason to wait, since its sandbox has ended too',
      'is one whose cause is unknown',
      'was asked for by another spec',
      'was asked for by the agent',
    ]);
  });
});
