import { asyncScheduler, concatMap, defer, from, map, type Observable, type SchedulerLike } from 'rxjs';
import { foldHttpReply, type HttpPollState, type HttpReply, NO_HTTP_POLL } from '../model/config/fold-http-reply.js';
import type { SourceEvent } from '../model/pod/pod-set.js';
import { poll } from '../streams/operators/poll.js';
import { manifestReader } from './manifest-reader.js';
import { httpGet, type HttpHeaders } from './http-get.js';

/** The time from the end of one request to the start of the next unless given, in milliseconds. */
export const HTTP_CHECK_FREQUENCY_MS = 20_000;
/** The time after which a request is given up unless given, in milliseconds. */
export const HTTP_TIMEOUT_MS = 10_000;

export interface HttpSource {
  readonly url: string;
  readonly nodeName: string;
  readonly headers?: HttpHeaders;
  /** The time from the end of one request to the start of the next. */
  readonly httpCheckFrequencyMs?: number;
  readonly timeoutMs?: number;
  /** The node has an API server, so manifests hold no ConfigMaps and Secrets. Default: false. */
  readonly hasApiServer?: boolean;
  /** The alpha gates that are on: each allows the fields behind it. Default: none. */
  readonly gates?: readonly string[];
  readonly scheduler?: SchedulerLike;
}

/**
 * The pods, ConfigMaps and Secrets that a URL serves. The first request is sent at once. Emits a set for every valid reply that differs from
 * the one before.
 *
 * Errors: none; a failed request is a problem.
 * Ends:   never.
 * Source: pkg/kubelet/config/http.go.
 */
export const httpSource = ({
  url,
  nodeName,
  headers = {},
  httpCheckFrequencyMs = HTTP_CHECK_FREQUENCY_MS,
  timeoutMs = HTTP_TIMEOUT_MS,
  hasApiServer = false,
  gates = [],
  scheduler = asyncScheduler,
}: HttpSource): Observable<SourceEvent> =>
  defer(() => {
    const rules = { hasApiServer, gates };
    const place = { url, nodeName, ...rules };
    let state: HttpPollState = NO_HTTP_POLL;
    const read = manifestReader(rules, scheduler);
    const withReading = async (reply: HttpReply): Promise<HttpReply> => {
      if (reply.status !== 200 || reply.body === '' || reply.body === state.body) return reply;
      return { ...reply, reading: await read(reply.body, { file: url }) };
    };
    const ask = () => httpGet(url, headers).pipe(concatMap(withReading));
    return poll(ask, { periodMs: httpCheckFrequencyMs, timeoutMs, scheduler }).pipe(
      map((outcome) => {
        const folded = foldHttpReply(state, outcome, place);
        state = folded.state;
        return folded.events;
      }),
      concatMap((events) => from(events)),
    );
  });
