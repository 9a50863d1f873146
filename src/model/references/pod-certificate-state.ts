import { type PodCertificateRequest, podCertificateVerdict } from './pod-certificate-request.js';

/** A key and the certificates of it, PEM. */
export interface PodCredential {
  /** PKCS #8. */
  readonly privateKey: string;
  /** The issued certificate, then those of its issuers. */
  readonly certificateChain: string;
}

/** A request that was created, and whose answer is awaited. */
export interface AwaitedRequest {
  /** In the namespace of the pod. */
  readonly name: string;
  readonly privateKey: string;
  /** If the request cannot be seen at this time of the scheduler, another client has deleted it. Milliseconds. */
  readonly abandonAt: number;
}

/** An issued certificate. Times are Unix milliseconds. */
export interface IssuedCertificate {
  readonly credential: PodCredential;
  readonly notBefore: number;
  /** With its jitter. */
  readonly beginRefreshAt: number;
  readonly notAfter: number;
  /** When the answer was received: the scheduler's milliseconds. */
  readonly receivedAt: number;
  /** The warnings that were given about it. */
  readonly warned: readonly PodCertificateWarning[];
}

export type PodCertificateWarning = 'CertificateOverdueForRefresh' | 'CertificateExpired';

/**
 * The state of one source. `denied` and `failed` are final for the pod.
 *
 * Source: pkg/kubelet/podcertificate/podcertificatemanager.go credState; `issued` with `awaited` is its credStateWaitRefresh
 */
export type PodCertificateState =
  | { readonly kind: 'waiting'; readonly awaited?: AwaitedRequest | undefined }
  | { readonly kind: 'issued'; readonly issued: IssuedCertificate; readonly awaited?: AwaitedRequest | undefined }
  | Refused<'denied'>
  | Refused<'failed'>;

interface Refused<Kind extends string> {
  readonly kind: Kind;
  readonly reason: string;
  readonly message: string;
}

/** The state before the first request. */
export const NOT_REQUESTED: PodCertificateState = { kind: 'waiting' };

/** A request that cannot be seen after this time and its jitter is lost, in milliseconds. Source: assumeDeletedThreshold */
export const ASSUME_DELETED_MS = 10 * 60_000;
/** The time after `beginRefreshAt` at which a certificate is overdue, in milliseconds. Source: refreshOverdueDuration */
export const OVERDUE_MS = 10 * 60_000;
/** The largest delay by chance of a refresh and of the loss of a request, in milliseconds. Source: jitterDuration */
export const JITTER_MS = 5 * 60_000;

export interface PodCertificateMoment {
  /** Unix milliseconds. */
  readonly wallClock: number;
  /** The scheduler's milliseconds. */
  readonly now: number;
  /** The awaited request as the API server has it; undefined if it cannot be seen. */
  readonly request: PodCertificateRequest | undefined;
  /** Draws a number in [0, 1). Called at most once. */
  readonly draw: () => number;
}

export interface PodCertificateAdvance {
  readonly state: PodCertificateState;
  /** Whether a request has to be created now. */
  readonly isDue: boolean;
  readonly warnings: readonly PodCertificateWarning[];
  /** Why the awaited request does not help. */
  readonly problem?: string;
}

/**
 * The time of day for a certificate, unless the clock is behind: the certificate is at least as old as the time since its receipt.
 * Unix milliseconds.
 */
const timeFor = ({ notBefore, receivedAt }: IssuedCertificate, { wallClock, now }: ClockReading): number =>
  Math.max(wallClock, notBefore + now - receivedAt);

export type ClockReading = Pick<PodCertificateMoment, 'wallClock' | 'now'>;

/** Returns the state at a moment, and what has to be done. Source: handleProjection */
export const advancePodCertificate = (
  state: PodCertificateState,
  moment: PodCertificateMoment,
): PodCertificateAdvance => {
  if (state.kind === 'denied' || state.kind === 'failed') return { state, isDue: false, warnings: [] };
  const { awaited } = state;
  if (awaited) return answered(state, awaited, moment);
  if (state.kind === 'waiting') return { state, isDue: true, warnings: [] };
  const isDue = timeFor(state.issued, moment) >= state.issued.beginRefreshAt;
  return isDue ? { ...warned(state, moment), isDue } : { state, isDue, warnings: [] };
};

type Open = Exclude<PodCertificateState, Refused<'denied'> | Refused<'failed'>>;

const answered = (state: Open, awaited: AwaitedRequest, moment: PodCertificateMoment): PodCertificateAdvance => {
  const { now, request, draw } = moment;
  if (!request) {
    const isLost = now > awaited.abandonAt;
    const { state: next, warnings } = warned(isLost ? { ...state, awaited: undefined } : state, moment);
    return {
      ...{ state: next, isDue: isLost, warnings },
      ...(isLost && { problem: `PodCertificateRequest ${JSON.stringify(awaited.name)} appears to have been deleted` }),
    };
  }
  const verdict = podCertificateVerdict(request);
  switch (verdict.kind) {
    case 'denied':
    case 'failed':
      return { state: verdict, isDue: false, warnings: [] };
    case 'issued': {
      const { chain, notBefore, beginRefreshAt, notAfter } = verdict;
      const issued: IssuedCertificate = {
        credential: { privateKey: awaited.privateKey, certificateChain: chain },
        beginRefreshAt: beginRefreshAt + Math.floor(draw() * JITTER_MS),
        ...{ notBefore, notAfter, receivedAt: now, warned: [] },
      };
      return { state: { kind: 'issued', issued }, isDue: false, warnings: [] };
    }
    case 'invalid':
      return { ...warned(state, moment), isDue: false, problem: verdict.problem };
    case 'pending':
      return { ...warned(state, moment), isDue: false };
  }
};

/** Gives each warning about a certificate once. */
const warned = (state: Open, clock: ClockReading): Pick<PodCertificateAdvance, 'state' | 'warnings'> => {
  if (state.kind !== 'issued') return { state, warnings: [] };
  const { issued } = state;
  const time = timeFor(issued, clock);
  const warnings = [
    ...(time > issued.beginRefreshAt + OVERDUE_MS ? (['CertificateOverdueForRefresh'] as const) : []),
    ...(time > issued.notAfter ? (['CertificateExpired'] as const) : []),
  ].filter((warning) => !issued.warned.includes(warning));
  if (warnings.length === 0) return { state, warnings };
  return { state: { ...state, issued: { ...issued, warned: [...issued.warned, ...warnings] } }, warnings };
};

/** The state with a request that was created at `now`, the scheduler's milliseconds. `draw` is in [0, 1). */
export const withRequest = (
  state: PodCertificateState,
  { name, privateKey }: Pick<AwaitedRequest, 'name' | 'privateKey'>,
  { now, draw }: { readonly now: number; readonly draw: number },
): PodCertificateState =>
  state.kind === 'denied' || state.kind === 'failed'
    ? state
    : {
        ...state,
        awaited: { name, privateKey, abandonAt: now + ASSUME_DELETED_MS + Math.floor(draw * JITTER_MS) },
      };

/**
 * Returns the credential of a state. `problem` is what keeps it from being issued, if that is known.
 *
 * Errors: throws if there is none. Source: getCredBundle
 */
export const credentialOf = (state: PodCertificateState, problem?: string): PodCredential => {
  switch (state.kind) {
    case 'waiting':
      throw new Error(`credential bundle is not issued yet${problem === undefined ? '' : `: ${problem}`}`);
    case 'denied':
    case 'failed': {
      const [reason, message] = [JSON.stringify(state.reason), JSON.stringify(state.message)];
      throw new Error(`PodCertificateRequest was permanently ${state.kind}: reason=${reason} message=${message}`);
    }
    case 'issued':
      return state.issued.credential;
  }
};

/** Returns the label `state` of the metric `kubelet_podcertificate_states`. Source: metricsState */
export const podCertificateLabel = (state: PodCertificateState, clock: ClockReading): string => {
  if (state.kind === 'waiting') return 'not_yet_issued';
  if (state.kind !== 'issued') return state.kind;
  const time = timeFor(state.issued, clock);
  if (time > state.issued.notAfter) return 'expired';
  return time > state.issued.beginRefreshAt + OVERDUE_MS ? 'overdue_for_refresh' : 'fresh';
};
