import { asyncScheduler, concatMap, defer, from, map, type Observable, type SchedulerLike } from 'rxjs';
import { foldHttpReply, type HttpPollState, NO_HTTP_POLL } from '../model/fold-http-reply.js';
import type { SourceEvent } from '../model/pod-set.js';
import { poll } from '../streams/operators/poll.js';
import { httpGet, type HttpHeaders } from './http-get.js';

export interface HttpSource {
  readonly url: string;
  readonly nodeName: string;
  readonly headers?: HttpHeaders;
  /** From the end of one request to the start of the next. */
  readonly httpCheckFrequencyMs?: number;
  readonly timeoutMs?: number;
  /** Gate PreventStaticPodAPIReferences; on unless given. */
  readonly preventStaticPodApiReferences?: boolean;
  readonly scheduler?: SchedulerLike;
}

/**
 * The pods that a URL serves, asked at once and then again and again: a set whenever the answer is another good one.
 *
 * Errors: none; a failed request is a problem.
 * Ends:   never.
 * Source: pkg/kubelet/config/http.go.
 */
export const httpSource = ({
  url,
  nodeName,
  headers = {},
  httpCheckFrequencyMs = 20_000,
  timeoutMs = 10_000,
  preventStaticPodApiReferences = true,
  scheduler = asyncScheduler,
}: HttpSource): Observable<SourceEvent> =>
  defer(() => {
    const place = { url, nodeName, preventStaticPodApiReferences };
    let state: HttpPollState = NO_HTTP_POLL;
    return poll(() => httpGet(url, headers), { periodMs: httpCheckFrequencyMs, timeoutMs, scheduler }).pipe(
      map((outcome) => {
        const folded = foldHttpReply(state, outcome, place);
        state = folded.state;
        return folded.events;
      }),
      concatMap((events) => from(events)),
    );
  });
