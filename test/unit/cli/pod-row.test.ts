import { describe, expect, it } from 'vitest';
import { podRow, shortAge } from '../../../src/cli/screen/pod-row.js';
import { podTable } from '../../../src/cli/screen/pod-table.js';
import type { ContainerState, ContainerStatus, Pod } from '../../../src/model/pod/pod.js';

const NOW = Date.parse('2026-01-01T01:00:00Z');
const at = (text: string) => `2026-01-01T00:${text}Z`;

const status = (name: string, state: ContainerState, more: Partial<ContainerStatus> = {}): ContainerStatus => ({
  name,
  image: 'i',
  imageID: '',
  ready: state.running !== undefined,
  restartCount: 0,
  state,
  ...more,
});
const running = { running: { startedAt: at('50:00') } };
const exited = (exitCode: number, reason?: string) => ({ terminated: { exitCode, ...(reason ? { reason } : {}) } });
const waiting = (reason: string) => ({ waiting: { reason } });

const pod = (podStatus: Pod['status'], more: { metadata?: object; spec?: object } = {}): Pod => ({
  metadata: { name: 'web', namespace: 'default', uid: 'u', creationTimestamp: at('55:00'), ...more.metadata },
  spec: { containers: [{ name: 'a' }, { name: 'b' }], ...more.spec },
  status: podStatus,
});
const withInit = { spec: { initContainers: [{ name: 'i1' }, { name: 'i2' }] } };
const withSidecar = { spec: { initContainers: [{ name: 'i1', restartPolicy: 'Always' }] } };

describe('a row', () => {
  it.each<[string, Pod, string, string, string]>([
    ['nothing yet', pod(undefined), '0/2', 'Unknown', '0'],
    ['pending', pod({ phase: 'Pending' }), '0/2', 'Pending', '0'],
    [
      'running',
      pod({ phase: 'Running', containerStatuses: [status('a', running), status('b', running)] }),
      '2/2',
      'Running',
      '0',
    ],
    [
      'being created',
      pod({ phase: 'Pending', containerStatuses: [status('a', waiting('ContainerCreating'))] }),
      '0/2',
      'ContainerCreating',
      '0',
    ],
    [
      'crash loop',
      pod({
        phase: 'Running',
        containerStatuses: [
          status('a', waiting('CrashLoopBackOff'), {
            restartCount: 3,
            lastState: { terminated: { exitCode: 1, finishedAt: at('59:30') } },
          }),
          status('b', running),
        ],
      }),
      '1/2',
      'CrashLoopBackOff',
      '3 (30s ago)',
    ],
    [
      'completed',
      pod({
        phase: 'Succeeded',
        containerStatuses: [status('a', exited(0, 'Completed')), status('b', exited(0, 'Completed'))],
      }),
      '0/2',
      'Completed',
      '0',
    ],
    [
      'half completed',
      pod({
        phase: 'Running',
        conditions: [{ type: 'Ready', status: 'False' }],
        containerStatuses: [status('a', exited(0, 'Completed')), status('b', running)],
      }),
      '1/2',
      'NotReady',
      '0',
    ],
    [
      'killed without a reason',
      pod({ phase: 'Failed', containerStatuses: [status('a', { terminated: { exitCode: 137, signal: 9 } })] }),
      '0/2',
      'Signal:9',
      '0',
    ],
    [
      'failed without a reason',
      pod({ phase: 'Failed', containerStatuses: [status('a', exited(3))] }),
      '0/2',
      'ExitCode:3',
      '0',
    ],
    ['rejected', pod({ phase: 'Failed', reason: 'OutOfcpu' }), '0/2', 'OutOfcpu', '0'],
    [
      'first init running',
      pod(
        { phase: 'Pending', initContainerStatuses: [status('i1', running), status('i2', waiting('PodInitializing'))] },
        withInit,
      ),
      '0/2',
      'Init:0/2',
      '0',
    ],
    [
      'second init running',
      pod(
        { phase: 'Pending', initContainerStatuses: [status('i1', exited(0, 'Completed')), status('i2', running)] },
        withInit,
      ),
      '0/2',
      'Init:1/2',
      '0',
    ],
    [
      'init failed',
      pod(
        { phase: 'Pending', initContainerStatuses: [status('i1', exited(1, 'Error'), { restartCount: 2 })] },
        withInit,
      ),
      '0/2',
      'Init:Error',
      '2',
    ],
    [
      'init waits',
      pod({ phase: 'Pending', initContainerStatuses: [status('i1', waiting('CrashLoopBackOff'))] }, withInit),
      '0/2',
      'Init:CrashLoopBackOff',
      '0',
    ],
    [
      'sidecar',
      pod(
        {
          phase: 'Running',
          initContainerStatuses: [status('i1', running, { started: true, restartCount: 1 })],
          containerStatuses: [status('a', running), status('b', running)],
        },
        withSidecar,
      ),
      '3/3',
      'Running',
      '1',
    ],
    [
      'terminating',
      pod(
        { phase: 'Running', containerStatuses: [status('a', running), status('b', running)] },
        { metadata: { deletionTimestamp: at('59:00') } },
      ),
      '2/2',
      'Terminating',
      '0',
    ],
  ])('of a pod that is %s', (_what, given, ready, text, restarts) => {
    expect(podRow(given, NOW)).toMatchObject({ ready, status: text, restarts, age: '5m' });
  });

  it('counts the age of a pod without creation time from its start', () => {
    const given = pod({ startTime: at('59:00') }, { metadata: { creationTimestamp: undefined } });
    expect(podRow(given, NOW).age).toBe('60s');
    expect(podRow(pod({}, { metadata: { creationTimestamp: undefined } }), NOW).age).toBe('<unknown>');
  });

  it.each([
    ['file', '60s'],
    ['api', '5m'],
  ])('believes no creation time of a manifest: the age of a pod from %s is %s', (source, age) => {
    const annotations = { 'kubernetes.io/config.source': source };
    expect(podRow(pod({ startTime: at('59:00') }, { metadata: { annotations } }), NOW).age).toBe(age);
  });
});

it.each([
  [-1, '0s'],
  [119, '119s'],
  [120, '2m'],
  [330, '5m30s'],
  [600, '10m'],
  [179 * 60, '179m'],
  [200 * 60, '3h20m'],
  [8 * 3600, '8h'],
  [51 * 3600, '2d3h'],
  [8 * 86_400, '8d'],
  [800 * 86_400, '2y70d'],
])('%i seconds are %s', (seconds, text) => {
  expect(shortAge(seconds * 1000)).toBe(text);
});

describe('the table', () => {
  const rows = [
    podRow(pod({ phase: 'Pending' }), NOW),
    podRow(pod({}, { metadata: { namespace: 'a', name: 'longer-name' } }), NOW),
  ];

  it('lines up under its headings, by namespace and name', () => {
    expect(podTable(rows)).toBe(
      [
        'NAMESPACE   NAME          READY   STATUS    RESTARTS   AGE',
        'a           longer-name   0/2     Unknown   0          5m',
        'default     web           0/2     Pending   0          5m',
      ].join('\n'),
    );
  });

  it('is only headings without pods, and has more columns when wide', () => {
    expect(podTable([], 'wide')).toBe('NAMESPACE   NAME   READY   STATUS   RESTARTS   AGE   IP   NODE');
  });
});
