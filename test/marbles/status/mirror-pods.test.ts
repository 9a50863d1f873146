import { BehaviorSubject, defer, ignoreElements, merge, NEVER, type Observable, tap } from 'rxjs';
import type { TestScheduler } from 'rxjs/testing';
import { describe, expect, it } from 'vitest';
import { ApiError } from '../../../src/model/kube-api/api-error.js';
import type { NodeIdentity } from '../../../src/model/pod/mirror-pod.js';
import {
  CONFIG_HASH_ANNOTATION,
  CONFIG_MIRROR_ANNOTATION,
  type ContainerStatus,
  type Pod,
} from '../../../src/model/pod/pod.js';
import { type KubeletState, kubeletState } from '../../../src/streams/sync-loop/kubelet-state.js';
import { MIRROR_ECHO_MS, MIRROR_PERIOD_MS, mirrorPods } from '../../../src/streams/status/mirror-pods.js';
import { aPod } from '../../support/a-pod.js';
import { fakePodApi, type FakePodApi, type FakePodApiOptions } from '../../support/fake-pod-api.js';
import { marbles } from '../marbles.js';

interface Stage extends FakePodApi {
  readonly state: KubeletState;
  readonly logged: string[];
  readonly node$: BehaviorSubject<NodeIdentity | undefined>;
  readonly world: { terminating: boolean; terminated: boolean; random: number };
  /** The watch brings what the API has under the name, or that it is gone. */
  readonly echo: (name?: string) => void;
  readonly during: (happens$: Observable<() => void>) => Observable<string>;
}

const NODE = { name: 'node-1', uid: 'node-uid' };

const stageOf = (scheduler: TestScheduler, options: Partial<FakePodApiOptions> = {}): Stage => {
  const fake = fakePodApi({ scheduler, ...options });
  const state = kubeletState();
  const { pods } = state;
  const logged: string[] = [];
  const node$ = new BehaviorSubject<NodeIdentity | undefined>(NODE);
  const world: Stage['world'] = { terminating: false, terminated: false, random: 0 };
  const level = (name: string) => (_fields: object, message: string) => void logged.push(`${name} ${message}`);
  const mirrors = mirrorPods({
    api: fake.api,
    scheduler,
    state: {
      ...state,
      workers: {
        isTerminationRequested: () => world.terminating,
        isTerminatingByFullName: () => false,
        isKnownTerminated: () => world.terminated,
      },
    },
    node: () => node$.value,
    node$,
    log: { debug: () => undefined, info: () => undefined, warn: level('warn'), error: level('error') },
    random: () => world.random,
  });
  const echo = (name = 's'): void => {
    const found = fake.pod(name);
    for (const known of pods.mirrors())
      if (known.metadata.name === name) state.apply({ kind: 'pod-removed', pod: known });
    if (found) state.apply({ kind: 'pod-set', pod: found });
    const wanted = pods.pods().find(({ metadata }) => metadata.name === name);
    if (wanted) state.apply({ kind: 'api-object-changed', uid: wanted.metadata.uid });
  };
  return {
    ...{ ...fake, state, logged, node$, world, echo },
    during: (happens$) =>
      defer(() =>
        merge(
          fake.request$,
          mirrors.run$,
          happens$.pipe(
            tap((happen) => happen()),
            ignoreElements(),
          ),
        ),
      ),
  };
};

const aContainerStatus = (state: ContainerStatus['state'], containerID?: string): ContainerStatus => ({
  ...{ name: 'main', image: 'host', imageID: '', ready: false, restartCount: 0 },
  ...{ ...(state && { state }), ...(containerID !== undefined && { containerID }) },
});
const staticPod = (hash: string, name = 's'): Pod =>
  aPod({ uid: `uid-${name}-${hash}`, name, annotations: { [CONFIG_HASH_ANNOTATION]: hash } });
const mirrorPod = (hash: string, sketch: object = {}): Pod =>
  aPod({ uid: 'mirror', name: 's', source: 'api', annotations: { [CONFIG_MIRROR_ANNOTATION]: hash }, ...sketch });
const names = { c: 'POST s', x: 'DELETE s', g: 'GET s', o: 'POST o' };
const hashIn = (pod: Pod | undefined) => pod?.metadata.annotations?.[CONFIG_MIRROR_ANNOTATION];
const outage = new ApiError({ message: 'connection refused' });

describe('the mirror of a static pod', () => {
  it(
    'is made as soon as the node is there, and not again',
    marbles(({ hot, expectObservable, flush, scheduler }) => {
      const stage = stageOf(scheduler);
      stage.node$.next(undefined);
      stage.state.apply({ kind: 'pod-set', pod: staticPod('h1') });
      const change = { n: () => stage.node$.next(NODE), e: stage.echo };
      const change$ = hot(' 250ms n 99ms e', change);
      const expected = '    250ms c';
      expectObservable(stage.during(change$), '40s !').toBe(expected, names);
      flush();
      expect(hashIn(stage.pod('s'))).toBe('h1');
    }),
  );

  it(
    'is looked for every two seconds, and at once when something about its pod changes',
    marbles(({ hot, expectObservable, scheduler }) => {
      const stage = stageOf(scheduler);
      stage.write(mirrorPod('h1'));
      stage.state.apply({ kind: 'pod-set', pod: staticPod('h1') });
      stage.echo();
      const other = () => stage.state.apply({ kind: 'pod-set', pod: staticPod('h1', 'o') });
      const gone = () => {
        stage.take('s');
        stage.echo();
      };
      const change$ = hot(' 500ms o 999ms g---e', { o: other, g: gone, e: stage.echo });
      const expected = '    1500ms c 499ms o';
      expectObservable(stage.during(change$), '9s !').toBe(expected, names);
      expect(MIRROR_PERIOD_MS).toBe(2_000);
    }),
  );

  it(
    'is created again when it is out of date, although the watch still shows the old one',
    marbles(({ hot, expectObservable, flush, scheduler }) => {
      const stage = stageOf(scheduler);
      stage.write(mirrorPod('h0'));
      stage.state.apply({ kind: 'pod-set', pod: staticPod('h1') });
      stage.echo();
      const change$ = hot(' 9s e', { e: stage.echo });
      const expected = '    xc';
      expectObservable(stage.during(change$), '40s !').toBe(expected, names);
      flush();
      expect(hashIn(stage.pod('s'))).toBe('h1');
    }),
  );

  it(
    'is created again when the pod has started again under its UID, since the API accepts no return from an end',
    marbles(({ hot, expectObservable, scheduler }) => {
      const stage = stageOf(scheduler);
      const ended = aContainerStatus({ terminated: { exitCode: 143 } }, 'sim://1');
      const again = aContainerStatus({ waiting: { reason: 'ContainerCreating' } });
      stage.write({ ...mirrorPod('h1'), status: { phase: 'Failed', containerStatuses: [ended] } });
      stage.state.apply({
        kind: 'pod-set',
        pod: { ...staticPod('h1'), spec: { ...staticPod('h1').spec, restartPolicy: 'Never' } },
      });
      stage.echo();
      const anew = () =>
        void stage.state.apply({
          kind: 'status',
          uid: 'uid-s-h1',
          status: { phase: 'Pending', containerStatuses: [again] },
        });
      const change$ = hot(' 2500ms a---e', { a: anew, e: stage.echo });
      const expected = '    2500ms xc';
      expectObservable(stage.during(change$), '40s !').toBe(expected, names);
    }),
  );

  it(
    'is created again when a client has requested its deletion',
    marbles(({ hot, expectObservable, scheduler }) => {
      const stage = stageOf(scheduler);
      stage.write(mirrorPod('h1', { deletionTimestamp: '2026-01-01T00:00:00Z' }));
      stage.state.apply({ kind: 'pod-set', pod: staticPod('h1') });
      stage.echo();
      const change$ = hot(' ---e', { e: stage.echo });
      const expected = '    xc';
      expectObservable(stage.during(change$), '40s !').toBe(expected, names);
    }),
  );

  it(
    'leaves its name to an ordinary pod, and takes the place as soon as that is gone',
    marbles(({ hot, expectObservable, flush, scheduler }) => {
      const stage = stageOf(scheduler);
      stage.write(aPod({ uid: 'ordinary', name: 's', source: 'api' }));
      stage.state.apply({ kind: 'pod-set', pod: staticPod('h1') });
      const change$ = hot(' 5s t', { t: () => stage.take('s') });
      // After 1, 2 and 4 s it is due again, which the next pass notices.
      const expected = '    cg 1998ms cg 3998ms c';
      expectObservable(stage.during(change$), '7s !').toBe(expected, names);
      flush();
      expect(stage.logged).toEqual(Array(2).fill('warn cannot update the mirror of a static pod, retrying'));
    }),
  );

  it(
    'that the API has already counts as created',
    marbles(({ hot, expectObservable, flush, scheduler }) => {
      const stage = stageOf(scheduler);
      stage.write(mirrorPod('h1'));
      stage.state.apply({ kind: 'pod-set', pod: staticPod('h1') });
      const change$ = hot(' 5s e', { e: stage.echo });
      const expected = '    cg';
      expectObservable(stage.during(change$), '40s !').toBe(expected, names);
      flush();
      expect(stage.logged).toEqual([]);
    }),
  );

  it(
    'that the watch does not show is made again after ten seconds',
    marbles(({ hot, expectObservable, scheduler }) => {
      const stage = stageOf(scheduler);
      stage.state.apply({ kind: 'pod-set', pod: staticPod('h1') });
      const change$ = hot(' 5s t', { t: () => stage.take('s') });
      const expected = '    c 11999ms c';
      expectObservable(stage.during(change$), '14s !').toBe(expected, names);
      expect(MIRROR_ECHO_MS).toBe(10_000);
    }),
  );

  it(
    'stays as it is while the pod stops, and is removed when no source wants the pod',
    marbles(({ hot, expectObservable, scheduler }) => {
      const stage = stageOf(scheduler);
      stage.write(mirrorPod('h0'));
      stage.state.apply({ kind: 'pod-set', pod: staticPod('h1') });
      stage.echo();
      stage.world.terminating = true;
      const gone = () => {
        stage.state.apply({ kind: 'pod-removed', pod: staticPod('h1') });
        stage.world.terminating = false;
      };
      const change$ = hot(' 3s g', { g: gone });
      const expected = '    4s x';
      expectObservable(stage.during(change$), '40s !').toBe(expected, names);
    }),
  );

  it(
    'is created again for a pod that has ended by itself while the API server was away, and is still wanted',
    marbles(({ hot, expectObservable, flush, scheduler }) => {
      const stage = stageOf(scheduler);
      stage.write(mirrorPod('h0'));
      stage.state.apply({ kind: 'pod-set', pod: staticPod('h1') });
      stage.echo();
      stage.world.terminating = true;
      const change$ = hot(' 3s g 1999ms e', { g: () => (stage.world.terminated = true), e: stage.echo });
      const expected = '    4s xc';
      expectObservable(stage.during(change$), '40s !').toBe(expected, names);
      flush();
      expect(hashIn(stage.pod('s'))).toBe('h1');
    }),
  );
});

describe('a mirror that cannot be made', () => {
  it(
    'is tried again after 1 s, doubling to 60 s, and delays no other',
    marbles(({ hot, expectObservable, scheduler }) => {
      const stage = stageOf(scheduler, { failure: (request) => (request === 'POST s' ? outage : undefined) });
      stage.state.apply({ kind: 'pod-set', pod: staticPod('h1') });
      stage.state.apply({ kind: 'pod-set', pod: staticPod('h1', 'o') });
      const change$ = hot(' ---e', { e: () => stage.echo('o') });
      // Each is due a while after the failure, which the pass after that notices: 1, 2, 4, 8, 16, 32, 60, 60.
      const expected = '(co) 1996ms c 3999ms c 5999ms c 9999ms c 17999ms c 33999ms c 61999ms c 61999ms c';
      expectObservable(stage.during(change$), '240s !').toBe(expected, names);
    }),
  );

  it(
    'waits up to half as long again',
    marbles(({ expectObservable, scheduler }) => {
      const stage = stageOf(scheduler, { failure: () => outage });
      stage.world.random = 0.9999;
      stage.state.apply({ kind: 'pod-set', pod: staticPod('h1') });
      // Due after 1.5, 3 and 6 s.
      const expected = '    c 1999ms c 3999ms c 7999ms c';
      expectObservable(stage.during(NEVER), '15s !').toBe(expected, names);
    }),
  );
});
