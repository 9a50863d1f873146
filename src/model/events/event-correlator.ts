import { takeToken, type TokenBucket } from '../token-bucket.js';
import type { ApiEvent } from './api-event.js';
import { RecentEntries } from './recent-entries.js';

/** So many different messages of one kind about one object are told as one event. */
const SIMILAR_EVENTS = 10;
/** Milliseconds without an event of the kind after which its messages are counted anew. */
const SIMILAR_FOR_MS = 600_000;
/** Events of one type about one object: so many at once, then one every 300 s. */
const SPAM_RATE = { perSecond: 1 / 300, burst: 25 };
/** Of each kind of entry. */
const REMEMBERED = 4_096;

/** An event that is to be written. */
export interface CorrelatedEvent {
  /** The same for each occurrence of one event, and so are its namespace and its name. */
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
 * Makes few events of many: similar ones become one whose message changes, an event that comes again becomes the first one with a
 * higher count, and an object that has too many is not heard. It remembers 4096 of each.
 *
 * Source: staging/src/k8s.io/client-go/tools/record/events_cache.go EventCorrelator
 */
export class EventCorrelator {
  readonly #similar = new RecentEntries<{ readonly messages: Set<string>; readonly at: number }>(REMEMBERED);
  readonly #seen = new RecentEntries<Seen>(REMEMBERED);
  readonly #spam = new RecentEntries<TokenBucket>(REMEMBERED);

  /** The event as it is to be written, at `now` (ms, of whatever clock), or nothing when its object has had too many. */
  correlate(event: ApiEvent, now: number): CorrelatedEvent | undefined {
    const aggregated = this.#aggregate(event, now);
    const counted = this.#count(aggregated);
    // Only now: what is not told counts as having occurred.
    const { isTaken, bucket } = takeToken(this.#spam.get(spamKey(event)), now, SPAM_RATE);
    this.#spam.set(spamKey(event), bucket);
    return isTaken ? { key: aggregated.key, event: counted } : undefined;
  }

  /** The API server has the event of that key. */
  written(key: string): void {
    const seen = this.#seen.get(key);
    if (seen) this.#seen.set(key, { ...seen, isWritten: true });
  }

  /** Whether the API server had the event once. It may have forgotten it since. */
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
    // One leaves, so that the set stays at its limit: the oldest.
    const [oldest] = messages;
    if (oldest !== undefined) messages.delete(oldest);
    return { key: similarKey, event: { ...event, message: `(combined from similar events): ${event.message}` } };
  }

  #count({ key, event }: CorrelatedEvent): ApiEvent {
    const seen = this.#seen.get(key);
    const { name, firstTimestamp, count, isWritten } = seen ?? {
      ...{ name: event.metadata.name, firstTimestamp: event.firstTimestamp, count: 0, isWritten: false },
    };
    this.#seen.set(key, { name, firstTimestamp, count: count + 1, isWritten });
    return { ...event, metadata: { ...event.metadata, name }, firstTimestamp, count: count + 1 };
  }
}

/** No part of an event has this character in it. */
const joined = (...parts: readonly (string | undefined)[]): string => parts.map((part) => part ?? '').join('\0');

const objectKey = ({ source, involvedObject: { kind, namespace, name, uid, apiVersion } }: ApiEvent): string =>
  joined(source.component, source.host, kind, namespace, name, uid, apiVersion);

const spamKey = (event: ApiEvent): string => joined(objectKey(event), event.type);

/** Without the part of the object: the containers of a pod share it. */
const kindKey = (event: ApiEvent): string => joined('similar', objectKey(event), event.type, event.reason);

const eventKey = (event: ApiEvent): string =>
  joined(objectKey(event), event.involvedObject.fieldPath, event.type, event.reason, event.message);
