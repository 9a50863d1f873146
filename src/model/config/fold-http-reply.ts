import { errorText } from '../cri/cri-error.js';
import { manifestProblems, oneAnswer } from './fold-manifest-listing.js';
import { type ManifestReading, type ManifestRules, readManifest } from '../manifest/parse-manifest.js';
import { placeObjects } from '../manifest/place-objects.js';
import { placePods } from '../manifest/place-pods.js';
import { podSet, type SourceEvent, sourceProblem } from '../pod/pod-set.js';
import type { SourceObject } from '../references/source-object.js';

export interface HttpReply {
  readonly status: number;
  /** The status line, such as `404 Not Found`. */
  readonly statusLine: string;
  readonly body: string;
  /** The reading of the body, if a worker thread has parsed it already. */
  readonly reading?: ManifestReading;
}

export type HttpOutcome =
  { readonly kind: 'ok'; readonly value: HttpReply } | { readonly kind: 'failed'; readonly error: unknown };

export interface HttpPollState {
  /** The last body that was read, valid or not. */
  readonly body: string | undefined;
  readonly isBodyGood: boolean;
  /** The objects of the last good body. */
  readonly objects: readonly SourceObject[];
  /** The number of failed polls in a row. */
  readonly failures: number;
}

export const NO_HTTP_POLL: HttpPollState = { body: undefined, isBodyGood: false, objects: [], failures: 0 };

export interface HttpPlace extends ManifestRules {
  readonly url: string;
  readonly nodeName: string;
}

/** The number of failures in a row that are logged as errors. The last message announces that further ones are not. */
const LOUD_FAILURES = 4;

/**
 * Returns the changes of a poll. An unchanged body changes nothing. A problem of one pod or object refuses the whole body,
 * and the pods and objects of the last valid body stay; an empty body removes all pods. An invalid body is a failure once; while it is
 * unchanged, it is neither a failure nor a recovery.
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
    return failed(state, place, errorText(error));
  }
  const { status, statusLine, body, reading: known } = outcome.value;
  if (status !== 200) return failed(state, place, statusLine);
  if (body === '') {
    const emptied = failed({ ...state, body, isBodyGood: false, objects: [] }, place, 'zero-length data received');
    return { state: emptied.state, events: [podSet([]), ...emptied.events] };
  }
  if (body === state.body) {
    return { state: { ...state, failures: 0 }, events: state.isBodyGood ? recovery(state, place) : [] };
  }
  const reading = known ?? readManifest(body, { file: place.url }, place);
  const placed = placePods(reading, { source: 'http', nodeName: place.nodeName, origin: place.url });
  const { objects, problems: changes } = placeObjects(reading, place.url, state.objects);
  const problems = [...placed.problems, ...changes];
  if (problems.length > 0) {
    const why = problems.length === 1 ? 'a problem' : `${problems.length} problems`;
    const refused = failed({ ...state, body, isBodyGood: false }, place, `the pods have ${why}`);
    return { state: refused.state, events: oneAnswer([...manifestProblems(problems), ...refused.events]) };
  }
  return {
    state: { body, isBodyGood: true, objects, failures: 0 },
    events: [...recovery(state, place), podSet(placed.pods, objects)],
  };
};

const failed = (
  state: HttpPollState,
  { url }: HttpPlace,
  reason: string,
): { readonly state: HttpPollState; readonly events: readonly SourceEvent[] } => {
  const failures = state.failures + 1;
  const isLast = failures === LOUD_FAILURES;
  const suffix = isLast ? '; further failures in a row are only logged at debug level' : '';
  const severity = failures <= LOUD_FAILURES ? 'warning' : 'debug';
  const message = `${url}: failed to read pods: ${reason}${suffix}`;
  return { state: { ...state, failures }, events: [sourceProblem({ severity, message, from: url })] };
};

const recovery = ({ failures }: HttpPollState, { url }: HttpPlace): readonly SourceEvent[] =>
  failures === 0 ? [] : [sourceProblem({ severity: 'info', message: `${url}: reading pods works again`, from: url })];
