import { manifestProblem } from './fold-manifest-listing.js';
import { type ManifestRules, readManifest } from './manifest/parse-manifest.js';
import { placePods } from './manifest/place-pods.js';
import { podSet, type SourceEvent, sourceProblem } from './pod-set.js';

export interface HttpReply {
  readonly status: number;
  /** Such as `404 Not Found`. */
  readonly statusLine: string;
  readonly body: string;
}

export type HttpOutcome =
  { readonly kind: 'ok'; readonly value: HttpReply } | { readonly kind: 'failed'; readonly error: unknown };

export interface HttpPollState {
  /** The last body that was read, good or bad. */
  readonly body: string | undefined;
  readonly isBodyGood: boolean;
  /** How many polls in a row have failed. */
  readonly failures: number;
}

export const NO_HTTP_POLL: HttpPollState = { body: undefined, isBodyGood: false, failures: 0 };

export interface HttpPlace extends ManifestRules {
  readonly url: string;
  readonly nodeName: string;
}

/** So many failures in a row are told aloud; the last of them says that the next ones will not be. */
const LOUD_FAILURES = 4;

/**
 * What a poll changes. A body like the last one changes nothing. Anything wrong with any pod of a body refuses it as a
 * whole, and the pods of the last good one stay; an empty body takes them all away. A bad body is a failure once and then,
 * unchanged, neither a failure nor a recovery.
 *
 * Source: pkg/kubelet/config/http.go extractFromURL.
 */
export const foldHttpReply = (
  state: HttpPollState,
  outcome: HttpOutcome,
  place: HttpPlace,
): { readonly state: HttpPollState; readonly events: readonly SourceEvent[] } => {
  if (outcome.kind === 'failed') {
    const { error } = outcome;
    return failed(state, place, error instanceof Error ? error.message : String(error));
  }
  const { status, statusLine, body } = outcome.value;
  if (status !== 200) return failed(state, place, statusLine);
  if (body === '') {
    const emptied = failed({ ...state, body, isBodyGood: false }, place, 'zero-length data received');
    return { state: emptied.state, events: [podSet([]), ...emptied.events] };
  }
  if (body === state.body) {
    return { state: { ...state, failures: 0 }, events: state.isBodyGood ? recovery(state, place) : [] };
  }
  const reading = readManifest(body, { file: place.url }, place);
  const { pods, problems } = placePods(reading, { source: 'http', nodeName: place.nodeName, origin: place.url });
  if (problems.length > 0) {
    const why = problems.length === 1 ? 'a problem' : `${problems.length} problems`;
    const refused = failed({ ...state, body, isBodyGood: false }, place, `the pods have ${why}`);
    return { state: refused.state, events: [...problems.map(manifestProblem), ...refused.events] };
  }
  return { state: { body, isBodyGood: true, failures: 0 }, events: [...recovery(state, place), podSet(pods)] };
};

const failed = (
  state: HttpPollState,
  { url }: HttpPlace,
  reason: string,
): { readonly state: HttpPollState; readonly events: readonly SourceEvent[] } => {
  const failures = state.failures + 1;
  const isLast = failures === LOUD_FAILURES;
  const suffix = isLast ? '; further failures in a row are only told at debug level' : '';
  const severity = failures <= LOUD_FAILURES ? 'warning' : 'debug';
  const message = `${url}: failed to read pods: ${reason}${suffix}`;
  return { state: { ...state, failures }, events: [sourceProblem({ severity, message, from: url })] };
};

const recovery = ({ failures }: HttpPollState, { url }: HttpPlace): readonly SourceEvent[] =>
  failures === 0 ? [] : [sourceProblem({ severity: 'info', message: `${url}: reading pods works again`, from: url })];
