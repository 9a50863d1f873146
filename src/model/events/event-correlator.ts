import { takeToken, type TokenBucket } from '../values/token-bucket.js';
import type { ApiEvent } from './api-event.js';
import { RecentEntries } from './recent-entries.js';

/** The number of different messages of one kind about one object from which on they are reported as one event. */
export const SIMILAR_EVENTS = 10;
/** Milliseconds without an event of the kind after which its messages are counted from zero. */
export const SIMILAR_FOR_MS = 600_000;
/** The rate of events of one type about one object: a burst, then one every 300 s. */
export const SPAM_RATE = { perSecond: 1 / 300, burst: 25 };
/** The most entries of each kind. */
export const REMEMBERED = 4_096;

/** An event that has to be written. */
export interface CorrelatedEvent {
  /** Equal for each occurrence of one event, as are its namespace and its name. */
  readonly key: string;
  readonly event: ApiEvent;
}

interface Seen {
  readonly name: string;
  readonly firstTimestamp: string;
  readonly count: number;
  readonly isWritten: boolean;
}

/**
 * Combines events: similar ones become one whose message changes, an event that occurs again becomes the first one with
 * a higher count, and further events of an object with too many are dropped. It keeps 4096 entries of each kind.
 *
 * Source: staging/src/k8s.io/client-go/tools/record/events_cache.go EventCorrelator
 */
export class EventCorrelator {
  readonly #similar = new RecentEntries<{ readonly messages: Set<string>; readonly at: number }>(REMEMBERED);
  readonly #seen = new RecentEntries<Seen>(REMEMBERED);
  readonly #spam = new RecentEntries<TokenBucket>(REMEMBERED);

  /** Returns the event to write, at `now` (ms, of any clock), or undefined if its object has too many. */
  correlate(event: ApiEvent, now: number): CorrelatedEvent | undefined {
    const aggregated = this.#aggregate(event, now);
    const counted = this.#count(aggregated);
    // Only now, so that dropped events count as occurrences.
    const { isTaken, bucket } = takeToken(this.#spam.get(spamKey(event)), now, SPAM_RATE);
    this.#spam.set(spamKey(event), bucket);
    return isTaken ? { key: aggregated.key, event: counted } : undefined;
  }

  /** Records that the API server has the event of that key. */
  written(key: string): void {
    const seen = this.#seen.get(key);
    if (seen) this.#seen.set(key, { ...seen, isWritten: true });
  }

  /** Whether the API server had the event once. It may have deleted it since. */
  isWritten(key: string): boolean {
    return this.#seen.get(key)?.isWritten ?? false;
  }

  #aggregate(event: ApiEvent, now: number): CorrelatedEvent {
    const similarKey = kindKey(event);
    const before = this.#similar.get(similarKey);
    const messages = before && now - before.at <= SIMILAR_FOR_MS ? before.messages : new Set<string>();
    messages.add(event.message);
    this.#similar.set(similarKey, { messages, at: now });
    if (messages.size < SIMILAR_EVENTS) return { key: eventKey(event), event };
    // The oldest one is removed, so that the set stays at its limit.
    const [oldest] = messages;
    if (oldest !== undefined) messages.delete(oldest);
    return { key: similarKey, event: { ...event, message: `(combined from similar events): ${event.message}` } };
  }

  #count({ key, event }: CorrelatedEvent): ApiEvent {
    const seen = this.#seen.get(key);
    const { name, firstTimestamp, count, isWritten } = seen ?? {
      name: event.metadata.name,
      firstTimestamp: event.firstTimestamp,
      count: 0,
      isWritten: false,
    };
    this.#seen.set(key, { name, firstTimestamp, count: count + 1, isWritten });
    return { ...event, metadata: { ...event.metadata, name }, firstTimestamp, count: count + 1 };
  }
}

/** A character that occurs in no part of an event. */
const joined = (...parts: readonly (string | undefined)[]): string => parts.map((part) => part ?? '').join('\0');

const objectKey = ({ source, involvedObject: { kind, namespace, name, uid, apiVersion } }: ApiEvent): string =>
  joined(source.component, source.host, kind, namespace, name, uid, apiVersion);

const spamKey = (event: ApiEvent): string => joined(objectKey(event), event.type);

/** Without the part of the object: the containers of a pod share it. */
const kindKey = (event: ApiEvent): string => joined('similar', objectKey(event), event.type, event.reason);

const eventKey = (event: ApiEvent): string =>
  joined(objectKey(event), event.involvedObject.fieldPath, event.type, event.reason, event.message);
