import { defer, delay, map, merge, type Observable, of, Subject, throwError, timer } from 'rxjs';
import type { TestScheduler } from 'rxjs/testing';
import { errorText } from '../../../src/model/cri/cri-error.js';
import { ApiError } from '../../../src/model/kube-api/api-error.js';
import type { PodCertificateRequest } from '../../../src/model/references/pod-certificate-request.js';
import { podCertificateSourcesOf } from '../../../src/model/references/pod-certificate-source.js';
import { apiClient } from '../../../src/streams/cluster/api-client.js';
import type { ApiRequest, ApiServer, ApiWatchMessage } from '../../../src/streams/ports/api-server.js';
import { type PodCertificates, podCertificates } from '../../../src/streams/references/pod-certificates.js';
import type { Pod } from '../../../src/model/pod/pod.js';
import { aPod } from '../../support/a-pod.js';
import { metricLines } from '../../support/metric-lines.js';

export const MINUTE = 60_000;
export const HOUR = 60 * MINUTE;
const PATH = '/apis/certificates.k8s.io/v1/podcertificaterequests';
export const CHAIN = '-----BEGIN CERTIFICATE-----\nQUJD\n-----END CERTIFICATE-----\n';

/** A pod with this number of sources of certificates in one volume. */
export const certified = (uid = 'u', sources = 1): Pod =>
  aPod({
    uid,
    name: `pod-${uid}`,
    spec: {
      serviceAccountName: 'sa',
      volumes: [
        {
          name: 'v',
          projected: {
            sources: Array.from({ length: sources }, () => ({
              podCertificate: { signerName: 'test/signer', keyType: 'ED25519', credentialBundlePath: 'bundle' },
            })),
          },
        },
      ],
    },
  });

export interface CertificateStageOptions {
  /** What is refused, when it is asked: an error for `GET serviceaccounts`, `POST`, or `LIST`. */
  readonly failure?: (what: string, now: number) => Error | undefined;
  /** How long a key takes. */
  readonly keyMs?: number;
  readonly random?: () => number;
  readonly wallClock?: () => number;
  /** Whether the Node is known. */
  readonly isNodeKnown?: (now: number) => boolean;
}

export interface CertificateStage {
  readonly manager: PodCertificates;
  /** What happens, each as `<ms> <what>`. */
  readonly lines: string[];
  /** The watches that are opened, as `<ms> <selector>`. */
  readonly watches: string[];
  readonly logged: string[];
  readonly measured: string[];
  /** Of the requests that are created. */
  readonly bodies: unknown[];
  /** Does something at a time. */
  readonly at: (ms: number, act: () => void) => void;
  /** Writes what a reader gets at a time. */
  readonly read: (ms: number, uid?: string, index?: number) => void;
  /** Issues a certificate that is to be refreshed after an hour and ends after two. */
  readonly sign: (name: string) => void;
  readonly refuse: (name: string, type: 'Denied' | 'Failed') => void;
  readonly take: (name: string) => void;
  readonly run: (ms: number) => void;
}

/** The manager over a server in memory that takes a millisecond for a list, and no time for the rest. */
export const certificateStage = (
  scheduler: TestScheduler,
  {
    failure = () => undefined,
    keyMs = 0,
    random = () => 0,
    wallClock = () => scheduler.now(),
    isNodeKnown = () => true,
  }: CertificateStageOptions = {},
): CertificateStage => {
  const lines: string[] = [];
  const logged: string[] = [];
  const watches: string[] = [];
  const say = (what: string): void => void lines.push(`${scheduler.now()} ${what}`);
  const stored = new Map<string, PodCertificateRequest>();
  const event$ = new Subject<ApiWatchMessage>();
  const bodies: unknown[] = [];
  let version = 1;
  let keysMade = 0;

  const tell = (type: 'ADDED' | 'MODIFIED' | 'DELETED', object: PodCertificateRequest): void => {
    version += 1;
    const next = { ...object, metadata: { ...object.metadata, resourceVersion: String(version) } };
    const name = next.metadata.name ?? '';
    if (type === 'DELETED') stored.delete(name);
    else stored.set(name, next);
    event$.next({ kind: 'event', type, object: next });
  };
  const refused = (what: string): Observable<never> | undefined => {
    const error = failure(what, scheduler.now());
    if (error) say(`refused ${what}`);
    return error && throwError(() => error);
  };
  const answer = ({ method, path, body }: ApiRequest): Observable<unknown> => {
    if (path === PATH)
      return (
        refused('LIST') ??
        of({
          kind: 'PodCertificateRequestList',
          metadata: { resourceVersion: String(version) },
          items: [...stored.values()],
        }).pipe(delay(1, scheduler))
      );
    if (method === 'GET')
      return (
        refused('GET serviceaccounts') ??
        of({ kind: 'ServiceAccount', metadata: { name: 'sa', uid: `uid of ${path}` } })
      );
    const refusal = refused('POST');
    if (refusal) return refusal;
    bodies.push(body);
    const sent = body as PodCertificateRequest & { readonly spec: { readonly stubPKCS10Request: string } };
    const created = { ...sent, metadata: { ...sent.metadata, name: `req-${bodies.length}` } };
    say(`${created.metadata.name} by ${sent.spec.stubPKCS10Request}`);
    tell('ADDED', created);
    return of(created);
  };
  /** Silence would end the watch. */
  const bookmark$ = timer(MINUTE, MINUTE, scheduler).pipe(
    map((): ApiWatchMessage => {
      const metadata = { resourceVersion: String(version) };
      return { kind: 'event', type: 'BOOKMARK', object: { kind: 'PodCertificateRequest', metadata } };
    }),
  );
  const server: ApiServer = {
    request: (request) => defer(() => answer(request)),
    watch: ({ query }) =>
      defer(() => {
        watches.push(`${scheduler.now()} ${query?.['fieldSelector']}`);
        return merge(of<ApiWatchMessage>({ kind: 'opened' }), event$, bookmark$);
      }),
  };
  const { metrics, lines: measured } = metricLines();
  const log = (_: object, message: string): void => void logged.push(message);
  const manager = podCertificates(
    {
      api: apiClient(server, { qps: -1, burst: 0, scheduler }),
      keys: () =>
        defer(() => {
          const number = (keysMade += 1);
          say(`key ${number}`);
          return timer(keyMs, scheduler).pipe(
            map(() => ({ privateKey: `key ${number},`, requestBase64: `key ${number}` })),
          );
        }),
      recordEvent: ({ type, reason, message }) => say(`${type} ${reason} ${message}`),
      log: { debug: () => undefined, info: () => undefined, warn: log, error: log },
      ...{ scheduler, random, wallClock, metrics },
    },
    {
      nodeName: 'node-1',
      node: () => (isNodeKnown(scheduler.now()) ? { name: 'node-1', uid: 'node-uid' } : undefined),
    },
  );
  manager.changed$.subscribe(({ kind, namespace, name }) => say(`changed ${kind} ${namespace}/${name}`));
  const running = manager.run$.subscribe();

  const readAt = (uid: string, index: number): string => {
    const { key } = podCertificateSourcesOf(certified(uid, index + 1))[index]!;
    try {
      const { privateKey, certificateChain } = manager.read({ key });
      return `${privateKey}${certificateChain === CHAIN ? 'chain' : certificateChain}`;
    } catch (error) {
      return errorText(error);
    }
  };
  const update = (name: string, status: PodCertificateRequest['status']): void => {
    const before = stored.get(name);
    if (before) tell('MODIFIED', { ...before, ...(status && { status }) });
  };
  return {
    ...{ lines, watches, logged, manager, measured, bodies },
    at: (ms: number, act: () => void): void => void timer(ms, scheduler).subscribe(act),
    read: (ms: number, uid = 'u', index = 0): void =>
      void timer(ms, scheduler).subscribe(() => say(readAt(uid, index))),
    sign: (name: string): void => {
      const at = (ms: number): string => new Date(scheduler.now() + ms).toISOString();
      update(name, {
        conditions: [{ type: 'Issued' }],
        certificateChain: CHAIN,
        ...{ notBefore: at(0), beginRefreshAt: at(HOUR), notAfter: at(2 * HOUR) },
      });
    },
    refuse: (name: string, type: 'Denied' | 'Failed'): void =>
      update(name, { conditions: [{ type, reason: 'Why', message: 'said so' }] }),
    take: (name: string): void => {
      const object = stored.get(name);
      if (object) tell('DELETED', object);
    },
    run: (ms: number): void => {
      scheduler.maxFrames = ms;
      scheduler.flush();
      running.unsubscribe();
    },
  };
};

export const AWAY = new ApiError({ message: 'connect ECONNREFUSED' });
export const UNKNOWN = new ApiError({ code: 404, message: '404 page not found' });
