import {
  defer,
  distinctUntilChanged,
  EMPTY,
  filter,
  finalize,
  fromEvent,
  ignoreElements,
  map,
  merge,
  type Observable,
  retry,
  startWith,
  Subject,
  switchMap,
  takeUntil,
  tap,
  timer,
} from 'rxjs';
import { errorText } from '../../model/cri/cri-error.js';
import { podCertificateRequestsPath } from '../../model/kube-api/api-paths.js';
import type { NodeIdentity } from '../../model/pod/mirror-pod.js';
import { type Pod, podRef } from '../../model/pod/pod.js';
import type { PodCertificateRequest } from '../../model/references/pod-certificate-request.js';
import { podCertificateSourcesOf } from '../../model/references/pod-certificate-source.js';
import {
  advancePodCertificate,
  type PodCertificateState,
  type PodCertificateWarning,
} from '../../model/references/pod-certificate-state.js';
import {
  awaitedRequest,
  credentialIn,
  keysAbout,
  newOutcome,
  NO_CERTIFICATES,
  podCertificateCounts,
  type SourceCertificate,
  withCertificate,
  withCertificateSource,
  withoutCertificates,
  withoutRequests,
  withRequestEvent,
} from '../../model/references/source-certificates.js';
import { type Backoff, nextDelay } from '../../model/values/back-off.js';
import type { ApiClient } from '../cluster/api-client.js';
import { every } from '../operators/every.js';
import { exhaustMapLatestBy } from '../operators/exhaust-map-latest.js';
import type { Metrics } from '../ports/metrics.js';
import type { PodCertificateKeys } from '../ports/pod-certificate-keys.js';
import type { ReferencedName } from '../ports/pod-references.js';
import type { ReadPodCertificate } from '../ports/read-pod-certificate.js';
import type { RecordEvent } from '../ports/record-event.js';
import type { WallClock } from '../ports/wall-clock.js';
import { reflector, type ReflectorPorts } from '../reflector/reflector.js';
import { requestPodCertificate } from './request-pod-certificate.js';

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

/** A command to the streams of the manager. */
type CertificateCommand =
  /** Requests are watched while they are needed. */
  | { readonly kind: 'needed'; readonly isNeeded: boolean }
  /** Brings the certificate of this key forward. */
  | { readonly kind: 'due'; readonly key: string }
  /** Emits the name by `changed$`. */
  | { readonly kind: 'changed'; readonly name: ReferencedName };

/**
 * Makes the manager of certificates of pods: one for each source `podCertificate`. Keys are in memory only, so an agent that starts again
 * requests every certificate again. The requests of this node are watched while there is such a source.
 *
 * Source: pkg/kubelet/podcertificate/podcertificatemanager.go IssuingManager
 */
export const podCertificates = (ports: PodCertificatesPorts, options: PodCertificatesOptions): PodCertificates => {
  const { scheduler, random, wallClock, log, recordEvent, metrics } = ports;
  let state = NO_CERTIFICATES;
  const command$ = new Subject<CertificateCommand>();
  const request = requestPodCertificate({ ...ports, node: options.node });
  const clock = () => ({ wallClock: wallClock(), now: scheduler.now() });

  const count = (): void => metrics.podCertificates(podCertificateCounts(state, clock()));
  const bringForward = (keys: readonly string[]): void => keys.forEach((key) => command$.next({ kind: 'due', key }));
  const change = (one: SourceCertificate, fields: Partial<SourceCertificate>): void => {
    state = withCertificate(state, one, fields);
  };
  const warn = (pod: Pod, reason: string, message: string): void =>
    recordEvent({ pod, type: 'Warning', reason, message, causes: [] });

  /** Keeps the problem of a certificate. It is logged when it is new. */
  const blame = (one: SourceCertificate, problem: string | undefined, message: string): void => {
    change(one, { problem });
    if (problem === undefined) return;
    log[problem === one.problem ? 'debug' : 'warn']({ pod: podRef(one.pod), error: problem }, message);
  };

  /** Takes the next state of a certificate, and reports an outcome that is new. */
  const take = (one: SourceCertificate, next: PodCertificateState): void => {
    change(one, { state: next });
    const outcome = newOutcome(one, next);
    if (!outcome) return;
    if (outcome.kind === 'issued')
      log.info({ pod: podRef(one.pod), request: outcome.request }, 'got a certificate for a pod');
    else warn(one.pod, outcome.kind === 'denied' ? 'Denied' : 'Failed', outcome.message);
    const { namespace, name } = one.pod.metadata;
    command$.next({ kind: 'changed', name: { kind: 'PodCertificate', namespace, name } });
  };

  /** Brings one certificate forward as far as possible now. Errors: an attempt to request it failed. */
  const advance = (key: string): Observable<unknown> =>
    defer(() => {
      const one = state.certificates.get(key);
      if (!one || !state.requests.objects) return EMPTY;
      const moment = { ...clock(), request: awaitedRequest(state, one), draw: random };
      const { state: next, isDue, warnings, problem } = advancePodCertificate(one.state, moment);
      take(one, next);
      for (const warning of warnings) warn(one.pod, warning, WARNINGS[warning]);
      // The problem of a failed attempt stays until an attempt succeeds.
      if (!isDue || problem !== undefined) blame(one, problem, 'a certificate of a pod is not issued');
      return isDue ? request({ ...one, state: next }).pipe(tap((fields) => change(one, fields))) : EMPTY;
    });

  const work = (key: string, signal: AbortSignal): Observable<never> =>
    advance(key).pipe(
      tap({
        complete: () => {
          const one = state.certificates.get(key);
          if (one) change(one, { failures: 0 });
        },
      }),
      retry({
        delay: (error: unknown) => {
          const one = state.certificates.get(key);
          if (!one) return EMPTY;
          const failures = one.failures + 1;
          change(one, { failures });
          blame(one, errorText(error), 'cannot request a certificate for a pod');
          const waitMs = nextDelay(BACKOFF, failures);
          return signal.aborted ? EMPTY : timer(waitMs, scheduler).pipe(takeUntil(fromEvent(signal, 'abort')));
        },
      }),
      ignoreElements(),
      finalize(count),
    );

  const requests$ = defer(() =>
    reflector<PodCertificateRequest>(ports, {
      ...{ path: podCertificateRequestsPath(), fieldSelector: `spec.nodeName=${options.nodeName}` },
      name: 'podcertificaterequests',
    }),
  ).pipe(
    tap((event) => {
      state = withRequestEvent(state, event);
      bringForward(keysAbout(state, event));
    }),
    ignoreElements(),
    finalize(() => (state = withoutRequests(state))),
  );
  const round$ = every({ periodMs: () => REFRESH_PASS_MS * (1 + random()), scheduler }, () => {
    bringForward([...state.certificates.keys()]);
    count();
    return EMPTY;
  });
  const isNeeded$ = defer(() =>
    command$.pipe(
      filter((command) => command.kind === 'needed'),
      map(({ isNeeded }) => isNeeded),
      startWith(!state.certificates.isEmpty()),
    ),
  );

  return {
    register: (pod) => {
      for (const source of podCertificateSourcesOf(pod)) {
        if (state.certificates.has(source.key)) continue;
        state = withCertificateSource(state, pod, source);
        command$.next({ kind: 'needed', isNeeded: true });
        command$.next({ kind: 'due', key: source.key });
      }
    },
    forget: (podUid) => {
      const before = state;
      state = withoutCertificates(state, podUid);
      if (state === before) return;
      if (state.certificates.isEmpty()) command$.next({ kind: 'needed', isNeeded: false });
      count();
    },
    read: ({ key }) => credentialIn(state, key),
    changed$: command$.pipe(
      filter((command) => command.kind === 'changed'),
      map(({ name }) => name),
    ),
    run$: merge(
      command$.pipe(
        filter((command) => command.kind === 'due'),
        exhaustMapLatestBy(
          ({ key }) => key,
          ({ key }, signal) => work(key, signal),
          () => true,
        ),
      ),
      isNeeded$.pipe(
        distinctUntilChanged(),
        switchMap((isNeeded) => (isNeeded ? merge(requests$, round$) : EMPTY)),
      ),
    ),
  };
};

const WARNINGS: Readonly<Record<PodCertificateWarning, string>> = {
  CertificateOverdueForRefresh: 'PodCertificate refresh overdue',
  CertificateExpired: 'PodCertificate expired',
};
