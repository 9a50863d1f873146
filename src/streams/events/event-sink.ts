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
import { isAlreadyExists, isNotFound } from '../../model/api/api-error.js';
import { eventPath, eventsPath } from '../../model/api/api-paths.js';
import { errorText } from '../../model/cri-error.js';
import { type ApiEvent, apiEvent, type EventFact } from '../../model/events/api-event.js';
import { EventCorrelator } from '../../model/events/event-correlator.js';
import { EventQueue, type QueuedEvent } from '../../model/events/event-queue.js';
import { isQuietRefusal, writeFailure } from '../../model/events/write-failure.js';
import { type ApiClient, apiClient } from '../api/api-client.js';
import type { ApiServer, Logger, Metrics, NodeAgentEvent, Random, RecordEvent, WallClock } from '../ports.js';

/** Source: staging/src/k8s.io/client-go/tools/record/event.go maxQueuedEvents */
const MAX_QUEUED = 1_000;
/** Source: the same file, maxTriesPerEvent */
const MAX_TRIES = 12;
/** Milliseconds between two tries; the first wait is a random share of it. Source: the same file, defaultSleepDuration */
const RETRY_MS = 10_000;

/** What the journal and the log are told when it begins. */
const DROPPING = {
  overflow: `More than ${MAX_QUEUED} events wait for the API server, the stalest of them are dropped`,
  unanswered: 'The API server takes no events, those that were tried for too long are dropped',
} as const;

export interface EventSinkPorts {
  readonly api: ApiServer;
  /** Hears every event here and now, whatever becomes of it: the journal and the log. */
  readonly recordEvent: RecordEvent;
  readonly scheduler: SchedulerLike;
  readonly random: Random;
  readonly wallClock: WallClock;
  readonly log: Logger;
  readonly metrics: Metrics;
}

export interface EventSinkOptions {
  readonly nodeName: string;
  /** `eventRecordQPS`: requests each second after `burst` of them; 0 for any number. */
  readonly qps: number;
  /** `eventBurst`. */
  readonly burst: number;
  /** Of the API server, with its port: the label of metrics. */
  readonly host?: string;
}

export interface EventSink {
  /** Tells the journal and the log at once, and puts the event into the queue. Never waits, never fails. */
  readonly recordEvent: RecordEvent;
  /** Sends what is in the queue while it is subscribed, one after the other. Emits nothing. */
  readonly run$: Observable<never>;
}

/**
 * Takes events to the API server: correlated when they happen, written one after the other. An event that comes again before it was
 * written is still one write. While no event can be written, since nobody answers, the first one is tried again, up to twelve times,
 * and the others wait: at most a thousand different ones, of which the stalest leave for new ones. One that the server has an error of
 * its own with waits behind the others instead, up to twelve times as well. Whatever did not arrive is counted and told: by the metrics, once
 * in the journal and the log when it begins, and by an event `EventsDropped` about the node when the API server answers again.
 *
 * Errors: none.
 * Ends:   never. What waits when it is unsubscribed stays and is sent by the next subscription.
 * Source: staging/src/k8s.io/client-go/tools/record/event.go, where the newest are dropped, each repetition is a write of its own, and
 *         nothing tells of it but the log.
 */
export const eventSink = (ports: EventSinkPorts, { nodeName, qps, burst, host }: EventSinkOptions): EventSink => {
  const { scheduler, random, wallClock, log, metrics } = ports;
  const client = apiClient(ports.api, {
    ...{ qps: qps === 0 ? -1 : qps, burst, scheduler, metrics, log },
    ...(host !== undefined && { host }),
  });
  const correlator = new EventCorrelator();
  const queue = new EventQueue(MAX_QUEUED);
  const queued$ = new Subject<void>();
  let lastName = 0n;
  let isDropping = false;
  let untold = 0;

  /** Unix time, but another one each time. */
  const nextNanoseconds = (): bigint => {
    const now = BigInt(Math.trunc(wallClock())) * 1_000_000n;
    lastName = now > lastName ? now : lastName + 1n;
    return lastName;
  };

  const enqueue = (fact: EventFact, tells = 1): void => {
    const event = apiEvent(fact, { nodeName, nanoseconds: nextNanoseconds() });
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
    untold += queued.tells;
    if (isDropping) return;
    isDropping = true;
    const message = DROPPING[reason];
    // Only here: the API server hears it when it takes events again.
    ports.recordEvent({ type: 'Warning', reason: 'EventsDropped', message, causes: [] });
  };

  /** The API server answers. */
  const tellDropped = (): void => {
    if (untold === 0) return;
    const tells = untold;
    untold = 0;
    isDropping = false;
    const message = `Events that did not reach the API server while it took none: ${tells}`;
    const event = { type: 'Warning', reason: 'EventsDropped', message, causes: [] } as const;
    ports.recordEvent(event);
    enqueue(event, tells);
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
    tellDropped();
  };

  const sendFirst$ = defer(() => {
    const first = queue.first(scheduler.now());
    if (!first) return EMPTY;
    const { key } = first;
    let sending = first;
    return defer(() => {
      sending = queue.get(key) ?? first;
      return write(client, sending.event, correlator.isWritten(key));
    }).pipe(
      retry({
        count: MAX_TRIES - 1,
        delay: (error: unknown, tries) => {
          if (writeFailure(error) !== 'nobody-writes') return throwError(() => error);
          const waiting = { waiting: queue.size, error: errorText(error) };
          if (tries === 1) log.warn(waiting, 'an event could not be written, it is tried again');
          return timer(tries === 1 ? random() * RETRY_MS : RETRY_MS, scheduler);
        },
      }),
      tap({
        complete: () => {
          queue.sent(sending);
          correlator.written(key);
          tellDropped();
        },
      }),
      catchError((error: unknown) => {
        failed(sending, error);
        return EMPTY;
      }),
      finalize(() => metrics.eventsQueued(queue.size)),
    );
  });

  /** When there is something to send: at once, when the first of those that were put off may be, or when there is a new one. */
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
 * Completes when the API server has the event as it is. One that it has had is patched, and created anew if it has forgotten it; one
 * that it has although nobody knew it, since the answer was lost, is patched as well.
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
