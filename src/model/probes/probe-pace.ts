import type { Pod, Probe } from '../pod/pod.js';
import { quoteBriefly } from '../values/quote-briefly.js';
import type { ProbeType } from './probe-type.js';
import { firstNamed } from '../values/indexed-lists.js';

/** Replaces the period of a probe by a period in milliseconds: `web.readiness=250, web.liveness=500`. */
export const PROBE_PERIOD_ANNOTATION = 'rx-kubelet/probe-period-ms';
/** The period of a probe until its first success on an instance, in milliseconds: `web.startup=100`. */
export const PROBE_FAST_ANNOTATION = 'rx-kubelet/probe-until-success-ms';

/** The period of a probe whose manifest names none. */
export const DEFAULT_PERIOD_SECONDS = 10;
/** The shortest period of a probe, in milliseconds. */
export const SHORTEST_PERIOD_MS = 100;
/** Milliseconds. */
export const LONGEST_PERIOD_MS = 3_600_000;

/** The periods and delays of a probe. */
export interface ProbePace {
  readonly periodMs: number;
  /** The period until the first success of an instance. */
  readonly untilSuccessMs: number;
  /** The delay after the start of the container. */
  readonly initialDelayMs: number;
  /** The timeout of one attempt. */
  readonly timeoutSeconds: number;
  readonly successThreshold: number;
  readonly failureThreshold: number;
}

/**
 * Returns the settings of a probe, with the API's defaults for fields that are missing or 0. An invalid setting of an
 * annotation has no effect; `paceProblems` reports it.
 *
 * Source: pkg/apis/core/v1/defaults.go SetDefaults_Probe
 */
export const probePace = (pod: Pod, containerName: string, type: ProbeType, probe: Probe): ProbePace => {
  const setting = (annotation: string): number | undefined =>
    settingsOf(pod, annotation).ms.get(`${containerName}.${type}`);
  const periodMs = setting(PROBE_PERIOD_ANNOTATION) ?? (probe.periodSeconds || DEFAULT_PERIOD_SECONDS) * 1000;
  return {
    periodMs,
    untilSuccessMs: setting(PROBE_FAST_ANNOTATION) ?? periodMs,
    initialDelayMs: (probe.initialDelaySeconds ?? 0) * 1000,
    timeoutSeconds: probe.timeoutSeconds || 1,
    successThreshold: probe.successThreshold || 1,
    failureThreshold: probe.failureThreshold || 3,
  };
};

/** Returns the problems of a pod's annotations that set the pace of its probes, one text for each. */
export const paceProblems = (pod: PacedPod): readonly string[] =>
  paceIssues(pod).map(({ annotation, message }) => `annotation ${annotation}: ${message}`);

/** The problems by annotation, at most `MOST_PROBLEMS` of each; one more says how many follow. */
export const paceIssues = (pod: PacedPod): readonly { readonly annotation: string; readonly message: string }[] =>
  [PROBE_PERIOD_ANNOTATION, PROBE_FAST_ANNOTATION].flatMap((annotation) => {
    const { problems } = settingsOf(pod, annotation);
    const more = problems.length - MOST_PROBLEMS;
    const messages = problems.slice(0, MOST_PROBLEMS).map(({ text, problem }) => `${quoteBriefly(text)} ${problem}`);
    return [...messages, ...(more > 0 ? [`${more} more settings have no effect`] : [])].map((message) => ({
      annotation,
      message,
    }));
  });

/** Each problem becomes an event, and an annotation may hold a hundred thousand settings. */
const MOST_PROBLEMS = 20;

type PacedPod = Pick<Pod, 'spec'> & { readonly metadata: Pick<Pod['metadata'], 'annotations'> };

interface Setting {
  readonly text: string;
  readonly container?: string;
  readonly type?: ProbeType;
  /** Absent if there is a problem. */
  readonly ms?: number;
  readonly problem?: string;
}

interface Settings {
  /** By container and type, such as `web.readiness`; the first setting of both counts. */
  readonly ms: ReadonlyMap<string, number>;
  readonly problems: readonly Setting[];
}

/** Each probe of a pod reads the settings of all. */
const settings = new WeakMap<PacedPod, Map<string, Settings>>();

const settingsOf = (pod: PacedPod, annotation: string): Settings => {
  const ofPod = settings.get(pod) ?? new Map<string, Settings>();
  settings.set(pod, ofPod);
  const known = ofPod.get(annotation);
  if (known) return known;
  const ms = new Map<string, number>();
  const all = settingsIn(pod, annotation);
  for (const one of all) {
    const key = `${one.container}.${one.type}`;
    if (one.ms !== undefined && !ms.has(key)) ms.set(key, one.ms);
  }
  const read = { ms, problems: all.filter(({ problem }) => problem !== undefined) };
  ofPod.set(annotation, read);
  return read;
};

const settingsIn = (pod: PacedPod, annotation: string): readonly Setting[] =>
  (pod.metadata.annotations?.[annotation] ?? '')
    .split(',')
    .map((text) => text.trim())
    .filter((text) => text !== '')
    .map((text) => settingOf(pod, text));

const settingOf = (pod: PacedPod, text: string): Setting => {
  const [, container = '', type = '', number = ''] =
    /^([^.=\s]+)\.(startup|readiness|liveness)\s*=\s*(\d+)$/.exec(text) ?? [];
  if (container === '') {
    return {
      text,
      problem: 'is not a setting (expected CONTAINER.startup, .readiness or .liveness, then =MILLISECONDS)',
    };
  }
  const spec = firstNamed(pod.spec.containers, container) ?? firstNamed(pod.spec.initContainers ?? [], container);
  if (!spec) return { text, problem: `names a container that the pod does not have` };
  if (!spec[`${type as ProbeType}Probe`])
    return { text, problem: `is about a probe that container ${container} does not have` };
  const ms = Number(number);
  if (ms < SHORTEST_PERIOD_MS || ms > LONGEST_PERIOD_MS) {
    return { text, problem: `is out of range (expected ${SHORTEST_PERIOD_MS} to ${LONGEST_PERIOD_MS} milliseconds)` };
  }
  return { text, container, type: type as ProbeType, ms };
};
