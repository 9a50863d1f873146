import { closestName } from '../../model/manifest/closest-name.js';
import { type FieldIssue, type FieldPath } from '../../model/manifest/field-issue.js';
import { type PodSpec } from '../../model/pod.js';
import type { Scenario } from './scenario.js';

/** A pod under the name that its manifest gives it. */
export interface NamedPod {
  readonly name: string;
  readonly spec: Pick<PodSpec, 'containers' | 'initContainers'>;
}

/** What a scenario says about containers, pods and images that no manifest has, each with the names that are there. */
export const scenarioMismatches = (
  { containers, images, timeline }: Scenario,
  pods: readonly NamedPod[],
): readonly FieldIssue[] => {
  const all = pods.flatMap(({ name: pod, spec }) =>
    [...(spec.initContainers ?? []), ...spec.containers].map(({ name, image }) => ({ pod, name, image: image ?? '' })),
  );
  const full = unique(all.map(({ pod, name }) => `${pod}/${name}`));
  const short = unique(all.map(({ name }) => name));
  const inContainers = (name: string, path: FieldPath, atKey: boolean): readonly FieldIssue[] =>
    missing('container', name, name.includes('/') ? full : short, full, path, atKey);
  const podNames = unique(pods.map(({ name }) => name));
  const imageNames = unique(all.map(({ image }) => image));
  return [
    ...Object.keys(containers).flatMap((name) => inContainers(name, ['containers', name], true)),
    ...Object.keys(images).flatMap((name) => missing('image', name, imageNames, imageNames, ['images', name], true)),
    ...timeline.flatMap((step, index) => {
      const at = (field: string): FieldPath => ['timeline', index, field];
      if (step.kind === 'delete-pod') return missing('pod', step.pod, podNames, podNames, at('deletePod'), false);
      if (step.kind === 'exit') return inContainers(step.container, at('exit'), false);
      if (step.kind === 'image') return missing('image', step.image, imageNames, imageNames, at('image'), false);
      return [];
    }),
  ];
};

const missing = (
  what: string,
  name: string,
  known: readonly string[],
  shown: readonly string[],
  path: FieldPath,
  atKey: boolean,
): readonly FieldIssue[] => {
  if (known.includes(name)) return [];
  const closest = closestName(name, known);
  const there =
    shown.length === 0
      ? 'there is none'
      : `${closest === undefined ? '' : `perhaps ${closest}; `}one of ${shown.join(', ')}`;
  return [
    {
      path,
      message: `no manifest has a ${what} ${JSON.stringify(name)}`.replace('a image', 'an image'),
      expected: there,
      atKey,
    },
  ];
};

const unique = (names: readonly string[]): readonly string[] => [...new Set(names)];
