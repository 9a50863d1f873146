import type { PodSpec } from '../../src/model/pod/pod.js';

type Container = PodSpec['containers'][number];

/** A container of a test: a script, or a whole command. */
export type ContainerOf = Partial<Container> & { readonly script?: string };

export interface PodOf extends Omit<Partial<PodSpec>, 'containers' | 'initContainers'> {
  readonly name: string;
  readonly labels?: Readonly<Record<string, string>>;
  readonly containers?: readonly ContainerOf[];
  readonly initContainers?: readonly ContainerOf[];
}

/** Sleeps for good, ends at once when asked to. */
export const SLEEP = 'exec sleep 2147483';

/** The variable by which a test finds the processes of a container: `<directory of the test>/<pod>/<container>`. */
export const markOf = (directory: string, pod: string, container: string): string =>
  `RX_TEST_CONTAINER=${directory}/${pod}/${container}`;

/** A manifest of a pod whose processes can be found again. Containers are called `main` and sleep unless they say otherwise. */
export const manifest = (
  directory: string,
  { name, labels = {}, containers = [{}], initContainers, ...spec }: PodOf,
): string => {
  const complete = ({ script = SLEEP, ...container }: ContainerOf) => {
    const named = { name: 'main', image: 'host', command: ['/bin/sh', '-c', script], ...container };
    const [variable = '', value] = markOf(directory, name, named.name).split('=');
    return {
      ...named,
      env: [
        { name: variable, value },
        { name: 'DIR', value: directory },
        { name: 'POD_UID', valueFrom: { fieldRef: { fieldPath: 'metadata.uid' } } },
        ...(container.env ?? []),
      ],
    };
  };
  return JSON.stringify({
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name, labels },
    spec: {
      terminationGracePeriodSeconds: 2,
      ...spec,
      ...(initContainers && { initContainers: initContainers.map(complete) }),
      containers: containers.map(complete),
    },
  });
};
