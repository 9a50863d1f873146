import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { formatManifestProblem } from '../../../src/model/manifest/manifest-problem.js';
import { readManifest } from '../../../src/model/manifest/parse-manifest.js';
import { readScenario } from '../../../src/tools/sim/scenario/read-scenario.js';
import { scenarioMismatches } from '../../../src/tools/sim/scenario/scenario-mismatches.js';

const textOf = (file: string): string => readFileSync(new URL(`../../../examples/${file}`, import.meta.url), 'utf8');

describe('every example of a scenario', () => {
  it.each([
    ['scenarios/shop.scenario.yaml', 'scenarios/shop.pod.yaml'],
    ['scenarios/outage.scenario.yaml', 'scenarios/shop.pod.yaml'],
    ['scenarios/crash.scenario.yaml', 'pods/crash.yaml'],
  ])('%s fits to %s', (file, manifest) => {
    const { pods, problems: wrong } = readManifest(textOf(manifest), { file: manifest });
    const { scenario, problems, problemAt } = readScenario(textOf(file), file);
    const named = pods.map(({ pod: { metadata, spec } }) => ({ name: metadata.name, spec }));
    const mismatches = scenarioMismatches(scenario, named).map(problemAt);
    expect([...wrong, ...problems, ...mismatches].map(formatManifestProblem)).toEqual([]);
  });
});
