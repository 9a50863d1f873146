import { catchError, concat, ignoreElements, NEVER, of, throwError, timer } from 'rxjs';
import { describe, expect, it } from 'vitest';
import { CriError } from '../../../src/model/cri/cri-error.js';
import type { NodeFacts } from '../../../src/model/node/node-facts.js';
import type { PodActions } from '../../../src/model/pod-actions/pod-actions.js';
import { SyncCancelled } from '../../../src/model/pod-actions/sync-error.js';
import type { RuntimeClasses } from '../../../src/streams/ports/runtime-classes.js';
import type { RuntimeService } from '../../../src/streams/ports/runtime-service.js';
import { ensureSandbox } from '../../../src/streams/pod-sync/ensure-sandbox.js';
import type { StartQueue } from '../../../src/streams/pod-sync/start-queue.js';
import { aPod, type PodSketch } from '../../support/a-pod.js';
import { aRuntimeStatus, aSandbox } from '../../support/a-runtime-status.js';
import { nodeFacts } from '../../support/node-facts.js';
import { noFiles, syncStage } from '../../support/sync-context.js';
import { marbles } from '../marbles.js';

const actions: PodActions = {
  killPod: false,
  createSandbox: true,
  sandboxId: '',
  attempt: 2,
  initContainersToStart: [],
  containersToStart: ['main'],
  ephemeralContainersToStart: [],
  containersToKill: [],
  containersToReset: [],
  containersToUpdate: [],
  reasons: [],
};
const away = new CriError('unavailable', 'any', 'the runtime is away');

const stageOf = (
  scheduler: Parameters<typeof syncStage>[1],
  {
    pod = {},
    node = nodeFacts,
    runtime = {},
    files = {},
    runtimeClasses,
    with: wanted = actions,
    startQueue,
  }: {
    readonly pod?: PodSketch;
    readonly node?: NodeFacts;
    readonly runtime?: Partial<RuntimeService>;
    readonly files?: Partial<typeof noFiles>;
    readonly runtimeClasses?: RuntimeClasses;
    readonly with?: PodActions;
    readonly startQueue?: StartQueue;
  } = {},
) => {
  const calls: string[] = [];
  const stage = syncStage(aPod(pod), scheduler, {
    startQueue,
    files: { ...noFiles, ...files },
    runtimeClasses,
    runtime: {
      runPodSandbox: ({ config, runtimeHandler }) => {
        calls.push(
          `run ${config?.metadata?.name} ${config?.metadata?.attempt}${runtimeHandler && ` by ${runtimeHandler}`}`,
        );
        return of({ podSandboxId: 'fresh' });
      },
      podSandboxStatus: ({ podSandboxId }) =>
        of({ status: aSandbox({ id: podSandboxId ?? '' }), info: {}, containersStatuses: [], timestamp: 0n }),
      ...runtime,
    },
  });
  const sandbox$ = ensureSandbox(stage.context, wanted, aRuntimeStatus([]), { node }).pipe(
    catchError((error: unknown) => of(String(error))),
  );
  return { ...stage, calls, sandbox$ };
};
const shown = (sandbox: unknown) => {
  const { id, ips } = sandbox as { id: string; ips: readonly string[] };
  return typeof sandbox === 'string' ? sandbox : `${id} ${ips.join()}`;
};

describe('a sandbox', () => {
  it(
    'is not missed by a pod that has to stop while it waits for its turn: nothing is reported of it, and nothing counted',
    marbles(({ scheduler }) => {
      const stage = stageOf(scheduler, { startQueue: () => () => throwError(() => new SyncCancelled()) });
      const results: unknown[] = [];
      stage.sandbox$.subscribe((sandbox) => results.push(sandbox));
      expect(results).toEqual(['SyncCancelled: the run was cancelled by a newer update']);
      expect([stage.calls, stage.events, stage.records, stage.observed]).toEqual([[], [], [], []]);
    }),
  );

  it(
    'takes as long as the runtime takes, however long it waited for its turn',
    marbles(({ cold, flush, scheduler }) => {
      const waits: StartQueue = () => (call$) => concat(timer(7_000).pipe(ignoreElements()), call$);
      const runPodSandbox = () => cold('200ms (a|)', { a: { podSandboxId: 'fresh' } });
      const stage = stageOf(scheduler, { startQueue: waits, runtime: { runPodSandbox } });
      stage.sandbox$.subscribe();
      flush();
      expect(stage.observed[0]).toBe('runPodSandbox  0.2 false');
      expect(stage.records).toMatchObject([{ kind: 'call', call: 'RunPodSandbox', durationMs: 200 }]);
    }),
  );

  it.each<{ case: string; scene: Parameters<typeof stageOf>[1]; result: string; calls: string[] }>([
    {
      case: 'that is fine stays',
      scene: { with: { ...actions, createSandbox: false, sandboxId: 'old' } },
      result: 'old 10.0.0.1',
      calls: [],
    },
    {
      case: 'is created with its attempt, and brings its addresses',
      scene: {},
      result: 'fresh 10.0.0.1',
      calls: ['run web 2'],
    },
    {
      case: 'in the network of the host has no addresses of its own',
      scene: { pod: { spec: { hostNetwork: true } } },
      result: 'fresh ',
      calls: ['run web 2'],
    },
  ])('$case', ({ scene, result, calls }) => {
    marbles(({ scheduler }) => {
      const stage = stageOf(scheduler, scene);
      const results: unknown[] = [];
      stage.sandbox$.subscribe((sandbox) => results.push(shown(sandbox)));
      expect(results).toEqual([result]);
      expect(stage.calls).toEqual(calls);
      expect(stage.events).toEqual([]);
      expect(stage.observed).toEqual(calls.length > 0 ? ['runPodSandbox  0 false', 'podStarted false'] : []);
    })();
  });

  it.each<{ case: string; scene: Parameters<typeof stageOf>[1]; result: string; event: string; observed: string[] }>([
    {
      case: 'whose log folder cannot be made',
      scene: { files: { makeDirectory: () => throwError(() => new Error('no space')) } },
      result:
        'PodSyncError: CreatePodSandboxError: Failed to create log directory for pod "web_default(uid-1)": no space',
      event: 'FailedCreatePodSandBox Failed to create pod sandbox: no space',
      observed: ['podStarted true'],
    },
    {
      case: 'that the pod makes impossible',
      scene: { pod: { spec: { hostUsers: false } } },
      result:
        'PodSyncError: CreatePodSandboxError: Failed to generate sandbox config for pod "web_default(uid-1)": can\'t set `spec.hostUsers: false`, runtime does not support user namespaces',
      event:
        "FailedCreatePodSandBox Failed to create pod sandbox: can't set `spec.hostUsers: false`, runtime does not support user namespaces",
      observed: ['podStarted true', 'userNamespacedPodStarted true'],
    },
    {
      case: 'that the runtime cannot make',
      scene: { runtime: { runPodSandbox: () => throwError(() => away) } },
      result:
        'PodSyncError: CreatePodSandboxError: Failed to create sandbox for pod "web_default(uid-1)": the runtime is away',
      event: 'FailedCreatePodSandBox Failed to create pod sandbox: the runtime is away',
      observed: ['runPodSandbox  0 true', 'podStarted true'],
    },
    {
      case: 'that cannot be looked at afterwards',
      scene: { runtime: { podSandboxStatus: () => throwError(() => away) } },
      result: 'PodSyncError: ConfigPodSandboxError: the runtime is away',
      event: 'FailedPodSandBoxStatus Unable to get pod sandbox status: the runtime is away',
      observed: ['runPodSandbox  0 false', 'podStarted false'],
    },
    {
      case: 'of which the runtime then knows nothing',
      scene: {
        runtime: { podSandboxStatus: () => of({ status: undefined, info: {}, containersStatuses: [], timestamp: 0n }) },
      },
      result: 'PodSyncError: ConfigPodSandboxError: pod sandbox status is nil',
      event: 'FailedPodSandBoxStatus Unable to get pod sandbox status: pod sandbox status is nil',
      observed: ['runPodSandbox  0 false', 'podStarted false'],
    },
  ])('$case is an error and an event', ({ scene, result, event, observed }) => {
    marbles(({ scheduler }) => {
      const stage = stageOf(scheduler, scene);
      const results: unknown[] = [];
      stage.sandbox$.subscribe((sandbox) => results.push(shown(sandbox)));
      expect(results).toEqual([result]);
      expect(stage.events).toEqual([event]);
      expect(stage.observed).toEqual(observed);
    })();
  });

  const classes: Readonly<Record<string, string>> = { gvisor: 'runsc', usual: '' };
  it.each<{ of: string | undefined; knows?: RuntimeClasses; call: string; handler: string }>([
    { of: undefined, knows: (name) => classes[name], call: 'run web 2', handler: '' },
    { of: '', knows: (name) => classes[name], call: 'run web 2', handler: '' },
    { of: 'usual', knows: (name) => classes[name], call: 'run web 2', handler: '' },
    { of: 'gvisor', knows: (name) => classes[name], call: 'run web 2 by runsc', handler: 'runsc' },
  ])('is made by the handler of its class, $of', ({ of: runtimeClassName, knows, call, handler }) => {
    marbles(({ scheduler }) => {
      const stage = stageOf(scheduler, { pod: { spec: { runtimeClassName } }, runtimeClasses: knows });
      stage.sandbox$.subscribe();
      expect(stage.calls).toEqual([call]);
      expect(stage.events).toEqual([]);
      expect(stage.observed).toEqual([`runPodSandbox ${handler} 0 false`, 'podStarted false']);
    })();
  });

  it(
    'of a class that does not exist is not made',
    marbles(({ scheduler }) => {
      const pod = { spec: { runtimeClassName: 'kata' } };
      const stage = stageOf(scheduler, { pod, runtimeClasses: (name) => classes[name] });
      const results: unknown[] = [];
      stage.sandbox$.subscribe((sandbox) => results.push(shown(sandbox)));
      expect(results).toEqual([
        'PodSyncError: CreatePodSandboxError: Failed to create sandbox for pod "web_default(uid-1)": runtimeclass.node.k8s.io "kata" not found',
      ]);
      expect(stage.events).toEqual([
        'FailedCreatePodSandBox Failed to create pod sandbox: runtimeclass.node.k8s.io "kata" not found',
      ]);
      expect(stage.observed).toEqual(['podStarted true']);
    }),
  );

  it(
    'is not made while it is not known which classes there are',
    marbles(({ scheduler }) => {
      const runtimeClasses = () => {
        throw new Error('classes have not been read yet');
      };
      const stage = stageOf(scheduler, { pod: { spec: { runtimeClassName: 'gvisor' } }, runtimeClasses });
      stage.sandbox$.subscribe({ error: () => undefined });
      expect(stage.calls).toEqual([]);
      expect(stage.events).toEqual([
        'FailedCreatePodSandBox Failed to create pod sandbox: classes have not been read yet',
      ]);
    }),
  );

  it(
    'is made by the default handler where no source knows classes, and an event says so',
    marbles(({ scheduler }) => {
      const stage = stageOf(scheduler, { pod: { spec: { runtimeClassName: 'gvisor' } } });
      stage.sandbox$.subscribe();
      expect(stage.calls).toEqual(['run web 2']);
      expect(stage.events).toEqual([
        'RuntimeClassIgnored runtimeClassName "gvisor" has no effect here, the default handler of the runtime is used',
      ]);
    }),
  );

  it(
    'is made although the runtime does not apply what the pod asks for, and an event says so',
    marbles(({ scheduler }) => {
      const node: NodeFacts = { ...nodeFacts, unappliedSecurity: ['seccompProfile', 'capabilities'] };
      const securityContext = {
        seccompProfile: { type: 'RuntimeDefault' },
        capabilities: { drop: ['ALL'] },
        readOnlyRootFilesystem: true,
      };
      const containers = [{ name: 'main', image: 'i', securityContext }];
      const stage = stageOf(scheduler, { node, pod: { spec: { containers } } });
      stage.sandbox$.subscribe();
      expect(stage.calls).toEqual(['run web 2']);
      expect(stage.events).toEqual([
        'SecurityNotApplied The runtime does not apply capabilities of main; seccompProfile of main; the pod runs without',
      ]);
      const applied = stageOf(scheduler, { pod: { spec: { containers } } });
      applied.sandbox$.subscribe();
      expect(applied.events).toEqual([]);
    }),
  );

  it(
    'whose DNS settings are not available as requested is made all the same, and an event says so',
    marbles(({ scheduler }) => {
      const node = { ...nodeFacts, clusterDns: [] };
      const stage = stageOf(scheduler, { node });
      stage.sandbox$.subscribe();
      expect(stage.calls).toEqual(['run web 2']);
      expect(stage.events).toEqual([
        'node: MissingClusterDNS kubelet does not have ClusterDNS IP configured and cannot create Pod using "ClusterFirst" policy. Falling back to "Default" policy.',
        'MissingClusterDNS pod: "web_default(uid-1)". kubelet does not have ClusterDNS IP configured and cannot create Pod using "ClusterFirst" policy. Falling back to "Default" policy.',
      ]);
      stage.sandbox$.subscribe();
      expect(stage.events.slice(2).map((event) => event.slice(0, 22))).toEqual(['MissingClusterDNS pod:']);
      const kept = stageOf(scheduler, { node, with: { ...actions, createSandbox: false, sandboxId: 'old' } });
      kept.sandbox$.subscribe();
      expect(kept.events).toEqual([]);
      const alone = stageOf(scheduler, { node: { ...node, hasCluster: false } });
      alone.sandbox$.subscribe();
      expect(alone.events).toEqual([]);
    }),
  );

  it(
    'is measured from the call to its answer',
    marbles(({ cold, expectObservable, scheduler }) => {
      const run$ = cold('2500ms (x|)', { x: { podSandboxId: 'fresh' } });
      const stage = stageOf(scheduler, { runtime: { runPodSandbox: () => run$, podSandboxStatus: () => NEVER } });
      expectObservable(stage.sandbox$, '3s !').toBe('');
      scheduler.schedule(() => {
        expect(stage.observed).toEqual(['runPodSandbox  2.5 false', 'podStarted false']);
        expect(stage.records).toMatchObject([{ kind: 'call', call: 'RunPodSandbox', durationMs: 2500 }]);
      }, 3_500);
    }),
  );
});
