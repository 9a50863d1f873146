import { describe, expect, it } from 'vitest';
import { validatePod } from '../../../src/model/manifest/validate-pod.js';
import { containersOf, type Pod } from '../../../src/model/pod/pod.js';
import type { FaultKind } from '../../../src/tools/sim/faults/fault.js';
import { generateHistory } from '../../../src/tools/sim/histories/generate-history.js';
import type { History } from '../../../src/tools/sim/histories/history.js';

const SEEDS = 1500;
const histories = Array.from({ length: SEEDS }, (_, seed) => generateHistory(seed));
const podsOf = ({ pods }: History): readonly Pod[] =>
  pods.flatMap(({ changes }) => changes.flatMap(({ pod }) => pod ?? []));
const having = (has: (history: History) => boolean): number => histories.filter(has).length;
const withPod = (has: (pod: Pod) => boolean) => (history: History) => podsOf(history).some(has);
const withContainer = (has: (container: ReturnType<typeof containersOf>[number]['container']) => boolean) =>
  withPod((pod) => containersOf(pod).some(({ container }) => has(container)));
const withFault = (kind: FaultKind) => (history: History) => history.faults.some((fault) => fault.kind === kind);
const withInstance = (field: string) => (history: History) =>
  Object.values(history.behaviours.containers ?? {}).some((instances) => instances.some((one) => field in one));

/** The least number of histories with one kind of event; so a few thousand seeds have it in many combinations. */
const AT_LEAST = SEEDS / 200;

describe('the history of a seed', () => {
  it('is always the same, and another one for another seed', () => {
    expect(generateHistory(42)).toEqual(generateHistory(42));
    expect(new Set(histories.map((history) => JSON.stringify(history))).size).toBe(SEEDS);
  });

  it('is plain data', () => {
    for (const history of histories.slice(0, 100)) expect(JSON.parse(JSON.stringify(history))).toEqual(history);
  });

  it('wants only pods that a manifest may ask for', () => {
    for (const history of histories.slice(0, 300)) {
      for (const pod of podsOf(history)) {
        const { spec, metadata } = pod;
        expect(validatePod({ apiVersion: 'v1', kind: 'Pod', metadata, spec }, [])).toEqual([]);
      }
    }
  });

  it('says what its pods want in the order of time, and is quiet at its end', () => {
    for (const { pods, quietFromMs, endMs } of histories) {
      for (const { changes } of pods) {
        const times = changes.map(({ atMs }) => atMs);
        expect(times).toEqual(times.toSorted((one, other) => one - other));
        expect(times.at(-1)).toBeLessThanOrEqual(quietFromMs);
      }
      expect(endMs - quietFromMs).toBeGreaterThanOrEqual(120_000);
    }
  });
});

describe('among many seeds there are enough with', () => {
  it.each<[string, (history: History) => boolean]>([
    [
      'init containers',
      withPod(({ spec }) => (spec.initContainers ?? []).some((one) => one.restartPolicy !== 'Always')),
    ],
    ['sidecars', withPod(({ spec }) => (spec.initContainers ?? []).some((one) => one.restartPolicy === 'Always'))],
    ['restart policy OnFailure', withPod(({ spec }) => spec.restartPolicy === 'OnFailure')],
    ['restart policy Never', withPod(({ spec }) => spec.restartPolicy === 'Never')],
    ['restart rules', withContainer((one) => one.restartPolicyRules?.[0]?.action === 'Restart')],
    ['rules for all', withContainer((one) => one.restartPolicyRules?.[0]?.action === 'RestartAllContainers')],
    ['deadlines', withPod(({ spec }) => spec.activeDeadlineSeconds !== undefined)],
    ['no grace', withPod(({ spec }) => spec.terminationGracePeriodSeconds === 0)],
    ['preStop hooks', withContainer((one) => one.lifecycle?.preStop !== undefined)],
    ['postStart hooks', withContainer((one) => one.lifecycle?.postStart !== undefined)],
    ['startup probes', withContainer((one) => one.startupProbe !== undefined)],
    ['readiness probes', withContainer((one) => one.readinessProbe !== undefined)],
    ['liveness probes', withContainer((one) => one.livenessProbe !== undefined)],
    ['probes by exec', withContainer((one) => one.readinessProbe?.exec !== undefined)],
    ['probes by http', withContainer((one) => one.readinessProbe?.httpGet !== undefined)],
    ['probes by tcp', withContainer((one) => one.readinessProbe?.tcpSocket !== undefined)],
    ['probes by grpc', withContainer((one) => one.readinessProbe?.grpc !== undefined)],
    ['the network of the node', withPod(({ spec }) => spec.hostNetwork === true)],
    ['one pod', ({ pods }) => pods.length === 1],
    ['four pods', ({ pods }) => pods.length === 4],
    [
      'two pods of one name',
      ({ pods }) =>
        pods.length > new Set(pods.map((plan) => plan.changes[0]?.pod?.metadata.name.replace('-node-1', ''))).size,
    ],
    ['pods of a file', ({ pods }) => pods.some(({ source }) => source === 'file')],
    ['pods of a URL', ({ pods }) => pods.some(({ source }) => source === 'http')],
    ['pods of an API server', ({ pods }) => pods.some(({ source }) => source === 'api')],
    ['deleted pods', withPod(({ metadata }) => metadata.deletionTimestamp !== undefined)],
    ['pods that go', ({ pods }) => pods.some(({ changes }) => changes.some(({ pod }) => !pod))],
    [
      'the same UID again',
      ({ pods }) =>
        pods.some(({ changes }) =>
          changes.some(
            ({ pod }, at) =>
              pod &&
              !changes[at - 1]?.pod &&
              changes.slice(0, at).some((before) => before.pod?.metadata.uid === pod.metadata.uid),
          ),
        ),
    ],
    [
      'a new spec under the same UID',
      ({ pods }) =>
        pods.some(({ changes }) =>
          changes.some(
            ({ pod }, at) =>
              pod &&
              changes[at - 1]?.pod?.metadata.uid === pod.metadata.uid &&
              JSON.stringify(changes[at - 1]?.pod?.spec) !== JSON.stringify(pod.spec),
          ),
        ),
    ],
    ['programs that end', withInstance('exitsAfterMs')],
    ['programs that are slow to be ready', withInstance('readyAfterMs')],
    ['programs that start slowly', withInstance('startsAfterMs')],
    ['programs that cannot be started', withInstance('startError')],
    ['programs that fail their probes for a while', withInstance('probeFailures')],
    ['programs that run out of memory', withInstance('outOfMemory')],
    ['programs that hang on SIGTERM', ({ behaviours }) => JSON.stringify(behaviours.containers).includes('"hangs"')],
    [
      'images that cannot be pulled',
      ({ behaviours }) => Object.values(behaviours.images ?? {}).some(({ pullError }) => pullError !== undefined),
    ],
    ['a runtime without events', ({ behaviours }) => behaviours.tellsNoEvents === true],
    ['evented PLEG', ({ node }) => node.eventedPleg],
    ['nothing that goes wrong', ({ faults }) => faults.length === 0],
    ['a kill at a step', ({ faults }) => faults.some((fault) => fault.kind === 'agent-killed' && 'atStep' in fault)],
    ['a kill at a time', ({ faults }) => faults.some((fault) => fault.kind === 'agent-killed' && 'atMs' in fault)],
    ['hours of time', ({ endMs }) => endMs > 3_600_000],
  ])('%s', (_, has) => {
    expect(having(has)).toBeGreaterThanOrEqual(AT_LEAST);
  });

  it.each<FaultKind>([
    ...(['late-request', 'late-reply', 'refused', 'reply-lost', 'hangs', 'cancel-unheard'] as const),
    ...(['event-lost', 'event-doubled', 'event-late', 'events-break'] as const),
    ...(['disk-fails', 'network-slow', 'network-silent', 'source-breaks', 'source-repeats'] as const),
    ...(['agent-killed', 'runtime-restarts', 'container-dies', 'sandbox-dies', 'clock-jumps'] as const),
  ])('fault %s', (kind) => {
    expect(having(withFault(kind))).toBeGreaterThanOrEqual(AT_LEAST);
  });
});
