import { expect, it } from 'vitest';
import { podChange } from '../../../src/model/pod-status/pod-change.js';
import type { Pod } from '../../../src/model/pod/pod.js';
import { aPod } from '../../support/a-pod.js';

const pod = aPod();
const running: Pod = { ...pod, status: { phase: 'Running' } };
const edited: Pod = { ...running, spec: { ...running.spec } };

it.each<[string, Pod | undefined, Pod | undefined, ReturnType<typeof podChange>]>([
  ['a pod that was not there is added', undefined, pod, { kind: 'added', pod }],
  ['a pod that is gone is removed, as it was', running, undefined, { kind: 'removed', pod: running }],
  ['a pod with another status has changed', pod, running, { kind: 'changed', before: pod, pod: running }],
  ['a pod with another spec has changed', running, edited, { kind: 'changed', before: running, pod: edited }],
  ['a pod with an equal status is the same', running, { ...pod, status: { phase: 'Running', message: '' } }, undefined],
  ['the same object is the same pod', running, running, undefined],
  ['a pod that was not and is not there has not changed', undefined, undefined, undefined],
])('%s', (_, before, after, change) => {
  expect(podChange(before, after)).toEqual(change);
});
