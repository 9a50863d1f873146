import { describe, expect, it } from 'vitest';
import {
  type Container,
  type ContainerStatus,
  CONFIG_SOURCE_ANNOTATION,
  type PodSpec,
} from '../../../src/model/pod/pod.js';
import { podPhase, type PodPhaseInput } from '../../../src/model/pod-status/pod-phase.js';
import { aContainer, aPod } from '../pods.js';

type State = Pick<ContainerStatus, 'state' | 'lastState' | 'started'>;
const running: State = { state: { running: {} }, started: true };
const ended = (exitCode: number): State => ({ state: { terminated: { exitCode } } });
const restarting = (exitCode: number): State => ({
  state: { waiting: { reason: 'CrashLoopBackOff' } },
  lastState: { terminated: { exitCode } },
});
const waiting: State = { state: { waiting: { reason: 'ContainerCreating' } } };
const lost: State = {};

/** Statuses by container name; a name that is left out has no status. */
const phase = (
  spec: Partial<PodSpec>,
  states: Readonly<Record<string, State>>,
  { annotations, ...more }: Partial<PodPhaseInput> & { annotations?: Record<string, string> } = {},
) =>
  podPhase({
    pod: aPod(spec, { annotations }),
    statuses: Object.entries(states).map(([name, state]) => ({
      name,
      image: '',
      imageID: '',
      ready: false,
      restartCount: 0,
      ...state,
    })),
    podIsTerminal: false,
    podHasInitialized: false,
    ...more,
  });

const two = [aContainer('a'), aContainer('b')];

describe('regular containers a and b', () => {
  it.each<[policy: string, states: Record<string, State>, expected: string]>([
    // The table of the three policies
    ['Always', { a: ended(0), b: running }, 'Running'],
    ['Always', { a: ended(0), b: ended(0) }, 'Running'],
    ['Always', { a: ended(1), b: ended(1) }, 'Running'],
    ['OnFailure', { a: ended(0), b: ended(0) }, 'Succeeded'],
    ['OnFailure', { a: ended(0), b: ended(1) }, 'Running'],
    ['OnFailure', { a: running, b: ended(1) }, 'Running'],
    ['Never', { a: ended(0), b: ended(0) }, 'Succeeded'],
    ['Never', { a: ended(0), b: ended(1) }, 'Failed'],
    ['Never', { a: running, b: ended(1) }, 'Running'],
    // Waiting
    ['Always', { a: waiting, b: waiting }, 'Pending'],
    ['Always', { a: waiting, b: running }, 'Pending'],
    ['Always', { a: restarting(1), b: restarting(1) }, 'Running'],
    ['Always', { a: restarting(1), b: running }, 'Running'],
    ['Never', { a: restarting(0), b: ended(0) }, 'Failed'],
    ['Never', { a: restarting(1), b: ended(1) }, 'Failed'],
    ['OnFailure', { a: restarting(1), b: ended(0) }, 'Running'],
    // Unknown
    ['Always', {}, 'Pending'],
    ['Always', { a: running }, 'Pending'],
    ['Always', { a: running, b: lost }, 'Pending'],
    ['Never', { a: ended(0), b: lost }, 'Pending'],
  ])('%s %j: %s', (restartPolicy, states, expected) => {
    expect(phase({ restartPolicy, containers: two }, states)).toBe(expected);
  });

  it.each<[own: Partial<Container>, state: State, expected: string]>([
    [{ restartPolicy: 'Always' }, ended(0), 'Running'],
    [
      {
        restartPolicy: 'Never',
        restartPolicyRules: [{ action: 'Restart', exitCodes: { operator: 'In', values: [42] } }],
      },
      ended(42),
      'Running',
    ],
    [
      { restartPolicy: 'Never' },
      { state: { terminated: { exitCode: 137, reason: 'RestartingAllContainers' } } },
      'Running',
    ],
  ])('counts what %j says itself in a Never pod', (own, state, expected) => {
    expect(phase({ restartPolicy: 'Never', containers: [aContainer('a', own)] }, { a: state })).toBe(expected);
  });

  it.each<
    [row: string, states: Record<string, State>, annotations: Record<string, string> | undefined, expected: string]
  >([
    ['all succeeded', { a: ended(0), b: ended(0) }, undefined, 'Succeeded'],
    ['one failed', { a: ended(0), b: ended(137) }, undefined, 'Failed'],
    ['one was to be restarted', { a: ended(0), b: restarting(0) }, undefined, 'Failed'],
    ['static', { a: ended(0), b: ended(137) }, { [CONFIG_SOURCE_ANNOTATION]: 'file' }, 'Running'],
    ['from the API', { a: ended(0), b: ended(0) }, { [CONFIG_SOURCE_ANNOTATION]: 'api' }, 'Succeeded'],
    ['one still runs', { a: ended(0), b: running }, undefined, 'Running'],
  ])('an Always pod that has been ended: %s', (_, states, annotations, expected) => {
    const spec = { restartPolicy: 'Always', containers: two };
    expect(phase(spec, states, { podIsTerminal: true, annotations })).toBe(expected);
  });
});

describe('init container i before a', () => {
  it.each<[policy: string, states: Record<string, State>, expected: string]>([
    ['Always', { a: waiting }, 'Pending'],
    ['Always', { i: running, a: waiting }, 'Pending'],
    ['Always', { i: waiting, a: waiting }, 'Pending'],
    ['Always', { i: lost, a: waiting }, 'Pending'],
    ['Always', { i: running, a: running }, 'Pending'],
    ['Always', { i: ended(0), a: running }, 'Running'],
    ['Always', { i: ended(1), a: waiting }, 'Pending'],
    ['Always', { i: restarting(1), a: waiting }, 'Pending'],
    ['OnFailure', { i: ended(1), a: waiting }, 'Pending'],
    ['Never', { i: ended(1), a: waiting }, 'Failed'],
    ['Never', { i: restarting(1), a: waiting }, 'Failed'],
    ['Never', { i: restarting(0), a: running }, 'Running'],
  ])('%s %j: %s', (restartPolicy, states, expected) => {
    const spec = { restartPolicy, initContainers: [aContainer('i')], containers: [aContainer('a')] };
    expect(phase(spec, states)).toBe(expected);
  });
});

describe('sidecar s beside a', () => {
  const starting: State = { state: { running: {} }, started: false };

  it.each<[policy: string, podHasInitialized: boolean, states: Record<string, State>, expected: string]>([
    ['Never', false, { a: running }, 'Pending'],
    ['Never', false, { s: starting, a: running }, 'Pending'],
    ['Never', true, { s: starting, a: running }, 'Running'],
    ['Never', false, { s: running, a: waiting }, 'Pending'],
    ['Never', true, { s: running, a: running }, 'Running'],
    ['Never', true, { s: running, a: ended(0) }, 'Running'],
    ['Never', true, { s: ended(137), a: ended(0) }, 'Succeeded'],
    ['Never', true, { s: ended(0), a: ended(1) }, 'Failed'],
    ['Never', true, { s: restarting(1), a: running }, 'Running'],
    ['Never', true, { s: waiting, a: running }, 'Pending'],
    ['Never', true, { s: lost, a: running }, 'Pending'],
  ])('%s, initialized %s, %j: %s', (restartPolicy, podHasInitialized, states, expected) => {
    const initContainers = [aContainer('s', { restartPolicy: 'Always' })];
    const spec = { restartPolicy, initContainers, containers: [aContainer('a')] };
    expect(phase(spec, states, { podHasInitialized })).toBe(expected);
  });
});
