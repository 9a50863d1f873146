import type { HistoryKind } from '../../src/tools/sim/histories/history-kinds.js';
import { CLOCK_MUTANTS } from './clock-mutants.js';
import { POWER_MUTANTS } from './power-mutants.js';
import { PRESSURE_MUTANTS } from './pressure-mutants.js';
import { SHUTDOWN_MUTANTS } from './shutdown-mutants.js';

/** A change to one file of the product, by a text that stands in it exactly once. */
export interface Edit {
  readonly file: string;
  readonly find: string;
  readonly replace: string;
}

/** A deliberate bug. */
export interface Mutant {
  readonly name: string;
  /** What goes wrong with it. */
  readonly why: string;
  readonly edits: readonly Edit[];
  /** The family of the histories that show it; `node` by default. */
  readonly kind?: HistoryKind;
}

const mutant = (name: string, why: string, file: string, ...texts: readonly (readonly [string, string])[]): Mutant => ({
  name,
  why,
  edits: texts.map(([find, replace]) => ({ file, find, replace })),
});

const WORKERS = 'src/streams/pod-workers/pod-workers.ts';
const REGISTRY = 'src/model/pod-workers/pod-worker-registry.ts';
const LATEST = 'src/streams/operators/exhaust-map-latest.ts';
/** One group of `exhaustMapLatestBy`. */
const LANE = 'value$.pipe(lane(project, preempts, () => idle.get(value$.key)?.next()))';
const CACHE = 'src/streams/pleg/pod-cache.ts';
const PLEG = 'src/streams/pleg/pleg.ts';
const POD_RECORD = 'src/model/pleg/pod-record.ts';
const CRASH_LOOP = 'src/model/pod-actions/crash-loop-back-off.ts';
const END_COUNTS = 'src/model/pod-actions/end-counts.ts';
const CRASH_LOOP_WAIT = 'src/streams/pod-sync/crash-loop-wait.ts';
const KILL_POD = 'src/streams/pod-sync/kill-pod.ts';
const START = 'src/streams/pod-sync/start-container.ts';

const clusterMutant = (name: string, why: string, ...edits: readonly Edit[]): Mutant => ({
  ...{ name, why, edits },
  kind: 'cluster',
});

const MERGE_STATUS = 'src/model/pod-status/merge-pod-status.ts';
const DELETION = 'src/model/pod-status/pod-deletion.ts';
const MIRRORS = 'src/streams/status/mirror-pods.ts';

/** The mistakes that agents like this one are made with, each as small as it would be made. */
export const MUTANTS: readonly Mutant[] = [
  mutant(
    'exhaustMap without the trailing slot',
    'an update that arrives while a cancelled sync is ending is lost',
    LATEST,
    ['repeatWhile(() => undelivered !== undefined)', 'repeatWhile(() => false)'],
  ),
  mutant('switchMap in the worker', 'a sync is dropped while its calls go on', LATEST, [
    '  exhaustMap,\n',
    '  switchMap as exhaustMap,\n',
  ]),
  mutant(
    'the slot keeps the oldest',
    'of several updates during a sync the first one is delivered',
    'src/model/pod-workers/pod-update.ts',
    ['return { ...update, startedAt,', 'return { ...before, startedAt,'],
  ),
  {
    name: 'catchError on the group',
    why: 'the first failure ends the worker of its pod',
    edits: [
      {
        file: WORKERS,
        find: '    catchError((error: unknown) => of<RunResult>({ error })),\n',
        replace: '',
      },
      { file: LATEST, find: '  defer,\n', replace: '  catchError,\n  defer,\n' },
      { file: LATEST, find: LANE, replace: LANE.replace(/\)$/, ', catchError(() => EMPTY))') },
    ],
  },
  mutant(
    'take(1) on a group',
    'the worker of a pod receives only the first update while it works',
    LATEST,
    ['  tap,\n} from', '  tap,\n  take,\n} from'],
    [LANE, LANE.replace('value$.pipe(', 'value$.pipe(take(1), ')],
  ),
  mutant('a kill does not cancel', 'a sync goes on starting containers of a pod that has to stop', WORKERS, [
    '({ cancel }) => cancel,',
    '() => false,',
  ]),
  mutant(
    'a forgotten busy pod',
    'a pod that goes while its worker is busy gets a second worker when it comes back',
    REGISTRY,
    [
      'if (record.startedAt !== undefined || record.observedRuntime) {',
      'if (record.startedAt === undefined && record.observedRuntime) {',
    ],
  ),
  mutant(
    'a pod that comes back while it stops is overlooked',
    'it is wanted, has ended, and is never started again',
    REGISTRY,
    ["update.type === 'create') {", "update.type === 'create' && update.pod === undefined) {"],
  ),
  mutant('grace recomputed from scratch', 'a later update gives a stopping pod its time back', REGISTRY, [
    'effectiveGracePeriod(record.graceSeconds, next.pod, next.kill?.graceSeconds)',
    'effectiveGracePeriod(0, next.pod, next.kill?.graceSeconds)',
  ]),
  {
    name: 'a terminated pod is started again',
    why: 'a pod that has ended is forgotten at once, and is later treated as one that never started',
    edits: [
      {
        file: REGISTRY,
        find: 'if (isOrphan || record.restartRequested) {',
        replace: 'if (isOrphan || record.restartRequested || record.finished) {',
      },
      {
        file: 'src/streams/sync-loop/active-pods.ts',
        find: 'return !hasEnded || workers.isTerminationRequested(uid);',
        replace: 'return hasEnded || workers.record(uid) === undefined;',
      },
    ],
  },
  mutant(
    'the name of a static pod is not released',
    'the next revision of a manifest waits for good',
    'src/model/pod-workers/static-pod-turns.ts',
    ['if (this.#holders.get(fullName) === uid) this.#holders.delete(fullName);', ''],
  ),
  mutant(
    'the name of a static pod is not held',
    'two revisions of a manifest run side by side',
    'src/model/pod-workers/static-pod-turns.ts',
    ['if (holder !== undefined) return holder === uid;', ''],
  ),
  mutant('the cache ignores how new a view has to be', 'a sync works on a view from before the last one', CACHE, [
    'if (isNewerThan(uid, timeMs)) return',
    'if (entries.has(uid) || isNewerThan(uid, timeMs)) return',
  ]),
  mutant('a mistaken >=', 'who waits for a newer view is released by an older one, and not by a newer one', CACHE, [
    'filter(({ timeMs }) => timeMs <= at)',
    'filter(({ timeMs }) => timeMs >= at)',
  ]),
  mutant('the payload of an event is trusted', 'an event, however late, makes the cached view count as new', PLEG, [
    'tap((uid) => records.hint(uid))',
    'tap((uid) => { cache.setObservedTime(uid, scheduler.now()); records.hint(uid); })',
  ]),
  mutant(
    'a relist overwrites newer state',
    'a listing that is older than a read says that what was read since is gone',
    POD_RECORD,
    ['items.length === 0 ? at <= newestAt : at < newestAt', 'items.length > 0 && at < newestAt'],
    ['isChanged && (!isGone || runningItems(known).length > 0)', 'isChanged && !isGone'],
  ),
  mutant(
    'housekeeping before the sources are ready',
    'pods of a source that is late are taken for orphans',
    'src/streams/sync-loop/handle-housekeeping.ts',
    [
      '...(state.sources.all ? stopOrphans(context, orphansOf(running, known, workers)) : [])',
      '...stopOrphans(context, orphansOf(running, known, workers))',
    ],
  ),
  mutant(
    'one source stands for all',
    'after the first set of one source, the pods of the others are taken for orphans',
    'src/model/config/sources-ready.ts',
    ['!seen.includes(source)', 'seen.length === 0'],
  ),
  mutant(
    'orphans are looked for among all that runs',
    'housekeeping stops what a worker looks after',
    'src/model/pod-workers/housekeeping.ts',
    [
      '.filter(({ uid }) => !known.has(uid) && workers.record(uid) === undefined && !workers.isKillReserved(uid))',
      '.filter(({ uid }) => workers.record(uid)?.startedAt === undefined || !known.has(uid))',
    ],
  ),
  mutant('back-off is reset too early', 'a container that fails after some seconds is restarted at once', CRASH_LOOP, [
    'CRASH_LOOP_RESET_AFTER_MS = 600_000',
    'CRASH_LOOP_RESET_AFTER_MS = 6_000',
  ]),
  mutant('back-off is forgotten with the agent', 'a crash loop starts over with every life of the agent', CRASH_LOOP, [
    'input.entry === undefined ? entryFromRuntime(input, table) : undefined',
    'undefined as CrashLoopEntry | undefined',
  ]),
  {
    name: 'every end is taken for a crash',
    why: 'pods that were stopped on purpose wait after the next restart of the agent',
    edits: [
      {
        file: END_COUNTS,
        find: 'if (isStopped) return { counts: false,',
        replace: 'if (isStopped) return { counts: true,',
      },
      {
        file: END_COUNTS,
        find: 'if (!isSandboxReady) return { counts: false,',
        replace: 'if (!isSandboxReady) return { counts: true,',
      },
      {
        file: CRASH_LOOP_WAIT,
        find: 'shownCrashes: newest && isSandboxReady(status, newest) ?',
        replace: 'shownCrashes: newest ?',
      },
    ],
  },
  mutant(
    'the key of a back-off changes with every instance',
    'no container ever waits',
    CRASH_LOOP_WAIT,
    [
      'const entry = state.restarts.get(crashLoopKey(pod, container));',
      'const entry = state.restarts.get(`${crashLoopKey(pod, container)} ${times.wallNow}`);',
    ],
    ['    newest,\n', '    newest: undefined,\n'],
  ),
  mutant(
    'pulls do not back off',
    'an image that is not available is pulled with every sync',
    'src/model/images/image-back-off.ts',
    ['  if (!isBlocked(', '  if (now >= 0 || !isBlocked('],
  ),
  mutant(
    'the worker retries inside',
    'what fails is tried again at once, on the same old view',
    START,
    ['  concatMap,\n  defaultIfEmpty,', '  concatMap,\n  retry,\n  defaultIfEmpty,'],
    ['runtime.createContainer(request)).pipe(', 'runtime.createContainer(request).pipe(retry(2))).pipe('],
  ),
  mutant(
    'a half-made container is left',
    'a container of a sync that was cut short is still there when its successor is made',
    START,
    [
      'const create$ = concat(cleared$, config$).pipe(',
      'const create$ = concat(cleared$.pipe(takeNone), config$).pipe(',
    ],
    ['const createAndStart = (', 'const takeNone = (): typeof EMPTY => EMPTY;\nconst createAndStart = ('],
  ),
  mutant(
    'a result of an older instance counts',
    'what a probe found out about an instance is held for true of its successors',
    'src/model/probes/probe-result-store.ts',
    [
      'return this.#entries[type].get(containerId)?.result;',
      'return (this.#entries[type].get(containerId) ?? [...this.#entries[type].values()].at(-1))?.result;',
    ],
  ),
  mutant(
    'ready until a probe says otherwise',
    'a new instance shows as ready before its first probe',
    'src/model/probes/probed-status.ts',
    ['ranBefore &&\n    isKnownToApi(pod, status) &&', '!ranBefore ||\n    isKnownToApi(pod, status) &&'],
  ),
  mutant('one success is enough', 'the success threshold has no effect', 'src/model/probes/count-probe.ts', [
    "result === 'success' ? pace.successThreshold",
    "result === 'success' ? 1",
  ]),
  mutant(
    'no floor under a grace period',
    'a container is killed without being asked',
    'src/streams/pod-sync/kill-container.ts',
    ['MINIMUM_GRACE_SECONDS = 2', 'MINIMUM_GRACE_SECONDS = 0'],
  ),
  mutant('sidecars are stopped with the rest', 'a sidecar is gone before those that need it', KILL_POD, [
    'const turn$ = previous$;',
    'const turn$ = undefined;',
  ]),
  mutant(
    'a lost sandbox goes unnoticed',
    'containers are started in a sandbox that is gone',
    'src/model/pod-actions/sandbox-changed.ts',
    ["if (newest.state !== 'SANDBOX_READY') return replace(", 'if (newest.state === undefined) return replace('],
  ),
  mutant(
    'what fails counts as done',
    'an init container that failed lets the next one start',
    'src/model/pod-actions/compute-init-container-actions.ts',
    ["if (exitCode === 0 && reason !== 'OOMKilled')", "if (reason !== 'OOMKilled')"],
  ),
  mutant('OnFailure restarts what succeeded', 'a job runs for ever', 'src/model/pod-actions/restart-policy.ts', [
    'return exitCode === 0\n        ?',
    'return exitCode === 255\n        ?',
  ]),
  mutant(
    'a changed image goes unnoticed',
    'a container runs on as its pod was before',
    'src/model/pod-actions/container-hash.ts',
    ['hashValue(left) === hashValue(right)', 'hashValue(left) >= 0n || hashValue(right) >= 0n'],
  ),
  mutant(
    'the end of a pod is taken back',
    'a pod that has failed is Pending or Running again',
    'src/model/pod-status/generate-pod-status.ts',
    ['const phase = ended ?? computed;', 'const phase = computed;'],
  ),
  mutant('causes are dropped', 'nothing says why a call was made', 'src/streams/pod-sync/pod-sync-context.ts', [
    'ports.record({ ...event, pod: podRef(pod), causes });',
    'ports.record({ ...event, pod: podRef(pod), causes: [] });',
  ]),
  mutant(
    'the wait after an error is forgotten',
    'a pod that fails is worked on without a pause',
    'src/model/pod-workers/requeue-delay.ts',
    ['return jittered(BACK_OFF_PERIOD_MS, random);', 'return jittered(BACK_OFF_PERIOD_MS / 100, random);'],
  ),
  mutant(
    'probes outlive their pod',
    'a probe that has no pod any more keeps its timer',
    'src/streams/probes/prober.ts',
    ['{ ...options, results }).pipe(takeUntil(stop$))', '{ ...options, results })'],
  ),
  mutant(
    'work that is due is dropped',
    'a pod is never looked at again on its own account',
    'src/model/pod-workers/work-queue.ts',
    ['due.push({ uid, cause });', 'if (this.size > 1) due.push({ uid, cause });'],
  ),
  clusterMutant(
    'a status that could not be written is given up',
    'the API shows what was true before an outage',
    {
      file: 'src/streams/status/status-manager.ts',
      find: 'tap({ error: () => ledger.failed(target, changedAt) }),',
      replace: 'tap({ error: () => write && ledger.written(target, write.stored.version) }),',
    },
    {
      file: 'src/model/pod-status/status-ledger.ts',
      find: 'if (!this.#isOutOfDate(target)) return false;',
      replace: 'if (target) return false;',
    },
  ),
  clusterMutant(
    'a pod goes from the API before it has stopped',
    'its successor may begin elsewhere while it still runs here',
    { file: MERGE_STATUS, find: 'ends && couldHaveRunningContainers ? before : own', replace: 'own' },
    {
      file: DELETION,
      find: 'isTerminalPhase(status?.phase) &&\n  isFinished;',
      replace: '(isFinished || status !== undefined);',
    },
  ),
  clusterMutant('a deleted pod that has ended stays in the API', 'a deletion never finishes', {
    file: DELETION,
    find: 'metadata.deletionTimestamp !== undefined &&',
    replace: "metadata.deletionTimestamp === '' &&",
  }),
  clusterMutant('the start of a pod is what the agent makes of it', 'a pod seems to have begun with the agent', {
    file: MERGE_STATUS,
    find: 'isMirrorPod(api) ? own.startTime :',
    replace: 'own.startTime !== undefined ? own.startTime :',
  }),
  clusterMutant('a mirror pod names no controller', 'the API server does not take it', {
    file: 'src/model/pod/mirror-pod.ts',
    find: ', controller: true }',
    replace: ' }',
  }),
  clusterMutant('mirrors are left', 'the API shows static pods that are gone', {
    file: MIRRORS,
    find: "if (action === 'none') {",
    replace: "if (action === 'none' || action === 'remove') {",
  }),
  clusterMutant('the deletion of a pod is not passed on', 'the agent looks after it for good', {
    file: 'src/model/kube-api/pod-objects.ts',
    find: 'state.pods.delete(objectKey(object));',
    replace: '',
  }),
  clusterMutant('a silent connection is trusted', 'the agent waits for what never comes', {
    file: 'src/streams/reflector/list-watch.ts',
    find: '        each: WATCH_SILENCE_MS,',
    replace: '        each: 1_000 * WATCH_SILENCE_MS,',
  }),
  clusterMutant('the lease is renewed too rarely', 'the control plane takes the node for dead', {
    file: 'src/streams/node/node-lease.ts',
    find: 'LEASE_RENEWALS = 4;',
    replace: 'LEASE_RENEWALS = 0.5;',
  }),
  ...CLOCK_MUTANTS,
  ...POWER_MUTANTS,
  ...SHUTDOWN_MUTANTS,
  ...PRESSURE_MUTANTS,
];
