import { asyncScheduler, map, mergeMap, type Observable, of, throwError, timer } from 'rxjs';
import { expect, it } from 'vitest';
import type { ContainerStatus, PodSandboxStatus } from '../../../src/generated/runtime/v1/api.js';
import { CriError } from '../../../src/model/cri/cri-error.js';
import { runtimeReader } from '../../../src/streams/pleg/runtime-reader.js';
import type { TerminationMessages } from '../../../src/streams/pleg/termination-messages.js';
import { aContainerStatus, aListedContainer, aSandbox, aSandboxStatus } from '../../unit/cri-fixtures.js';
import { marbles } from '../marbles.js';

type Calls = Parameters<typeof runtimeReader>[0];

const notFound$ = throwError(() => new CriError('not-found', 'ContainerStatus', 'gone'));
const broken = new CriError('unavailable', 'ContainerStatus', 'broken');

/** A runtime with the pods `a` (a sandbox, two containers) and `b` (a sandbox), which answers at once by default. */
const aRuntime = (calls: Partial<Calls> = {}): { readonly runtime: Calls; readonly asked: unknown[] } => {
  const asked: unknown[] = [];
  const sandboxes = [aSandbox('a', 'sandbox-a'), aSandbox('b', 'sandbox-b', { createdAt: 9n })];
  const containers = [aListedContainer('a', 'c1'), aListedContainer('a', 'c2', { createdAt: 3n })];
  const ofPod = <T extends { labels: { [key: string]: string } }>(items: T[], uid: string | undefined): T[] =>
    items.filter(({ labels }) => uid === undefined || labels['io.kubernetes.pod.uid'] === uid);
  const runtime: Calls = {
    listPodSandbox: ({ filter }) => {
      asked.push({ listPodSandbox: filter });
      return of({ items: ofPod(sandboxes, filter?.labelSelector?.['io.kubernetes.pod.uid']) });
    },
    listContainers: ({ filter }) => {
      asked.push({ listContainers: filter });
      return of({ containers: ofPod(containers, filter?.labelSelector?.['io.kubernetes.pod.uid']) });
    },
    podSandboxStatus: ({ podSandboxId = '' }) => sandboxAnswer(aSandboxStatus('a', podSandboxId)),
    containerStatus: ({ containerId = '' }) =>
      containerAnswer(aContainerStatus(containerId, { createdAt: containerId === 'c1' ? 2n : 3n })),
    ...calls,
  };
  return { runtime, asked };
};
const containerAnswer = (status: ContainerStatus | undefined) => of({ status, info: {} });
const sandboxAnswer = (status: PodSandboxStatus | undefined) =>
  of({ status, info: {}, containersStatuses: [], timestamp: 0n });

const read = <T>(value$: Observable<T>): unknown[] => {
  const heard: unknown[] = [];
  value$.subscribe({
    next: (value) => heard.push(value),
    error: (error: unknown) => heard.push(error),
    complete: () => heard.push('done'),
  });
  return heard;
};

it(
  'asks both lists side by side, and dates the pods before the question',
  marbles(({ cold, expectObservable, expectSubscriptions, scheduler }) => {
    const sandboxes$ = cold('----(s|)', { s: { items: [aSandbox('a', 'sandbox-a')] } });
    const containers$ = cold('--(c|)', { c: { containers: [aListedContainer('a', 'c1')] } });
    const reader = runtimeReader(
      aRuntime({ listPodSandbox: () => sandboxes$, listContainers: () => containers$ }).runtime,
      scheduler,
    );
    const summary$ = timer(3, scheduler).pipe(
      mergeMap(() => reader.listPods('all')),
      map((pods) => pods.map(({ uid, observedAt, items }) => `${uid}@${observedAt} ${items.length}`)),
    );
    expectObservable(summary$).toBe('   -------(p|)', { p: ['a@3 2'] });
    expectSubscriptions(sandboxes$.subscriptions).toBe('---^---!');
    expectSubscriptions(containers$.subscriptions).toBe(' ---^-!');
  }),
);

it(
  'cancels what is still asked when it is left',
  marbles(({ cold, expectObservable, expectSubscriptions, scheduler }) => {
    const never$ = cold<{ items: [] }>('----------');
    const listed$ = cold('-(c|)', { c: { containers: [] } });
    const reader = runtimeReader(
      aRuntime({ listPodSandbox: () => never$, listContainers: () => listed$ }).runtime,
      scheduler,
    );
    expectObservable(reader.listPods('all'), '--^--!').toBe('----');
    expectSubscriptions(never$.subscriptions).toBe('--^--!');
  }),
);

it.each([
  ['all', undefined, undefined],
  ['running', { state: { state: 'SANDBOX_READY' } }, { state: { state: 'CONTAINER_RUNNING' } }],
] as const)('lists %s', (which, sandboxes, containers) => {
  const { runtime, asked } = aRuntime();
  const heard = read(
    runtimeReader(runtime)
      .listPods(which)
      .pipe(map((pods) => pods.map(({ uid }) => uid))),
  );
  expect(heard).toEqual([['b', 'a'], 'done']);
  expect(asked).toEqual([{ listPodSandbox: sandboxes }, { listContainers: containers }]);
});

it('inspects what carries the uid of the pod', () => {
  const { runtime, asked } = aRuntime();
  const heard = read(runtimeReader(runtime).podStatus({ uid: 'a', namespace: 'ns', name: 'pod' }));
  expect(heard).toMatchObject([
    {
      uid: 'a',
      name: 'pod',
      ips: ['10.0.0.1'],
      sandboxes: [{ id: 'sandbox-a' }],
      containers: [
        { id: 'c2', sandboxId: 'sandbox-a' },
        { id: 'c1', sandboxId: 'sandbox-a' },
      ],
    },
    'done',
  ]);
  const labelSelector = { 'io.kubernetes.pod.uid': 'a' };
  expect(asked).toEqual([{ listPodSandbox: { labelSelector } }, { listContainers: { labelSelector } }]);
});

it('takes the message of a container from the reader of termination messages, and says which containers are left', () => {
  const retained: string[][] = [];
  const messages: TerminationMessages = {
    complete: (status) => of({ ...status, message: `words of ${status.id}` }),
    retain: (pods) => retained.push(pods.map(({ uid }) => uid)),
  };
  const reader = runtimeReader(aRuntime().runtime, asyncScheduler, messages);
  const heard = read(reader.podStatus({ uid: 'a', namespace: 'ns', name: 'pod' }));
  expect(heard).toMatchObject([{ containers: [{ message: 'words of c2' }, { message: 'words of c1' }] }, 'done']);
  expect(retained).toEqual([]);
  // What does not run has its words still.
  read(reader.listPods('running'));
  expect(retained).toEqual([]);
  read(reader.listPods('all'));
  expect(retained).toEqual([['b', 'a']]);
});

it(
  'holds a pod back while termination messages are read, and no other one',
  marbles(({ cold, expectObservable, scheduler }) => {
    const messages: TerminationMessages = {
      complete: (status) => (status.id === 'c1' ? cold('-----(s|)', { s: status }) : of(status)),
      retain: () => undefined,
    };
    const reader = runtimeReader(aRuntime().runtime, scheduler, messages);
    const read = (uid: string) => reader.podStatus({ uid, namespace: 'ns', name: 'pod' }).pipe(map(() => uid));
    expectObservable(read('a')).toBe('-----(a|)');
    expectObservable(read('b')).toBe('(b|)');
  }),
);

it('names a pod of which only the uid was known', () => {
  const heard = read(runtimeReader(aRuntime().runtime).podStatus({ uid: 'a', namespace: '', name: '' }));
  expect(heard).toMatchObject([{ uid: 'a', namespace: 'ns', name: 'name-a' }, 'done']);
});

it('knows nothing of a pod that the runtime does not have', () => {
  const heard = read(runtimeReader(aRuntime().runtime).podStatus({ uid: 'q', namespace: 'ns', name: 'pod' }));
  expect(heard).toEqual([{ uid: 'q', namespace: 'ns', name: 'pod', ips: [], sandboxes: [], containers: [] }, 'done']);
});

it.each([
  {
    what: 'leaves out a container that is gone by now',
    calls: {
      containerStatus: ({ containerId = '' }) =>
        containerId === 'c1' ? notFound$ : containerAnswer(aContainerStatus(containerId)),
    },
    heard: [{ sandboxes: [{ id: 'sandbox-a' }], containers: [{ id: 'c2' }] }, 'done'],
  },
  {
    what: 'leaves out a sandbox that is gone by now',
    calls: { podSandboxStatus: () => notFound$ },
    heard: [{ ips: [], sandboxes: [], containers: [{ id: 'c2' }, { id: 'c1' }] }, 'done'],
  },
  { what: 'fails with any other error', calls: { containerStatus: () => throwError(() => broken) }, heard: [broken] },
  {
    what: 'fails when the sandbox status is absent',
    calls: { podSandboxStatus: () => sandboxAnswer(undefined) },
    heard: [new Error('pod sandbox status is nil')],
  },
  {
    what: 'fails when a container status is absent',
    calls: { containerStatus: () => containerAnswer(undefined) },
    heard: [new Error('container status is nil')],
  },
  { what: 'fails when a list call fails', calls: { listContainers: () => throwError(() => broken) }, heard: [broken] },
] as { what: string; calls: Partial<Calls>; heard: unknown[] }[])('$what', ({ calls, heard }) => {
  const ref = { uid: 'a', namespace: 'ns', name: 'pod' };
  expect(read(runtimeReader(aRuntime(calls).runtime).podStatus(ref))).toMatchObject(heard);
});

it(
  'inspects side by side',
  marbles(({ cold, expectObservable, expectSubscriptions, scheduler }) => {
    const sandbox$ = cold('---(s|)', {
      s: { status: aSandboxStatus('a', 'sandbox-a'), info: {}, containersStatuses: [], timestamp: 0n },
    });
    const container$ = cold('--(c|)', { c: { status: aContainerStatus('c1'), info: {} } });
    const { runtime } = aRuntime({ podSandboxStatus: () => sandbox$, containerStatus: () => container$ });
    const ids$ = runtimeReader(runtime, scheduler)
      .podStatus({ uid: 'a', namespace: 'ns', name: 'pod' })
      .pipe(map(({ containers }) => containers.length));
    expectObservable(ids$).toBe('---(n|)', { n: 2 });
    expectSubscriptions(sandbox$.subscriptions).toBe('^--!');
    expectSubscriptions(container$.subscriptions).toBe(['^-!', '^-!']);
  }),
);

it('looks for what ran by its id where the listing leaves it out, and for nothing else', () => {
  const asked: (string | undefined)[] = [];
  const { runtime } = aRuntime({
    listPodSandbox: () => of({ items: [] }),
    listContainers: () => of({ containers: [aListedContainer('a', 'c1')] }),
    podSandboxStatus: ({ podSandboxId = '' }) => {
      asked.push(podSandboxId);
      return sandboxAnswer(aSandboxStatus('a', podSandboxId));
    },
    containerStatus: ({ containerId = '' }) => {
      asked.push(containerId);
      return containerId === 'removed' ? notFound$ : containerAnswer(aContainerStatus(containerId));
    },
  });
  const ran = ['c1', 'c2', 'removed'].map((id) => ({ kind: 'container' as const, id, sandboxId: 'sandbox-a' }));
  const ref = { uid: 'a', namespace: 'ns', name: 'web' };
  const status$ = runtimeReader(runtime, asyncScheduler).podStatus(ref, [
    ...ran,
    { kind: 'sandbox', id: 'sandbox-a', sandboxId: 'sandbox-a' },
  ]);
  const summary$ = status$.pipe(
    map(({ sandboxes, containers }) => [
      sandboxes.map(({ id }) => id),
      containers.map(({ id, sandboxId }) => `${id} in ${sandboxId}`).toSorted(),
    ]),
  );
  expect(read(summary$)).toEqual([[['sandbox-a'], [expect.stringMatching(/^c1 in /), 'c2 in sandbox-a']], 'done']);
  expect(asked).toEqual(['sandbox-a', 'c1', 'c2', 'removed']);
});
