import type { Pod } from '../pod/pod.js';

/** The names of the containers of a pod. */
export interface NamedContainers {
  readonly pod: string;
  readonly regular: readonly string[];
  readonly init: readonly string[];
  readonly ephemeral: readonly string[];
  /** The container that the pod names as its default. */
  readonly preferred?: string;
}

export type ContainerChoice =
  | /** `notes` are for standard error. */ { readonly container: string; readonly notes: readonly string[] }
  | { readonly problem: string };

/** Source: staging/src/k8s.io/kubectl/pkg/util/podutils, DefaultContainerAnnotationName. */
export const DEFAULT_CONTAINER_ANNOTATION = 'kubectl.kubernetes.io/default-container';

export const namedContainers = ({ metadata, spec }: Pod): NamedContainers => {
  const preferred = metadata.annotations?.[DEFAULT_CONTAINER_ANNOTATION];
  return {
    pod: metadata.name,
    regular: spec.containers.map(({ name }) => name),
    init: (spec.initContainers ?? []).map(({ name }) => name),
    ephemeral: (spec.ephemeralContainers ?? []).map(({ name }) => name),
    ...(preferred && { preferred }),
  };
};

/**
 * Returns the container whose log is meant: the requested one, the default of the pod, or the first one with a note that
 * lists all. A problem names the containers that could have been requested.
 *
 * Source: staging/src/k8s.io/kubectl/pkg/polymorphichelpers/logsforobject.go, podcmd.AllContainerNames; for the list
 * pkg/registry/core/pod/strategy.go validateContainer
 */
export const chooseContainer = (containers: NamedContainers, requested?: string): ContainerChoice => {
  const { pod, regular, init, ephemeral, preferred } = containers;
  const all = [...regular, ...ephemeral, ...init];
  if (requested !== undefined) {
    if (all.includes(requested)) return { container: requested, notes: [] };
    return { problem: `container ${requested} is not valid for pod ${pod}, ${choices(containers)}` };
  }
  if (preferred !== undefined && all.includes(preferred)) return { container: preferred, notes: [] };
  const notes =
    preferred === undefined ? [] : [`Default container name ${JSON.stringify(preferred)} not found in pod ${pod}`];
  const [first] = all;
  if (first === undefined) return { problem: `pod ${pod} has no container with a log yet` };
  if (all.length === 1) return { container: first, notes };
  const list = [...regular, ...ephemeral.map((name) => `${name} (ephem)`), ...init.map((name) => `${name} (init)`)];
  return {
    container: first,
    notes: [...notes, `Defaulted container ${JSON.stringify(first)} out of: ${list.join(', ')}`],
  };
};

const choices = ({ regular, init, ephemeral }: NamedContainers): string =>
  [
    `choose one of: [${regular.join(' ')}]`,
    ...(init.length > 0 ? [`one of the init containers: [${init.join(' ')}]`] : []),
    ...(ephemeral.length > 0 ? [`one of the ephemeral containers: [${ephemeral.join(' ')}]`] : []),
  ].join(' or ');
