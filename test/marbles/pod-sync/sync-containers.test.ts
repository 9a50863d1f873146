import { catchError, map, type Observable, of, tap, throwError, timer } from 'rxjs';
import { describe, expect, it } from 'vitest';
import type { ImageStatusResponse } from '../../../src/generated/runtime/v1/api.js';
import { isStartWait } from '../../../src/model/pod-actions/start-wait.js';
import { CriError } from '../../../src/model/cri/cri-error.js';
import type { PodSpec } from '../../../src/model/pod/pod.js';
import type { RuntimePodStatus } from '../../../src/model/pleg/runtime-pod.js';
import type { CredentialPorts } from '../../../src/streams/ports/credential-ports.js';
import type { ImageService } from '../../../src/streams/ports/image-service.js';
import type { RuntimeService } from '../../../src/streams/ports/runtime-service.js';
import { kubeletState } from '../../../src/streams/sync-loop/kubelet-state.js';
import { syncContainers } from '../../../src/streams/pod-sync/sync-containers.js';
import { aPod } from '../../support/a-pod.js';
import { aContainer, aRuntimeStatus, aSandbox } from '../../support/a-runtime-status.js';
import { nodeFacts } from '../../support/node-facts.js';
import { syncStage } from '../../support/sync-context.js';
import { marbles } from '../marbles.js';

const image = { image: { id: 'host', uid: { value: 0n }, username: '' }, info: {} } as unknown as ImageStatusResponse;
const named = (name: string) => ({ name, image: 'host' });
const sidecar = (name: string) => ({ name, image: 'host', restartPolicy: 'Always' });
const away = new CriError('unavailable', 'any', 'away');

interface Scene {
  readonly spec?: Partial<PodSpec>;
  readonly status?: RuntimePodStatus;
  /** Names of containers that cannot be started. */
  readonly broken?: readonly string[];
  readonly signal?: AbortSignal;
  readonly runtime?: Partial<RuntimeService>;
  readonly images?: Partial<ImageService>;
  readonly pullSecrets?: CredentialPorts['pullSecrets'];
}

/** Every call takes a millisecond; `calls` shows them in order. */
const stageOf = (scheduler: Parameters<typeof syncStage>[1], scene: Scene) => {
  const { spec = {}, status = aRuntimeStatus([], []), broken = [], signal, runtime = {}, images = {} } = scene;
  const { pullSecrets } = scene;
  const calls: string[] = [];
  const slowly = <T>(what: string, answer: T): Observable<T> =>
    timer(1, scheduler).pipe(
      tap({ subscribe: () => calls.push(what) }),
      map(() => answer),
    );
  const stage = syncStage(aPod({ spec }), scheduler, {
    signal,
    images: { imageStatus: () => of(image), ...images },
    ...(pullSecrets && { credentials: { pullSecrets } }),
    runtime: {
      runPodSandbox: ({ config }) => slowly(`sandbox ${config?.metadata?.attempt}`, { podSandboxId: 'fresh' }),
      podSandboxStatus: () => of({ status: aSandbox(), info: {}, containersStatuses: [], timestamp: 0n }),
      stopPodSandbox: ({ podSandboxId }) => slowly(`stop sandbox ${podSandboxId}`, {}),
      stopContainer: ({ containerId }) => slowly(`stop ${containerId}`, {}),
      removeContainer: ({ containerId }) => slowly(`remove ${containerId}`, {}),
      createContainer: ({ config }) => {
        const name = config?.metadata?.name ?? '';
        calls.push(`create ${name}`);
        return broken.includes(name) ? throwError(() => away) : of({ containerId: name });
      },
      startContainer: ({ containerId }) => slowly(`start ${containerId}`, {}),
      ...runtime,
    },
  });
  const ports = { node: nodeFacts, state: kubeletState(), maxRestartBackOffMs: 300_000 };
  const outcome$ = syncContainers(stage.context, status, ports).pipe(
    map((sync) => {
      const starts = sync.starts.map(({ container, problem }) => {
        if (!problem) return container;
        return isStartWait(problem) ? `${container}~` : `${container}!`;
      });
      return `${sync.acted ? 'acted' : 'idle'} ${starts.join()}`;
    }),
    catchError((error: unknown) => of(String(error))),
  );
  return { ...stage, calls, outcome$ };
};

const played = (scene: Scene) => {
  let stage!: ReturnType<typeof stageOf>;
  const outcomes: string[] = [];
  marbles(({ scheduler }) => {
    stage = stageOf(scheduler, scene);
    stage.outcome$.subscribe((outcome) => outcomes.push(outcome));
  })();
  return { ...stage, outcomes };
};

const exited = (name: string, id: string, exitCode = 0, sandboxId = 'sandbox') =>
  aContainer({
    name,
    id,
    state: 'exited',
    exitCode,
    sandboxId,
    finishedAt: 1n,
    reason: exitCode === 0 ? 'Completed' : 'Error',
  });

const changed = aRuntimeStatus([aContainer({ name: 'main', hash: 'other' })]);
const dead = aRuntimeStatus([], [aSandbox({ state: 'SANDBOX_NOTREADY' })]);

describe('a sync of a pod', () => {
  it.each<{ case: string; scene: Scene; calls: readonly string[]; outcome: string; events?: readonly string[] }>([
    {
      case: 'that lacks nothing does nothing',
      scene: { status: aRuntimeStatus([aContainer({ name: 'main' })]) },
      calls: [],
      outcome: 'idle ',
    },
    {
      case: 'that is new makes the sandbox, then starts its containers one after the other in their order',
      scene: { spec: { containers: [named('one'), named('two')] } },
      calls: ['sandbox 0', 'create one', 'start one', 'create two', 'start two'],
      outcome: 'acted one,two',
    },
    {
      case: 'goes on with the other regular containers when one cannot be started',
      scene: { spec: { containers: [named('one'), named('two')] }, broken: ['one'] },
      calls: ['sandbox 0', 'create one', 'create two', 'start two'],
      outcome: 'acted one!,two',
    },
    {
      case: 'starts only the first init container of a new sandbox',
      scene: { spec: { initContainers: [named('i1'), named('i2')] } },
      calls: ['sandbox 0', 'create i1', 'start i1'],
      outcome: 'acted i1',
    },
    {
      case: 'stops at an init container that cannot be started',
      scene: {
        spec: { initContainers: [sidecar('s1'), named('i1')] },
        status: aRuntimeStatus([aContainer({ name: 's1' })]),
        broken: ['i1'],
      },
      calls: ['create i1'],
      outcome: 'acted i1!',
    },
    {
      case: 'goes on after a sidecar that cannot be started',
      scene: {
        spec: { initContainers: [sidecar('s1'), sidecar('s2')] },
        status: aRuntimeStatus([exited('s2', 'b'), exited('s1', 'a'), aContainer({ name: 'main' })]),
        broken: ['s1'],
      },
      calls: ['create s1', 'create s2', 'start s2'],
      outcome: 'acted s1!,s2',
    },
    {
      case: 'starts ephemeral containers first',
      scene: {
        spec: { containers: [named('one')], ephemeralContainers: [named('debug')] },
        status: aRuntimeStatus([]),
      },
      calls: ['create debug', 'start debug', 'create one', 'start one'],
      outcome: 'acted debug,one',
    },
    {
      case: 'kills what has changed before it starts it again',
      scene: { status: aRuntimeStatus([aContainer({ name: 'main', hash: 'other' })]) },
      calls: ['stop id-main', 'create main', 'start main'],
      outcome: 'acted main',
      events: ['Killing Container main definition changed, will be restarted'],
    },
    {
      case: 'whose sandbox died stops what is left, removes every init container, and starts over in a new one',
      scene: {
        spec: { initContainers: [named('setup')] },
        status: aRuntimeStatus(
          [aContainer({ name: 'main' }), exited('setup', 'new'), exited('setup', 'old')],
          [aSandbox({ state: 'SANDBOX_NOTREADY' })],
        ),
      },
      calls: [
        'stop id-main',
        'stop sandbox sandbox',
        'remove new',
        'remove old',
        'sandbox 1',
        'create setup',
        'start setup',
      ],
      outcome: 'acted setup',
      events: [
        'SandboxChanged Pod sandbox changed, it will be killed and re-created.',
        'Killing Stopping container main',
      ],
    },
    {
      case: 'keeps the newest instance of an init container, and no more',
      scene: {
        spec: { initContainers: [named('setup')] },
        status: aRuntimeStatus([exited('setup', 'new'), exited('setup', 'old')]),
      },
      calls: ['remove old', 'create main', 'start main'],
      outcome: 'acted main',
    },
  ])('$case', ({ scene, calls, outcome, events }) => {
    const stage = played(scene);
    expect(stage.calls).toEqual(calls);
    expect(stage.outcomes).toEqual([outcome]);
    if (events) expect(stage.events.slice(0, events.length)).toEqual(events);
  });

  it.each<{ case: string; scene: Scene; outcome: string }>([
    {
      case: 'a container cannot be killed',
      scene: {
        status: aRuntimeStatus([aContainer({ name: 'main', hash: 'other' })]),
        runtime: { stopContainer: () => throwError(() => away) },
      },
      outcome: 'PodSyncError: container "main": KillContainerError: failed to kill container main: away',
    },
    {
      case: 'the old sandbox cannot be stopped',
      scene: {
        status: aRuntimeStatus([], [aSandbox({ state: 'SANDBOX_NOTREADY' })]),
        runtime: { stopPodSandbox: () => throwError(() => away) },
      },
      outcome: 'PodSyncError: KillPodSandboxError: sandbox sandbox: away',
    },
    {
      case: 'the sandbox cannot be made',
      scene: { runtime: { runPodSandbox: () => throwError(() => away) } },
      outcome: 'PodSyncError: CreatePodSandboxError: Failed to create sandbox for pod "web_default(uid-1)": away',
    },
  ])('ends, and starts nothing, when $case', ({ scene, outcome }) => {
    const stage = played(scene);
    expect(stage.outcomes).toEqual([outcome]);
    expect(stage.calls.filter((call) => call.startsWith('create'))).toEqual([]);
  });

  it.each([
    { at: 0.5, when: 'a container is stopped', status: changed, calls: ['stop id-main'] },
    { at: 0.5, when: 'the old sandbox is stopped', status: dead, calls: ['stop sandbox sandbox'] },
    { at: 0.5, when: 'the sandbox is made', calls: ['sandbox 0'] },
    { at: 1.5, when: 'the first container starts', calls: ['sandbox 0', 'create one', 'start one'] },
  ])('ends between two steps: the signal fires while $when', ({ at, status, calls }) => {
    const outcomes: string[] = [];
    let stage!: ReturnType<typeof stageOf>;
    marbles(({ scheduler }) => {
      const abort = new AbortController();
      const spec = { containers: [named('one'), named('two')] };
      stage = stageOf(scheduler, { ...(status ? { status } : { spec }), signal: abort.signal });
      scheduler.schedule(() => abort.abort(), at);
      stage.outcome$.subscribe((outcome) => outcomes.push(outcome));
    })();
    expect(stage.calls).toEqual(calls);
    // Not even the image of the next container is looked at.
    expect(stage.events.filter((event) => event.startsWith('Pulled')).length).toBe(calls.includes('start one') ? 1 : 0);
    expect(outcomes).toEqual(['SyncCancelled: the run was cancelled by a newer update']);
  });

  describe('with a pull secret that does not exist', () => {
    const spec = {
      containers: ['one', 'two'].map((name) => ({ name, image: name, imagePullPolicy: 'Always' })),
      imagePullSecrets: [{ name: 'gone' }, { name: 'there' }, { name: '' }],
    };
    const there = { uid: 'u', namespace: 'default', name: 'there', type: 'Opaque', data: {} };
    const asked: string[] = [];
    const pulls = (pullImage: ImageService['pullImage']): Scene => ({
      spec,
      images: { pullImage },
      pullSecrets: ({ metadata }) => {
        asked.push(metadata.name);
        return of([there]);
      },
    });
    const reasons = ({ events }: { readonly events: readonly string[] }) =>
      events.filter((event) => /Failed|Pulled/.test(event));

    it('reports it once, after the last pull has failed', () => {
      const stage = played(pulls(() => throwError(() => away)));
      expect(stage.outcomes).toEqual(['acted one!,two!']);
      expect(reasons(stage).filter((event) => event.startsWith('FailedTo'))).toEqual([
        'FailedToRetrieveImagePullSecret Unable to retrieve some image pull secrets (gone); attempting to pull the image may not succeed.',
      ]);
      expect(stage.events.at(-1)).toMatch(/^FailedToRetrieve/);
    });

    it.each([
      ['must not be pulled, and is missing', 'Never', undefined, 'acted one!,two!'],
      ['is there', 'IfNotPresent', { id: 'host' }, 'acted one,two'],
    ])('says nothing of it when nothing is pulled, since the image %s', (_, imagePullPolicy, image, outcome) => {
      const unasked = () => throwError(() => new Error('not to be pulled'));
      const stage = played({
        ...pulls(unasked),
        spec: { ...spec, containers: spec.containers.map((container) => ({ ...container, imagePullPolicy })) },
        images: { pullImage: unasked, imageStatus: () => of({ image, info: {} } as ImageStatusResponse) },
      });
      expect(stage.outcomes).toEqual([outcome]);
      expect(stage.events.filter((event) => event.startsWith('FailedToRetrieve'))).toEqual([]);
    });

    it('says nothing of it when the pulls work', () => {
      const stage = played(pulls(() => of({ imageRef: 'host' })));
      expect(stage.outcomes).toEqual(['acted one,two']);
      expect(reasons(stage).map((event) => event.split(' ')[0])).toEqual(['Pulled', 'Pulled']);
    });
  });

  it('writes down why it does what it does, and names that as the cause of its calls', () => {
    const { records } = played({});
    expect(records[0]).toMatchObject({ kind: 'actions', causes: ['cause'] });
    expect(records.slice(1).every(({ causes }) => causes[0] === 'j1')).toBe(true);
  });
});
