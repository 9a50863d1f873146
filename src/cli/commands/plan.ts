import { readFileSync, writeFileSync } from 'node:fs';
import { formatManifestProblem, type ManifestProblem } from '../../model/manifest/manifest-problem.js';
import { applySourceDefaults } from '../../model/manifest/source-defaults.js';
import type { Pod } from '../../model/pod/pod.js';
import { type SourceObject, sourceObjectKey } from '../../model/references/source-object.js';
import { renderPage } from '../../tools/timeline/render-page.js';
import { renderSvg } from '../../tools/timeline/render-svg.js';
import { fitText } from '../../tools/timeline/fit-text.js';
import { renderText } from '../../tools/timeline/render-text.js';
import { planHeading, podLines } from '../../tools/sim/plan/plan-text.js';
import { type PlannedPods, runPlan } from '../../tools/sim/plan/run-plan.js';
import { readScenario } from '../../tools/sim/scenario/read-scenario.js';
import { NOTHING_ASSUMED, type Scenario } from '../../tools/sim/scenario/scenario.js';
import { scenarioMismatches } from '../../tools/sim/scenario/scenario-mismatches.js';
import { paintTimeline } from '../screen/paint-timeline.js';
import { alphaGatesOn } from '../config/fields/feature-gates.js';
import { readManifests } from '../arguments/read-manifests.js';

export const PLAN_FORMATS = ['text', 'json', 'svg', 'html'] as const;

export interface PlanCommand {
  readonly scenario?: string;
  readonly forMs: number;
  readonly seed: string;
  readonly output: (typeof PLAN_FORMATS)[number];
  /** Standard output unless given. */
  readonly outputFile?: string;
  /** The feature gates of the node; others have their defaults. */
  readonly featureGates?: Readonly<Record<string, boolean>>;
}

/** The width for a terminal without a known width, and for a file. */
const COLUMNS = 120;
const NODE = 'node-1';

/**
 * Runs the pods of manifests in a simulated node and prints their course. If the manifests or the scenario have
 * problems, they go to standard error, one `file:line:column: field: message` per line, nothing is simulated and the
 * exit code is 1.
 *
 * Errors: a scenario that cannot be read, a file that cannot be written; manifests without a pod.
 */
export const planPods = async (paths: readonly string[], command: PlanCommand): Promise<void> => {
  const { pods, objects, problems } = await readPods(paths, alphaGatesOn(command.featureGates ?? {}));
  const { scenario, problems: doubts } = scenarioOf(command.scenario, pods);
  const all = [...problems, ...doubts];
  if (all.length > 0) {
    for (const problem of all) process.stderr.write(`${formatManifestProblem(problem)}\n`);
    process.exitCode = 1;
    return;
  }
  if (pods.length === 0) throw new Error(`${paths.join(', ')}: no pod to plan (expected at least one)`);
  const planned = runPlan({ pods, objects, scenario, forMs: command.forMs, seed: command.seed });
  const text = formatted(planned, command);
  if (command.outputFile === undefined) process.stdout.write(text);
  else writeFileSync(command.outputFile, text);
};

/** Pods and objects as from a folder of manifests, but pods with the names in the manifests. Two of one name are a problem. */
const readPods = async (
  paths: readonly string[],
  gates: readonly string[],
): Promise<{
  readonly pods: readonly Pod[];
  readonly objects: readonly SourceObject[];
  readonly problems: readonly ManifestProblem[];
}> => {
  const files = await readManifests(paths, { gates });
  const problems: ManifestProblem[] = files.flatMap(({ reading }) => reading.problems);
  const pods = new Map<string, Pod>();
  const objects = new Map<string, SourceObject>();
  for (const { file, reading } of files) {
    for (const { pod, document, line, column } of reading.pods) {
      const placed = applySourceDefaults(pod, { source: 'file', nodeName: NODE, origin: file });
      const { name } = pod.metadata;
      if (pods.has(name)) {
        const place = { file, document, line, column, field: 'metadata.name' };
        problems.push({
          ...place,
          message: `another pod is called ${JSON.stringify(name)}`,
          expected: 'a name of its own',
        });
      } else pods.set(name, { ...placed, metadata: { ...placed.metadata, name } });
    }
    for (const { object, document, line, column } of reading.objects) {
      const key = sourceObjectKey(object);
      const place = { file, document, line, column, field: 'metadata.name' };
      if (objects.has(key))
        problems.push({ ...place, message: `is that of another ${object.kind}`, expected: 'a name of its own' });
      else objects.set(key, object);
    }
  }
  return { pods: [...pods.values()], objects: [...objects.values()], problems };
};

const scenarioOf = (
  file: string | undefined,
  pods: readonly Pod[],
): { readonly scenario: Scenario; readonly problems: readonly ManifestProblem[] } => {
  if (file === undefined) return { scenario: NOTHING_ASSUMED, problems: [] };
  const { scenario, problems, problemAt } = readScenario(readFileSync(file, 'utf8'), file);
  if (problems.length > 0) return { scenario, problems };
  const named = pods.map(({ metadata: { name }, spec }) => ({ name, spec }));
  return { scenario, problems: scenarioMismatches(scenario, named).map(problemAt) };
};

const formatted = ({ plan, timeline }: PlannedPods, { output, outputFile }: PlanCommand): string => {
  const title = `plan of ${plan.pods.map(({ name }) => name).join(', ')}`;
  switch (output) {
    case 'json':
      return `${JSON.stringify(plan, undefined, 2)}\n`;
    case 'svg':
      return renderSvg(timeline, { title });
    case 'html':
      return renderPage(timeline, { title });
    case 'text': {
      const terminal = outputFile === undefined ? process.stdout.columns : undefined;
      const width = terminal ?? COLUMNS;
      // A file has no width, so its lines are complete.
      const fitted = (line: string): string => (terminal === undefined ? line : fitText(line, terminal));
      const paint = outputFile === undefined ? { paint: paintTimeline } : {};
      const parts = plan.pods.flatMap((pod, index) => {
        const own = { ...timeline, pods: timeline.pods.slice(index, index + 1) };
        // The first two lines contain the name of the pod and the time, which are printed above.
        return ['', ...podLines(pod).map(fitted), ...renderText(own, { width, listed: 0, ...paint }).slice(2)];
      });
      return `${[planHeading(plan), ...parts].join('\n')}\n`;
    }
  }
};
