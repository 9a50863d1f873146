import { isNotFound } from '../kube-api/api-error.js';
import type { NodeFacts } from '../node/node-facts.js';
import type { Container, Pod } from '../pod/pod.js';
import { CreateContainerConfigError } from './create-container-config-error.js';
import { type EnvFiles, envFileId, type FileKeyRef } from './env-files.js';
import type { EnvValue } from './env-value.js';
import { expandValue, expansionBudget } from './expansion.js';
import { fieldRefValue } from './field-ref.js';
import { goQuote } from './go-quote.js';
import { resourceFieldValue } from './resource-field-ref.js';

/**
 * Data of the API objects of the pod's namespace. Both throw the reason if an object is not available; an optional one
 * may be absent.
 */
export interface EnvObjects {
  readonly configMap: (name: string) => Readonly<Record<string, string>>;
  readonly secret: (name: string) => Readonly<Record<string, EnvValue>>;
}

export interface EnvInput {
  readonly pod: Pod;
  readonly container: Container;
  readonly podIps: readonly string[];
  readonly node: NodeFacts;
  /** Absent without an API server: no reference can be resolved. */
  readonly objects?: EnvObjects | undefined;
  /** The files of `fileKeyRef`. A file in a volume that is not mounted is absent. */
  readonly envFiles?: EnvFiles | undefined;
  /** The variables of services. */
  readonly services?: Readonly<Record<string, string>> | undefined;
}

/**
 * Returns the environment of a container. A variable may refer to variables of `envFrom`, to earlier ones and to those
 * of services; other references stay unchanged.
 *
 * Errors: `CreateContainerConfigError` for a reference that cannot be resolved and for values that are too long in all, or the error
 * of `objects`.
 * Source: pkg/kubelet/kubelet_pods.go makeEnvironmentVariables.
 */
export const environment = (input: EnvInput): ReadonlyMap<string, EnvValue> => {
  const { container, services = {} } = input;
  const result = new Map<string, EnvValue>();
  const spend = expansionBudget();
  const set = (name: string, value: EnvValue): void => {
    spend(name.length + value.length + SIGN_AND_END);
    result.set(name, value);
  };
  for (const { prefix = '', configMapRef, secretRef } of container.envFrom ?? []) {
    const data = configMapRef
      ? objectData(input, 'ConfigMap', configMapRef)
      : secretRef
        ? objectData(input, 'Secret', secretRef)
        : undefined;
    for (const [key, value] of Object.entries(data ?? {})) set(`${prefix}${key}`, value);
  }
  for (const variable of container.env ?? []) {
    const value = valueOf(input, variable, (name) => result.get(name) ?? services[name]);
    if (value !== undefined) set(variable.name, value);
  }
  for (const [name, value] of Object.entries(services)) if (!result.has(name)) result.set(name, value);
  return result;
};

/** The characters of `NAME=VALUE` that are in neither, and the end of it. */
const SIGN_AND_END = 2;

type EnvVar = NonNullable<Container['env']>[number];
type ObjectKind = 'ConfigMap' | 'Secret';
interface ObjectRef {
  readonly name?: string;
  readonly optional?: boolean;
}

/** Returns undefined for an optional key that does not exist: the variable is left out. */
const valueOf = (
  input: EnvInput,
  { value, valueFrom }: EnvVar,
  lookup: (name: string) => EnvValue | undefined,
): EnvValue | undefined => {
  if (value) return expandValue(value, lookup);
  if (!valueFrom) return '';
  const { fieldRef, resourceFieldRef, configMapKeyRef, secretKeyRef, fileKeyRef } = valueFrom;
  if (fieldRef) return fieldRefValue(input.pod, fieldRef.fieldPath, input.podIps, input.node);
  if (resourceFieldRef) return resourceFieldValue(input.pod, input.container, resourceFieldRef, input.node);
  if (configMapKeyRef) return keyOf(input, 'ConfigMap', configMapKeyRef);
  if (secretKeyRef) return keyOf(input, 'Secret', secretKeyRef);
  if (fileKeyRef && input.node.readsEnvFiles !== false) return valueInFile(input, fileKeyRef);
  return '';
};

/** An empty value counts as missing. A missing file is an error, also for an optional key. */
const valueInFile = ({ envFiles }: EnvInput, reference: FileKeyRef): string | undefined => {
  const { volumeName, key, optional } = reference;
  const file = envFiles?.get(envFileId(reference));
  if (!file)
    throw new CreateContainerConfigError(`cannot find the volume ${goQuote(volumeName)} referenced by FileKeyRef`);
  const value = file.values.get(key);
  if (value) return value;
  if (value === undefined && file.problem !== undefined)
    throw new CreateContainerConfigError("couldn't parse env file");
  if (optional) return undefined;
  throw new CreateContainerConfigError(
    `environment variable key ${goQuote(key)} not found in file ${goQuote(file.path)}`,
  );
};

const keyOf = (input: EnvInput, kind: ObjectKind, ref: ObjectRef & { readonly key: string }): EnvValue | undefined => {
  const data = objectData(input, kind, ref) ?? {};
  if (Object.hasOwn(data, ref.key)) return data[ref.key];
  if (ref.optional) return undefined;
  throw new CreateContainerConfigError(
    `couldn't find key ${ref.key} in ${kind} ${input.pod.metadata.namespace}/${ref.name ?? ''}`,
  );
};

/** Returns undefined for an optional object that does not exist. */
const objectData = (
  { pod, objects }: EnvInput,
  kind: ObjectKind,
  { name = '', optional }: ObjectRef,
): Readonly<Record<string, EnvValue>> | undefined => {
  if (!objects) {
    const what = kind === 'ConfigMap' ? 'configMap' : 'secret';
    throw new CreateContainerConfigError(
      `couldn't get ${what} ${pod.metadata.namespace}/${name}, no kubeClient defined`,
    );
  }
  try {
    return kind === 'ConfigMap' ? objects.configMap(name) : objects.secret(name);
  } catch (error) {
    if (optional && isNotFound(error)) return undefined;
    throw error;
  }
};
