import { closestName } from '../../../model/manifest/closest-name.js';
import { type FieldIssue, type FieldPath, issue } from '../../../model/manifest/field-issue.js';
import type { Container, PodSpec } from '../../../model/pod/pod.js';
import type { InstanceScript, Scenario } from './scenario.js';

/** A pod with the name in its manifest. */
export interface NamedPod {
  readonly name: string;
  readonly spec: Pick<PodSpec, 'containers' | 'initContainers'>;
}

export const containersIn = (
  pods: readonly NamedPod[],
): readonly { readonly pod: string; readonly container: Container; readonly isInit: boolean }[] =>
  pods.flatMap(({ name: pod, spec }) => [
    ...(spec.initContainers ?? []).map((container) => ({ pod, container, isInit: true })),
    ...spec.containers.map((container) => ({ pod, container, isInit: false })),
  ]);

/**
 * Returns the containers, pods, hooks and images of a scenario that no manifest has, each with the existing names. `*`
 * always exists.
 */
export const scenarioMismatches = (
  { containers, images, timeline }: Scenario,
  pods: readonly NamedPod[],
): readonly FieldIssue[] => {
  const all = containersIn(pods);
  const full = unique(all.map(({ pod, container }) => `${pod}/${container.name}`));
  const short = unique(all.map(({ container }) => container.name));
  const podNames = unique(pods.map(({ name }) => name));
  const imageNames = unique(all.flatMap(({ container }) => container.image ?? []));
  const named = (name: string): readonly Container[] =>
    all
      .filter(({ pod, container }) => [`${pod}/${container.name}`, container.name, '*'].includes(name))
      .map(({ container }) => container);
  return [
    ...Object.entries(containers).flatMap(([name, scripts]) => [
      ...missing({ what: 'a container', name, known: name.includes('/') ? full : short, shown: full }, [
        'containers',
        name,
      ]),
      ...scripts.flatMap((script, index) => missingHooks(script, named(name), ['containers', name], index)),
    ]),
    ...Object.keys(images).flatMap((name) => missing({ what: 'an image', name, known: imageNames }, ['images', name])),
    ...timeline.flatMap((step, index) => {
      const at = (field: string): FieldPath => ['timeline', index, field];
      if (step.kind === 'delete-pod')
        return missing({ what: 'a pod', name: step.pod, known: podNames }, at('deletePod'));
      if (step.kind === 'exit') return missing({ what: 'a container', name: step.container, known: full }, at('exit'));
      if (step.kind === 'image') return missing({ what: 'an image', name: step.image, known: imageNames }, at('image'));
      return [];
    }),
  ];
};

interface Sought {
  readonly what: string;
  readonly name: string;
  readonly known: readonly string[];
  /** The suggested names; `known` by default. */
  readonly shown?: readonly string[];
}

const missing = ({ what, name, known, shown = known }: Sought, path: FieldPath): readonly FieldIssue[] => {
  const isKey = path.at(-1) === name;
  if (known.includes(name) || (isKey && name === '*')) return [];
  const closest = closestName(name, known);
  const perhaps = closest === undefined ? '' : `perhaps ${closest}; `;
  return [
    {
      ...issue(path, `no manifest has ${what} ${JSON.stringify(name)}`, `${perhaps}one of ${shown.join(', ')}`),
      atKey: isKey,
    },
  ];
};

const missingHooks = (
  script: InstanceScript,
  containers: readonly Container[],
  path: FieldPath,
  index: number,
): readonly FieldIssue[] =>
  (['postStart', 'preStop'] as const)
    .filter((hook) => script[hook] && containers.length > 0)
    .filter((hook) => !containers.some(({ lifecycle }) => lifecycle?.[hook]?.exec))
    .map((hook) => ({
      ...issue(
        [...path, index, hook],
        'is no hook of that container',
        `a container whose lifecycle.${hook} is an exec`,
      ),
      atKey: true,
    }));

const unique = (names: readonly string[]): readonly string[] => [...new Set(names)];
