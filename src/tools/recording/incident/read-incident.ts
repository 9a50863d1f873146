import { errorText, CriError } from '../../../model/cri/cri-error.js';
import { TELLING_FACTS, type TellingFacts } from '../../../model/node/node-facts.js';
import type { PodRef } from '../../../model/pod/pod.js';
import type { SourceEvent } from '../../../model/pod/pod-set.js';
import { type SourceObject, sourceObjectKey } from '../../../model/references/source-object.js';
import { decodeValue } from '../entries/encode-value.js';
import type { RecordingEntry, RecordingHeader } from '../entries/recording-entry.js';
import type { Incident, IncidentChange, IncidentObject } from './incident.js';
import { ApiPods } from './api-pods.js';
import { InstanceLedger } from './instance-ledger.js';
import { OpenCalls, type RecordedCall } from './open-calls.js';
import { SlowCalls } from './slow-calls.js';

/** A smaller change of the clock may be drift. */
const SMALLEST_JUMP_MS = 1_000;
/** Ordinary failures of an agent's call: a missing object, or a cancelled call. */
const ORDINARY = ['not-found', 'cancelled', 'unimplemented', 'already-exists'];
/** The failure of a pull may be the first sign of an outage. */
const CUT_BEFORE_MS = 3_000;

type Mutable<T> = { -readonly [Key in keyof T]: T[Key] };

/** Returns the world of a recording's agent. Reads all of the entries. */
export const readIncident = (header: RecordingHeader, entries: Iterable<RecordingEntry>): Incident => {
  const calls = new OpenCalls();
  const slowCalls = new SlowCalls();
  const instances = new InstanceLedger(header.startedAt);
  const pods = new PodLedger();
  const apiPods = new ApiPods();
  const [outages, eventBreaks, refusals, clockJumps, events, pulls] = [[], [], [], [], [], []] as [
    { fromMs: number; untilMs: number }[],
    number[],
    Mutable<Incident['refusals'][number]>[],
    { atMs: number; byMs: number }[],
    Incident['events'][number][],
    Incident['pulls'][number][],
  ];
  /** Pulls that failed because the runtime, or the registry, was unavailable. */
  const cutPulls: Incident['pulls'][number][] = [];
  const sandboxesTookMs: number[] = [];
  const present = new Set<string>();
  const pulled = new Set<string>();
  let now = 0;
  let wallOffset: number | undefined;
  let outage: { fromMs: number; untilMs: number } | undefined;
  let tellsNoEvents = false;
  let stopAskedMs: number | undefined;

  const heard = (): void => {
    if (outage) outage.untilMs = now;
    outage = undefined;
  };
  const replied = (call: RecordedCall, value: unknown): void => {
    const { port, args } = call;
    if (port.startsWith('sources.')) return pods.said(port.slice('sources.'.length), value as SourceEvent, now);
    const ofApi = apiPods.replied(call, value);
    if (ofApi) return pods.said('api', { kind: 'set', pods: ofApi }, now);
    if (port === 'stop$') stopAskedMs ??= now;
    if (port === 'runtime.runPodSandbox') sandboxesTookMs.push(now - call.at);
    if (port.startsWith('runtime.') && port !== 'runtime.containerEvents') heard();
    instances.replied(call, value, now);
    const image = (args[0] as { image?: { image?: string } } | undefined)?.image?.image ?? '';
    if (port === 'images.pullImage') {
      pulls.push({ image, atMs: call.at, tookMs: now - call.at });
      pulled.add(image);
    }
    const isThere = (value as { image?: unknown } | undefined)?.image !== undefined;
    if (port === 'images.imageStatus' && isThere && !pulled.has(image)) present.add(image);
  };
  const failed = (call: RecordedCall, error: unknown): void => {
    const { port, args } = call;
    if (port === 'images.pullImage') {
      const image = (args[0] as { image?: { image?: string } }).image?.image ?? '';
      const isOutage = error instanceof CriError && error.code === 'unavailable';
      (isOutage ? cutPulls : pulls).push({ image, atMs: call.at, tookMs: now - call.at, error: errorText(error) });
      return;
    }
    if (!(error instanceof CriError)) return void instances.failed(call, error, now);
    if (port === 'runtime.containerEvents') {
      if (error.code === 'unimplemented') tellsNoEvents = true;
      else if (!outage) eventBreaks.push(now);
      return;
    }
    if (error.code === 'unavailable') {
      if (!outage) outages.push((outage = { fromMs: now, untilMs: now }));
      outage.untilMs = now;
      return;
    }
    if (instances.failed(call, error, now) || ORDINARY.includes(error.code)) return;
    if (port.startsWith('runtime.') || port.startsWith('images.')) {
      refusals.push({ call: criMethod(port), fromMs: call.at, untilMs: now, code: error.code });
    }
  };

  for (const entry of entries) {
    if ('at' in entry) {
      now = entry.at;
      if (entry.wallOffset !== undefined) {
        const byMs = entry.wallOffset - (wallOffset ?? entry.wallOffset);
        if (Math.abs(byMs) >= SMALLEST_JUMP_MS) clockJumps.push({ atMs: now, byMs: Math.round(byMs) });
        wallOffset = entry.wallOffset;
        instances.wallOffset = wallOffset;
      }
    }
    switch (entry.kind) {
      case 'call':
        calls.open(entry, now);
        instances.called(calls.get(entry.call)!);
        break;
      case 'reply': {
        const call = calls.get(entry.call);
        if (!call) break;
        slowCalls.ended(call, now);
        replied(call, calls.decodeReply(call, entry.value));
        break;
      }
      case 'failed': {
        const call = calls.get(entry.call);
        if (call) {
          slowCalls.ended(call, now);
          failed(call, decodeValue(entry.error));
        }
        calls.close(entry.call);
        break;
      }
      case 'completed':
      case 'given-up':
        calls.close(entry.call);
        break;
      case 'told': {
        const event = eventOf(entry.port, entry.args.map(decodeValue));
        if (event) events.push({ atMs: now, ...event });
        break;
      }
      default:
    }
  }

  const { syncFrequencyMs, maxRestartBackOffMs, eventedPleg, imagePulls } = header.options as Readonly<
    Record<string, unknown>
  > & { readonly imagePulls?: { readonly serialized?: boolean; readonly maxParallel?: number | null } };
  return {
    startedAt: header.startedAt + (wallOffset ?? 0),
    durationMs: now,
    facts: tellingFacts(header),
    options: {
      eventedPleg: eventedPleg === true,
      syncFrequencyMs: typeof syncFrequencyMs === 'number' ? syncFrequencyMs : 60_000,
      maxRestartBackOffMs: typeof maxRestartBackOffMs === 'number' ? maxRestartBackOffMs : 300_000,
      parallelPulls: imagePulls?.serialized === false ? (imagePulls.maxParallel ?? 10) : 1,
    },
    tellsNoEvents,
    pods: pods.pods(),
    objects: pods.objects(),
    instances: instances.instances(),
    earlierPods: instances.earlierPods(),
    imagesPresent: [...present],
    sandboxesTookMs,
    slowMs: slowCalls.longestMs(),
    // The simulated runtime cuts pulls off as well, if it is unavailable.
    pulls: [...pulls, ...cutPulls.filter((pull) => !outages.some((one) => isCutBy(one, pull)))].toSorted(
      (one, other) => one.atMs - other.atMs,
    ),
    outages,
    eventBreaks,
    refusals,
    clockJumps,
    events,
    ...(stopAskedMs !== undefined && { stopAskedMs }),
  };
};

const isCutBy = (
  { fromMs, untilMs }: Incident['outages'][number],
  { atMs, tookMs }: Incident['pulls'][number],
): boolean => atMs + tookMs >= fromMs - CUT_BEFORE_MS && atMs + tookMs <= untilMs;

const tellingFacts = ({ facts: { node = {} } }: RecordingHeader): TellingFacts => {
  const facts = decodeValue(node) as Readonly<Record<string, unknown>>;
  return Object.fromEntries(TELLING_FACTS.flatMap((name) => (name in facts ? [[name, facts[name]]] : [])));
};

/** Returns the CRI name of a port's call: `runtime.startContainer` is `StartContainer`. */
const criMethod = (port: string): string => {
  const name = port.slice(port.indexOf('.') + 1);
  return name.charAt(0).toUpperCase() + name.slice(1);
};

interface ToldEvent {
  readonly pod?: PodRef;
  readonly container?: string;
  readonly type: string;
  readonly reason: string;
}

const eventOf = (port: string, [told]: readonly unknown[]): Omit<Incident['events'][number], 'atMs'> | undefined => {
  if (port !== 'recordEvent') return undefined;
  const { pod, container, type, reason } = told as ToldEvent;
  if (!pod) return undefined;
  const { namespace, name } = pod;
  return { namespace, pod: name, ...(container !== undefined && { container }), type, reason };
};

/** The pods of the sources, and the objects that they refer to, by name. */
class PodLedger {
  readonly #pods = new Map<string, { source: string; namespace: string; name: string; changes: IncidentChange[] }>();
  readonly #objects = new Map<string, { source: string; changes: IncidentObject['changes'][number][] }>();

  said(source: string, event: SourceEvent, atMs: number): void {
    if (event.kind !== 'set') return;
    const seen = new Set<string>();
    for (const pod of event.pods) {
      const { namespace, name } = pod.metadata;
      const key = `${source} ${namespace}/${name}`;
      seen.add(key);
      const told = this.#pods.get(key) ?? { source, namespace, name, changes: [] };
      this.#pods.set(key, told);
      if (!isSame(told.changes.at(-1)?.pod, pod)) told.changes.push({ atMs, pod });
    }
    for (const [key, told] of this.#pods) {
      const isWanted = told.changes.at(-1)?.pod !== undefined;
      if (told.source === source && !seen.has(key) && isWanted) told.changes.push({ atMs });
    }
    this.#saidObjects(source, event.objects ?? [], atMs);
  }

  #saidObjects(source: string, objects: readonly SourceObject[], atMs: number): void {
    const byKey = new Map(objects.map((object) => [`${source} ${sourceObjectKey(object)}`, object]));
    for (const [key, object] of byKey) {
      const told = this.#objects.get(key) ?? { source, changes: [] };
      this.#objects.set(key, told);
      if (!isSame(told.changes.at(-1)?.object, object)) told.changes.push({ atMs, object });
    }
    for (const [key, told] of this.#objects) {
      const isThere = told.changes.at(-1)?.object !== undefined;
      if (told.source === source && !byKey.has(key) && isThere) told.changes.push({ atMs });
    }
  }

  objects(): Incident['objects'] {
    return [...this.#objects.values()];
  }

  pods(): Incident['pods'] {
    return [...this.#pods.values()];
  }
}

const isSame = (before: object | undefined, now: object): boolean => JSON.stringify(before) === JSON.stringify(now);
