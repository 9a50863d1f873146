import { expect } from 'vitest';
import { readManifest } from '../../../src/model/manifest/parse-manifest.js';
import { formatManifestProblem } from '../../../src/model/manifest/manifest-problem.js';
import { applySourceDefaults } from '../../../src/model/manifest/source-defaults.js';
import { parseGoDuration } from '../../../src/model/values/go-duration.js';
import type { ContainerPlan, InstancePlan, Plan, PodPlan } from '../../../src/tools/sim/plan/plan.js';
import { type PlannedPods, runPlan } from '../../../src/tools/sim/plan/run-plan.js';
import { readScenario } from '../../../src/tools/sim/scenario/read-scenario.js';

export interface Sketch {
  /** What stands below `spec:`, indented by two. */
  readonly spec: string;
  readonly scenario?: string;
  readonly for?: string;
  readonly seed?: string;
}

/** The plan of one pod called `pod`. */
export const planned = ({ spec, scenario = '', for: span = '1h', seed }: Sketch): PlannedPods => {
  const text = `apiVersion: v1\nkind: Pod\nmetadata: {name: pod}\nspec:\n${spec}`;
  const manifest = readManifest(text, { file: 'pod.yaml' });
  const assumed = readScenario(scenario, 'scenario.yaml');
  const problems = [...manifest.problems, ...assumed.problems].map(formatManifestProblem);
  if (problems.length > 0) throw new Error(problems.join('\n'));
  const pods = manifest.pods.map(({ pod }) => {
    const placed = applySourceDefaults(pod, { source: 'file', nodeName: 'node-1', origin: 'pod.yaml' });
    return { ...placed, metadata: { ...placed.metadata, name: pod.metadata.name } };
  });
  return runPlan({ pods, scenario: assumed.scenario, forMs: parseGoDuration(span)!, ...(seed && { seed }) });
};

export const podIn = ({ pods }: Plan): PodPlan => pods[0]!;

export const containerIn = ({ containers }: PodPlan, name: string): ContainerPlan =>
  containers.find((container) => container.name === name)!;

/** In seconds, as tables have them; calls take milliseconds, which are cut off. */
export const seconds = (ms: number | undefined): number => Math.floor((ms ?? NaN) / 1000);

/** The pod of a sketch, whose image is on the node: its containers start as soon as the agent knows the pod. */
export const podOf = ({ scenario = '', ...sketch }: Sketch): PodPlan =>
  podIn(planned({ ...sketch, scenario: `images: {"i:1": {present: true}}\n${scenario}` }).plan);

/**
 * The shortest and the longest wait for a back-off, in seconds: an error stretches it to 1 to 1.5 times, and then it ends at the next
 * tick of a second. Source: completeWork in pod_workers.go.
 */
const withinJitter = (backOffSeconds: number): readonly [number, number] => [
  backOffSeconds,
  // The agent reads a pod that waits for more than a minute every minute, so only the rest after the last read is stretched.
  backOffSeconds + 0.5 * Math.min(backOffSeconds, 60) + 1,
];

/** The instances after the first one waited for these back-offs, in seconds. */
export const expectWaits = (instances: readonly InstancePlan[], delays: readonly number[]): void => {
  const waits = instances.slice(1, 1 + delays.length);
  expect(waits.map(({ backOff }) => (backOff?.delayMs ?? 0) / 1000)).toEqual(delays);
  for (const [index, { waitedMs = NaN }] of waits.entries()) {
    const [least, most] = withinJitter(delays[index]!);
    expect(waitedMs / 1000).toBeGreaterThanOrEqual(least);
    expect(waitedMs / 1000).toBeLessThanOrEqual(most);
  }
};
