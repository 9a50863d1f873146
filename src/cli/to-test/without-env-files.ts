import type { Container, Pod } from '../../model/pod/pod.js';

type EnvVar = NonNullable<Container['env']>[number];

/**
 * The pod for a simulated node, whose containers write no env files. If the agent of the recording created a container, the keys
 * that it needs were there, so its variables are constants here: a recording hides the values.
 */
export const withoutEnvFiles = (pod: Pod, wasMade: (container: string) => boolean): Pod => {
  const { containers, initContainers } = pod.spec;
  const resolved = (container: Container): Container =>
    container.env && wasMade(container.name) ? { ...container, env: container.env.map(constantOf) } : container;
  return {
    ...pod,
    spec: {
      ...pod.spec,
      ...(initContainers && { initContainers: initContainers.map(resolved) }),
      containers: containers.map(resolved),
    },
  };
};

const constantOf = (variable: EnvVar): EnvVar => {
  const { fileKeyRef } = variable.valueFrom ?? {};
  if (!fileKeyRef) return variable;
  const { volumeName, path, key } = fileKeyRef;
  return { name: variable.name, value: `of file ${volumeName}/${path}: ${key}` };
};
