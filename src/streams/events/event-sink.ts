import {
  catchError,
  defer,
  EMPTY,
  exhaustMap,
  finalize,
  ignoreElements,
  merge,
  type Observable,
  of,
  repeat,
  retry,
  type SchedulerLike,
  startWith,
  Subject,
  tap,
  throwError,
  timer,
} from 'rxjs';
import { isAlreadyExists, isNotFound } from '../../model/kube-api/api-error.js';
import { eventPath, eventsPath } from '../../model/kube-api/api-paths.js';
import { errorText } from '../../model/cri/cri-error.js';
import {
  type ApiEvent,
  apiEvent,
  type EventFact,
  type EventOrigin,
  originAfter,
} from '../../model/events/api-event.js';
import { EventCorrelator } from '../../model/events/event-correlator.js';
import { EventQueue, type QueuedEvent } from '../../model/events/event-queue.js';
import { isQuietRefusal, writeFailure } from '../../model/events/write-failure.js';
import { type ApiClient, apiClient } from '../cluster/api-client.js';
import type { ApiServer } from '../ports/api-server.js';
import type { Logger } from '../ports/logger.js';
import type { Metrics } from '../ports/metrics.js';
import type { NodeAgentEvent, RecordEvent } from '../ports/record-event.js';
import type { Random } from '../ports/random.js';
import type { WallClock } from '../ports/wall-clock.js';

/** Source: staging/src/k8s.io/client-go/tools/record/event.go maxQueuedEvents */
export const MAX_QUEUED = 1_000;
/** Source: the same file, maxTriesPerEvent */
export const MAX_TRIES = 12;
/** The time between two attempts, in milliseconds; the first wait is a random share of it. Source: the same file, defaultSleepDuration */
export const RETRY_MS = 10_000;

/** The messages for the journal and the log when the first event is dropped. */
const DROPPING = {
  overflow: `More than ${MAX_QUEUED} events wait for the API server, the stalest of them are dropped`,
  unanswered: 'The API server takes no events, those that were tried for too long are dropped',
} as const;

export interface EventSinkPorts {
  readonly api: ApiServer;
  /** Receives every event at once, whether it is sent or not: the journal and the log. */
  readonly recordEvent: RecordEvent;
  readonly scheduler: SchedulerLike;
  readonly random: Random;
  readonly wallClock: WallClock;
  readonly log: Logger;
  readonly metrics: Metrics;
}

export interface EventSinkOptions {
  readonly nodeName: string;
  /** `eventRecordQPS`: requests per second after `burst` requests; 0 means no limit. */
  readonly qps: number;
  /** `eventBurst`. */
  readonly burst: number;
  /** `host:port` of the API server: the label of metrics. */
  readonly host?: string;
  /**
   * The UID of the Node in the API, if it is registered. The first one is kept: events about a Node that was deleted and made again go on
   * under the UID of the first. Source: pkg/kubelet/kubelet.go, since 1.37
   */
  readonly nodeUid?: () => string | undefined;
}

export interface EventSink {
  /** Writes the event to the journal and the log at once, and puts it into the queue. Does not wait and does not fail. */
  readonly recordEvent: RecordEvent;
  /** Sends the events of the queue while it is subscribed, one after the other. Emits nothing. */
  readonly run$: Observable<never>;
}

/**
 * Sends events to the API server. They are correlated when they happen and written one after the other; repetitions before the write
 * become one write. While the server does not answer, the first event is retried, up to twelve times, and the others wait: at most a
 * thousand different ones, of which new ones replace the stalest. An event that alone is answered with an error of the server waits behind the others,
 * for up to twelve attempts as well. Dropped events are counted by the metrics, reported once in the journal and the log when the first is dropped, and
 * reported by an event `EventsDropped` about the node when the API server answers again.
 *
 * Errors: none.
 * Ends:   never. Events that wait at an unsubscription stay and are sent by the next subscription.
 * Source: staging/src/k8s.io/client-go/tools/record/event.go, where the newest events are dropped, each repetition is a write, and
 *         drops appear in the log only.
 */
export const eventSink = (
  ports: EventSinkPorts,
  { nodeName, qps, burst, host, nodeUid = () => undefined }: EventSinkOptions,
): EventSink => {
  const { scheduler, random, wallClock, log, metrics } = ports;
  const client = apiClient(ports.api, {
    ...{ qps: qps === 0 ? -1 : qps, burst, scheduler, metrics, log },
    ...(host !== undefined && { host }),
  });
  const correlator = new EventCorrelator();
  const queue = new EventQueue(MAX_QUEUED);
  const queued$ = new Subject<void>();
  /** The origin of the last event. */
  let origin: EventOrigin = { nodeName, nanoseconds: 0n };
  /** The number of dropped events that no event has reported to the API server. */
  let unreported = 0;

  const enqueue = (fact: EventFact, tells = 1): void => {
    origin = originAfter(origin, { nodeUid: nodeUid(), wallMs: wallClock() });
    const event = apiEvent(fact, origin);
    const correlated = correlator.correlate(event, scheduler.now());
    if (!correlated) {
      metrics.eventDropped('spam');
      log.debug(
        { reason: fact.reason, object: event.involvedObject.name },
        'too many events of an object, one is left out',
      );
      return;
    }
    const stalest = queue.put({ ...correlated, tells });
    if (stalest) drop(stalest, 'overflow');
    metrics.eventsQueued(queue.size);
    queued$.next();
  };

  const recordEvent = (event: NodeAgentEvent): void => {
    ports.recordEvent(event);
    enqueue(event);
  };

  const drop = (queued: QueuedEvent, reason: keyof typeof DROPPING): void => {
    metrics.eventDropped(reason);
    const isFirst = unreported === 0;
    unreported += queued.tells;
    if (!isFirst) return;
    const message = DROPPING[reason];
    // Not for the API server yet: it receives an event when it accepts events again.
    ports.recordEvent({ type: 'Warning', reason: 'EventsDropped', message, causes: [] });
  };

  /** Reports the dropped events once the API server answers again. */
  const reportDropped = (): void => {
    if (unreported === 0) return;
    const count = unreported;
    unreported = 0;
    const message = `Events that did not reach the API server while it took none: ${count}`;
    const event = { type: 'Warning', reason: 'EventsDropped', message, causes: [] } as const;
    ports.recordEvent(event);
    enqueue(event, count);
  };

  const refused = (queued: QueuedEvent, error: unknown): void => {
    metrics.eventDropped('refused');
    const { namespace, name } = queued.event.involvedObject;
    const about = { reason: queued.event.reason, namespace, object: name, error: errorText(error) };
    const say = isQuietRefusal(error) ? log.debug : log.warn;
    say(about, 'the API server refused an event');
  };

  const failed = (queued: QueuedEvent, error: unknown): void => {
    const failure = writeFailure(error);
    if (failure === 'not-this-one' && queue.putOff(queued.key, scheduler.now() + RETRY_MS) < MAX_TRIES) {
      const { namespace, name } = queued.event.involvedObject;
      log.info({ namespace, object: name, error: errorText(error) }, 'an event could not be written, others go first');
      return;
    }
    const given = queue.remove(queued.key) ?? queued;
    if (failure !== 'refused') return drop(given, 'unanswered');
    refused(given, error);
    reportDropped();
  };

  const sendFirst$ = defer(() => {
    const first = queue.first(scheduler.now());
    if (!first) return EMPTY;
    const { key } = first;
    /** One attempt, with the newest state of the event. */
    const attempt$ = defer(() => {
      const sending = queue.get(key) ?? first;
      const sent = (): void => {
        queue.sent(sending);
        correlator.written(key);
        reportDropped();
      };
      return write(client, sending.event, correlator.isWritten(key)).pipe(tap({ complete: sent }));
    });
    return attempt$.pipe(
      retry({
        count: MAX_TRIES - 1,
        delay: (error: unknown, tries) => {
          if (writeFailure(error) !== 'unavailable') return throwError(() => error);
          const waiting = { waiting: queue.size, error: errorText(error) };
          if (tries === 1) log.warn(waiting, 'an event could not be written, it is tried again');
          return timer(tries === 1 ? random() * RETRY_MS : RETRY_MS, scheduler);
        },
      }),
      catchError((error: unknown) => {
        failed(first, error);
        return EMPTY;
      }),
      finalize(() => metrics.eventsQueued(queue.size)),
    );
  });

  /** Emits when there is an event to send: at once, when the first postponed event is due, or when there is a new one. */
  const next = (): Observable<unknown> => {
    const waitMs = queue.waitFrom(scheduler.now());
    if (waitMs === undefined) return EMPTY;
    return waitMs === 0 ? of(true) : merge(timer(waitMs, scheduler), queued$);
  };
  const drain$ = sendFirst$.pipe(repeat({ delay: next }));
  return {
    recordEvent,
    run$: queued$.pipe(
      startWith(undefined),
      exhaustMap(() => drain$),
    ),
  };
};

/**
 * Completes when the API server has the event in its current form. A written event is patched, and created again if the server no longer has
 * it. An event that the server has although its answer was lost is patched as well.
 */
const write = (client: ApiClient, event: ApiEvent, isWritten: boolean): Observable<never> => {
  const { namespace, name } = event.metadata;
  const create$ = client.create(eventsPath(namespace), event);
  const { count, lastTimestamp, message } = event;
  const patch$ = client.patch(eventPath(namespace, name), { count, lastTimestamp, message });
  const written$ = isWritten
    ? patch$.pipe(catchError((error: unknown) => (isNotFound(error) ? create$ : throwError(() => error))))
    : create$.pipe(catchError((error: unknown) => (isAlreadyExists(error) ? patch$ : throwError(() => error))));
  return written$.pipe(ignoreElements());
};
