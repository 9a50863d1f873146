import { expect, it } from 'vitest';
import { admitPod } from '../../../src/model/admission/admit-pod.js';
import { decideAdmission } from '../../../src/model/admission/decide-admission.js';
import { firstRejection } from '../../../src/model/admission/rejection.js';
import type { Pod } from '../../../src/model/pod/pod.js';
import { aPod } from '../../support/a-pod.js';
import { nodeFacts } from '../../support/node-facts.js';

const facts = { ...nodeFacts, allocatable: { cpu: '2', pods: '3' } };
const admit = admitPod(() => facts);
const podOf = (uid: string, cpu: string, source = 'api'): Pod =>
  aPod({ uid, name: uid, source, spec: { containers: [{ name: 'main', resources: { requests: { cpu } } }] } });
const fixed = (uid: string, cpu: string): Pod => podOf(uid, cpu, 'file');
const [one, half] = [podOf('one', '1'), podOf('half', '500m')];

/** `preempted` are the UIDs of pods that are being stopped to make room. */
const decided = (pod: Pod, active: readonly Pod[], preempted: readonly string[] = [], handler = admit) => {
  const admission = decideAdmission(pod, active, { admit: handler, isPreempted: (uid) => preempted.includes(uid) });
  if (admission.kind === 'rejected') return admission.rejection.reason;
  const { waitsFor, preemption } = admission;
  const uids = (pods: readonly Pod[]): string => pods.map(({ metadata }) => metadata.uid).join(' ');
  return [uids(waitsFor), preemption && `${uids(preemption.victims)} for ${preemption.missing}`];
};

it.each<[what: string, pod: Pod, active: readonly Pod[], preempted: readonly string[], is: unknown]>([
  ['a pod for which there is room starts at once', podOf('web', '500m'), [one, half], [], ['', undefined]],
  ['an ordinary pod for which there is none is rejected', podOf('web', '1'), [one, half], [], 'OutOfcpu'],
  ['pods are stopped for a critical one', fixed('dns', '1'), [one, half], [], ['half', 'half for cpu 500m']],
  ['no pod is stopped in vain', fixed('dns', '3'), [one, half], [], 'UnexpectedAdmissionError'],
  [
    'a pod that has room once others have stopped waits for these',
    podOf('web', '1'),
    [one, half, fixed('dns', '500m')],
    ['one'],
    ['one', undefined],
  ],
  [
    'a pod that has room beside them does not wait',
    podOf('web', '500m'),
    [one, fixed('dns', '500m')],
    ['one'],
    ['', undefined],
  ],
  [
    'more pods are stopped where these do not give enough, and the pod waits for all of them',
    fixed('log', '1500m'),
    [one, half, fixed('dns', '500m')],
    ['one'],
    ['one half', 'half for cpu 500m'],
  ],
  [
    'a pod that is being stopped is not chosen again',
    fixed('log', '1500m'),
    [one, fixed('dns', '1')],
    ['one'],
    'UnexpectedAdmissionError',
  ],
])('%s', (_, pod, active, preempted, is) => expect(decided(pod, active, preempted)).toEqual(is));

it('a critical pod that cannot come in for another reason is rejected for that, and no pod is stopped', () => {
  const elsewhere = fixed('dns', '1');
  const pod: Pod = { ...elsewhere, spec: { ...elsewhere.spec, nodeSelector: { disk: 'ssd' } } };
  expect(decided(pod, [one, half])).toBe('NodeAffinity');
  const last = firstRejection(admit, () => ({ reason: 'NodeShutdown', message: 'no' }));
  expect(decided(fixed('dns', '1'), [one, half], [], last)).toBe('NodeShutdown');
});

it('what is missing of every pod together is in the message, and the first check in the detail', () => {
  const admission = decideAdmission(fixed('dns', '3'), [one, half], { admit, isPreempted: () => false });
  expect(admission).toEqual({
    kind: 'rejected',
    rejection: {
      reason: 'UnexpectedAdmissionError',
      message:
        'Unexpected error while attempting to recover from admission failure: preemption: error finding a set of pods to preempt: no set of running pods found to reclaim resources: [(res: cpu, q: 1000), ]',
      detail: "Node didn't have enough resource: cpu, requested: 3000, used: 1500, capacity: 2000",
    },
  });
});
