import type { Pod, Probe } from '../pod.js';
import type { ProbeType } from './probe-type.js';

/** Replaces the period of a probe by one in milliseconds: `web.readiness=250, web.liveness=500`. */
export const PROBE_PERIOD_ANNOTATION = 'rx-kubelet/probe-period-ms';
/** The period of a probe until it succeeds for the first time on an instance, in milliseconds: `web.startup=100`. */
export const PROBE_FAST_ANNOTATION = 'rx-kubelet/probe-until-success-ms';

/** No probe is made more often than this. Milliseconds. */
export const SHORTEST_PERIOD_MS = 100;
/** Milliseconds. */
export const LONGEST_PERIOD_MS = 3_600_000;

/** How often a probe is made, and when it first may be. */
export interface ProbePace {
  readonly periodMs: number;
  /** Until the first success of an instance. */
  readonly untilSuccessMs: number;
  /** From the start of the container. */
  readonly initialDelayMs: number;
  /** Of one attempt. */
  readonly timeoutSeconds: number;
  readonly successThreshold: number;
  readonly failureThreshold: number;
}

/**
 * The numbers of a probe, with the defaults of the API where they are missing or 0. A setting of an annotation that cannot be used
 * has no effect; `paceProblems` names it.
 *
 * Source: pkg/apis/core/v1/defaults.go SetDefaults_Probe
 */
export const probePace = (pod: Pod, containerName: string, type: ProbeType, probe: Probe): ProbePace => {
  const setting = (annotation: string): number | undefined =>
    settingsIn(pod, annotation).find((entry) => entry.container === containerName && entry.type === type)?.ms;
  const periodMs = setting(PROBE_PERIOD_ANNOTATION) ?? (probe.periodSeconds || 10) * 1000;
  return {
    periodMs,
    untilSuccessMs: setting(PROBE_FAST_ANNOTATION) ?? periodMs,
    initialDelayMs: (probe.initialDelaySeconds ?? 0) * 1000,
    timeoutSeconds: probe.timeoutSeconds || 1,
    successThreshold: probe.successThreshold || 1,
    failureThreshold: probe.failureThreshold || 3,
  };
};

/** What is wrong with the annotations of a pod that set the pace of its probes, one text for each. */
export const paceProblems = (pod: Pod): readonly string[] =>
  [PROBE_PERIOD_ANNOTATION, PROBE_FAST_ANNOTATION].flatMap((annotation) =>
    settingsIn(pod, annotation).flatMap(({ text, problem }) =>
      problem === undefined ? [] : [`annotation ${annotation}: ${JSON.stringify(text)} ${problem}`],
    ),
  );

interface Setting {
  readonly text: string;
  readonly container?: string;
  readonly type?: ProbeType;
  /** Absent when there is a problem. */
  readonly ms?: number;
  readonly problem?: string;
}

const settingsIn = (pod: Pod, annotation: string): readonly Setting[] =>
  (pod.metadata.annotations?.[annotation] ?? '')
    .split(',')
    .map((text) => text.trim())
    .filter((text) => text !== '')
    .map((text) => settingOf(pod, text));

const settingOf = (pod: Pod, text: string): Setting => {
  const [, container = '', type = '', number = ''] =
    /^([^.=\s]+)\.(startup|readiness|liveness)\s*=\s*(\d+)$/.exec(text) ?? [];
  if (container === '') {
    return {
      text,
      problem: 'is not a setting (expected CONTAINER.startup, .readiness or .liveness, then =MILLISECONDS)',
    };
  }
  const spec = [...pod.spec.containers, ...(pod.spec.initContainers ?? [])].find(({ name }) => name === container);
  if (!spec) return { text, problem: `names a container that the pod does not have` };
  if (!spec[`${type as ProbeType}Probe`])
    return { text, problem: `is about a probe that container ${container} does not have` };
  const ms = Number(number);
  if (ms < SHORTEST_PERIOD_MS || ms > LONGEST_PERIOD_MS) {
    return { text, problem: `is out of range (expected ${SHORTEST_PERIOD_MS} to ${LONGEST_PERIOD_MS} milliseconds)` };
  }
  return { text, container, type: type as ProbeType, ms };
};
