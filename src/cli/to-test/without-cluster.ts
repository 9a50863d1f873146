import type { Container, Pod } from '../../model/pod/pod.js';

type Volume = NonNullable<Pod['spec']['volumes']>[number];

type EnvVar = NonNullable<Container['env']>[number];

/**
 * The pod for a simulated node, which has no API server. If the agent of the recording created a container, the objects
 * of its variables and volumes existed, so the variables are constants and the volumes are empty here: a recording hides the values, and
 * no behaviour depends on them. The references of a container that was never created stay, and fail as in the recording. A RuntimeClass that
 * was found is left out, as it only names a handler.
 */
export const withoutCluster = (pod: Pod, wasMade: (container: string) => boolean): Pod => {
  const { containers, initContainers, runtimeClassName, volumes, ...rest } = pod.spec;
  const resolved = (container: Container): Container =>
    wasMade(container.name) ? withConstants(container) : container;
  const hasStarted = [...containers, ...(initContainers ?? [])].some(({ name }) => wasMade(name));
  return {
    ...pod,
    spec: {
      ...rest,
      ...(runtimeClassName !== undefined && !hasStarted && { runtimeClassName }),
      ...(volumes && { volumes: hasStarted ? volumes.map(withoutObjects) : volumes }),
      ...(initContainers && { initContainers: initContainers.map(resolved) }),
      containers: containers.map(resolved),
    },
  };
};

/** Whether one of its variables or volumes comes from an object of an API server. */
export const hasReferences = ({ spec }: Pod): boolean =>
  spec.volumes?.some(isOfObjects) === true ||
  [...spec.containers, ...(spec.initContainers ?? [])].some(
    ({ env, envFrom }) => envFrom !== undefined || env?.some(isReference) === true,
  );

/** A projected volume of a pod of a cluster has a token and a ConfigMap, at least. */
const isOfObjects = ({ configMap, secret, projected }: Volume): boolean =>
  configMap !== undefined || secret !== undefined || projected !== undefined;

const withoutObjects = (volume: Volume): Volume => (isOfObjects(volume) ? { name: volume.name, emptyDir: {} } : volume);

const withConstants = (container: Container): Container => {
  const { env, envFrom, ...rest } = container;
  if (!env?.some(isReference) && envFrom === undefined) return container;
  return { ...rest, env: [...(envFrom ?? []).map(constantOfAll), ...(env ?? []).map(constantOf)] };
};

const isReference = ({ valueFrom }: EnvVar): boolean =>
  valueFrom?.configMapKeyRef !== undefined || valueFrom?.secretKeyRef !== undefined;

/** The value contains the reference: another reference is another container. */
const constantOf = (variable: EnvVar): EnvVar => {
  const { configMapKeyRef, secretKeyRef } = variable.valueFrom ?? {};
  if (configMapKeyRef)
    return { name: variable.name, value: `of ConfigMap ${configMapKeyRef.name}: ${configMapKeyRef.key}` };
  if (secretKeyRef) return { name: variable.name, value: `of Secret ${secretKeyRef.name}: ${secretKeyRef.key}` };
  return variable;
};

const constantOfAll = (
  { prefix = '', configMapRef, secretRef }: NonNullable<Container['envFrom']>[number],
  index: number,
): EnvVar => ({
  name: `ENV_FROM_${index}`,
  value: `${prefix} of ${configMapRef ? `ConfigMap ${configMapRef.name}` : `Secret ${secretRef?.name}`}`,
});
