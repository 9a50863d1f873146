import {
  catchError,
  concatMap,
  defer,
  distinctUntilChanged,
  EMPTY,
  finalize,
  fromEvent,
  ignoreElements,
  map,
  merge,
  type Observable,
  of,
  retry,
  startWith,
  Subject,
  switchMap,
  takeUntil,
  tap,
  throwError,
  timer,
} from 'rxjs';
import type { NodeIdentity } from '../../model/pod/mirror-pod.js';
import { errorText } from '../../model/cri/cri-error.js';
import type { ApiObject } from '../../model/kube-api/api-object.js';
import { podCertificateRequestsPath, serviceAccountPath } from '../../model/kube-api/api-paths.js';
import { type Pod, podRef } from '../../model/pod/pod.js';
import { podCertificateProblem, podCertificateRequestBody } from '../../model/references/pod-certificate-request.js';
import { type PodCertificateSource, podCertificateSourcesOf } from '../../model/references/pod-certificate-source.js';
import {
  advancePodCertificate,
  credentialOf,
  NOT_REQUESTED,
  podCertificateLabel,
  type PodCertificateState,
  type PodCertificateWarning,
  withRequest,
} from '../../model/references/pod-certificate-state.js';
import { type Backoff, nextDelay } from '../../model/values/back-off.js';
import type { ApiClient } from '../cluster/api-client.js';
import { every } from '../operators/every.js';
import { exhaustMapLatestBy } from '../operators/exhaust-map-latest.js';
import { inSlots } from '../operators/in-slots.js';
import type { Metrics, PodCertificateCount } from '../ports/metrics.js';
import type { PodCertificateKey, PodCertificateKeys } from '../ports/pod-certificate-keys.js';
import type { ReferencedName } from '../ports/pod-references.js';
import type { ReadPodCertificate } from '../ports/read-pod-certificate.js';
import type { RecordEvent } from '../ports/record-event.js';
import type { WallClock } from '../ports/wall-clock.js';
import type { ReflectorPorts } from '../reflector/reflector.js';
import { type WatchedRequests, watchedRequests } from './watched-requests.js';

/** Every certificate is looked at after this time, up to twice as long by chance. Source: Run, with JitterUntilWithContext */
export const REFRESH_PASS_MS = 60_000;
/** The waits after failed attempts for one certificate. Source: client-go util/workqueue DefaultTypedControllerRateLimiter */
export const BACKOFF: Backoff = { initialMs: 5, maxMs: 1_000_000 };

export interface PodCertificatesPorts extends ReflectorPorts {
  readonly api: ApiClient;
  readonly wallClock: WallClock;
  /** Absent for an agent that makes no keys. */
  readonly keys?: PodCertificateKeys | undefined;
  readonly recordEvent: RecordEvent;
  readonly metrics: Pick<Metrics, 'podCertificates'>;
}

export interface PodCertificatesOptions {
  readonly nodeName: string;
  /** The Node of the API server; undefined until it is known. */
  readonly node: () => NodeIdentity | undefined;
}

export interface PodCertificates {
  /** Requests the certificates of the pod, and renews them from now on. A registered pod keeps those that it has. */
  readonly register: (pod: Pod) => void;
  /** Drops the keys and certificates of a pod. */
  readonly forget: (podUid: string) => void;
  readonly read: ReadPodCertificate;
  /** Emits the pod of a credential that is new, and of one that there will not be. Never errors or ends. */
  readonly changed$: Observable<ReferencedName>;
  /** Emits nothing, never ends and never errors. */
  readonly run$: Observable<never>;
}

/**
 * Makes the manager of certificates of pods: one for each source `podCertificate`. Keys are in memory only, so an agent that starts again
 * requests every certificate again. The requests of this node are watched while there is such a source.
 *
 * Source: pkg/kubelet/podcertificate/podcertificatemanager.go IssuingManager
 */
export const podCertificates = (ports: PodCertificatesPorts, options: PodCertificatesOptions): PodCertificates => {
  const { api, scheduler, random, wallClock, log, recordEvent, metrics, keys } = ports;
  const kept = new Map<string, Kept>();
  const due$ = new Subject<string>();
  const needed$ = new Subject<boolean>();
  const changed$ = new Subject<ReferencedName>();
  const oneByOne = inSlots({ count: 1 });
  const clock = () => ({ wallClock: wallClock(), now: scheduler.now() });

  const count = (): void => metrics.podCertificates(countsOf([...kept.values()], clock()));
  const all = (): void => [...kept.keys()].forEach((key) => due$.next(key));
  const ofPod = (podUid: string): readonly Kept[] =>
    [...kept.values()].filter(({ pod }) => pod.metadata.uid === podUid);
  const requests: WatchedRequests = watchedRequests(ports, options.nodeName, {
    listed: all,
    changed: (podUid) => ofPod(podUid).forEach(({ source }) => due$.next(source.key)),
  });

  const warn = (pod: Pod, reason: string, message: string): void =>
    recordEvent({ pod, type: 'Warning', reason, message, causes: [] });

  /** Keeps the problem of a certificate. It is logged when it is new. */
  const blame = (one: Kept, problem: string | undefined, message: string): void => {
    const isNew = problem !== one.problem;
    one.problem = problem;
    if (problem !== undefined) log[isNew ? 'warn' : 'debug']({ pod: podRef(one.pod), error: problem }, message);
  };

  /** Takes a state and reports what is new in it. */
  const take = (one: Kept, state: PodCertificateState): void => {
    const before = one.state;
    one.state = state;
    if (before === state) return;
    const { namespace, name } = one.pod.metadata;
    const requestName = before.kind === 'denied' || before.kind === 'failed' ? '' : (before.awaited?.name ?? '');
    if (state.kind === 'denied' || state.kind === 'failed') {
      const verb = state.kind === 'denied' ? 'was denied' : 'failed';
      const [reason, message] = [JSON.stringify(state.reason), JSON.stringify(state.message)];
      const text = `PodCertificateRequest ${namespace}/${requestName} ${verb}, reason=${reason}, message=${message}`;
      warn(one.pod, state.kind === 'denied' ? 'Denied' : 'Failed', text);
    }
    const isIssued = state.kind === 'issued' && state.issued.credential !== credentialIn(before);
    if (isIssued) log.info({ pod: podRef(one.pod), request: requestName }, 'got a certificate for a pod');
    if (isIssued || state.kind === 'denied' || state.kind === 'failed')
      changed$.next({ kind: 'PodCertificate', namespace, name });
  };

  const newKey = (one: Kept): Observable<PodCertificateKey> =>
    defer(() => {
      if (one.unsent) return of(one.unsent);
      if (!keys) throw new Error('this agent makes no keys');
      return keys(one.source.projection.keyType);
    }).pipe(
      // A key takes the processor for a while, and each one would do so for all of them.
      oneByOne(),
      tap((key) => (one.unsent = key)),
    );

  const request = (one: Kept): Observable<never> => {
    const { pod, source } = one;
    const { namespace } = pod.metadata;
    const serviceAccount$ = api.get(serviceAccountPath(namespace, pod.spec.serviceAccountName ?? '')).pipe(
      map((found) => uidOf(found)),
      naming('while fetching service account'),
    );
    return serviceAccount$.pipe(
      concatMap((serviceAccountUid) => {
        const node = options.node();
        if (!node) throw new Error('the Node of this agent is not known yet');
        return newKey(one).pipe(
          naming('while generating keypair'),
          concatMap(({ privateKey, requestBase64 }) => {
            const body = podCertificateRequestBody(source.projection, requestBase64, { pod, serviceAccountUid, node });
            return api.create(podCertificateRequestsPath(namespace), body).pipe(
              tap((created) => {
                one.unsent = undefined;
                one.problem = undefined;
                const name = created.metadata.name ?? '';
                log.debug({ pod: podRef(pod), request: name }, 'requested a certificate for a pod');
                take(one, withRequest(one.state, { name, privateKey }, { now: scheduler.now(), draw: random() }));
              }),
              ignoreElements(),
              naming('while creating on API'),
            );
          }),
        );
      }),
      naming(`while creating ${one.state.kind === 'issued' ? 'refresh' : 'initial'} PodCertificateRequest`),
    );
  };

  /** Brings one certificate forward as far as possible now. Errors: an attempt to request it failed. */
  const advance = (one: Kept): Observable<never> =>
    defer(() => {
      if (!requests.areListed()) return EMPTY;
      const { pod } = one;
      const found = requests.get(pod.metadata.namespace, awaitedIn(one.state));
      const { state, isDue, warnings, problem } = advancePodCertificate(one.state, {
        ...clock(),
        request: found,
        draw: random,
      });
      take(one, state);
      for (const warning of warnings) warn(pod, warning, WARNINGS[warning]);
      // The problem of a failed attempt stays until an attempt succeeds.
      if (!isDue || problem !== undefined) blame(one, problem, 'a certificate of a pod is not issued');
      return isDue ? request(one) : EMPTY;
    });

  const work = (key: string, signal: AbortSignal): Observable<never> =>
    defer(() => {
      const one = kept.get(key);
      return one ? advance(one) : EMPTY;
    }).pipe(
      tap({
        complete: () => {
          const one = kept.get(key);
          if (one) one.failures = 0;
        },
      }),
      retry({
        delay: (error: unknown) => {
          const one = kept.get(key);
          if (!one) return EMPTY;
          one.failures += 1;
          blame(one, errorText(error), 'cannot request a certificate for a pod');
          const waitMs = nextDelay(BACKOFF, one.failures);
          return signal.aborted ? EMPTY : timer(waitMs, scheduler).pipe(takeUntil(fromEvent(signal, 'abort')));
        },
      }),
      finalize(count),
    );

  const pass$ = every({ periodMs: () => REFRESH_PASS_MS * (1 + random()), scheduler }, () => {
    all();
    count();
    return EMPTY;
  });

  return {
    register: (pod) => {
      for (const source of podCertificateSourcesOf(pod)) {
        if (kept.has(source.key)) continue;
        kept.set(source.key, { pod, source, state: NOT_REQUESTED, failures: 0 });
        needed$.next(true);
        due$.next(source.key);
      }
    },
    forget: (podUid) => {
      const gone = ofPod(podUid);
      for (const { source } of gone) kept.delete(source.key);
      if (gone.length === 0) return;
      if (kept.size === 0) needed$.next(false);
      count();
    },
    read: ({ key }) => {
      const one = kept.get(key);
      if (!one) throw new Error('no credentials yet: the pod is not registered');
      return credentialOf(one.state, one.problem ?? requests.problem());
    },
    changed$: changed$.asObservable(),
    run$: merge(
      due$.pipe(
        exhaustMapLatestBy(
          (key) => key,
          work,
          () => true,
        ),
      ),
      defer(() => needed$.pipe(startWith(kept.size > 0))).pipe(
        distinctUntilChanged(),
        switchMap((isNeeded) => (isNeeded ? merge(requests.run$, pass$) : EMPTY)),
      ),
    ),
  };
};

interface Kept {
  readonly pod: Pod;
  readonly source: PodCertificateSource;
  state: PodCertificateState;
  /** A key whose request the API server does not have yet, as far as is known. */
  unsent?: PodCertificateKey | undefined;
  /** Attempts in a row. */
  failures: number;
  /** Why there is no newer certificate. */
  problem?: string | undefined;
}

const WARNINGS: Readonly<Record<PodCertificateWarning, string>> = {
  CertificateOverdueForRefresh: 'PodCertificate refresh overdue',
  CertificateExpired: 'PodCertificate expired',
};

const awaitedIn = (state: PodCertificateState): string | undefined =>
  state.kind === 'denied' || state.kind === 'failed' ? undefined : state.awaited?.name;

const credentialIn = (state: PodCertificateState) => (state.kind === 'issued' ? state.issued.credential : undefined);

const uidOf = ({ metadata }: ApiObject): string => {
  if (metadata.uid) return metadata.uid;
  throw new Error('it has no metadata.uid');
};

/** Names the step in an error. */
const naming =
  <T>(step: string) =>
  (source$: Observable<T>): Observable<T> =>
    source$.pipe(
      catchError((error: unknown) =>
        throwError(() => new Error(`${step}: ${podCertificateProblem(error)}`, { cause: error })),
      ),
    );

const countsOf = (
  kept: readonly Kept[],
  clock: { readonly wallClock: number; readonly now: number },
): readonly PodCertificateCount[] => {
  const counts = new Map<string, PodCertificateCount>();
  for (const { source, state } of kept) {
    const { signerName } = source.projection;
    const label = podCertificateLabel(state, clock);
    const key = JSON.stringify([signerName, label]);
    counts.set(key, { signerName, state: label, count: (counts.get(key)?.count ?? 0) + 1 });
  }
  return [...counts.values()];
};
