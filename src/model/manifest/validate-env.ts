import type { V1ObjectFieldSelector, V1ResourceFieldSelector } from '@kubernetes/client-node';
import type { Container, Json } from '../pod/pod.js';
import { parseQuantity } from '../resources/quantity.js';
import { type FieldIssue, type FieldPath, issue } from './field-issue.js';
import { checkLocalPath, checkText, ENV_NAME, isQualifiedName } from './names.js';
import type { VolumesByName } from './volume-defaults.js';

type Where = 'env' | 'volume';

const FIELDS: Readonly<Record<Where, readonly string[]>> = {
  env: [
    'metadata.name',
    'metadata.namespace',
    'metadata.uid',
    'spec.nodeName',
    'spec.serviceAccountName',
    'status.hostIP',
    'status.hostIPs',
    'status.podIP',
    'status.podIPs',
  ],
  volume: ['metadata.name', 'metadata.namespace', 'metadata.uid', 'metadata.labels', 'metadata.annotations'],
};

/** Source: pkg/apis/core/validation/validation.go ValidateEnv, ValidateEnvFrom, validateFileKeySelector. */
export function* validateEnv(container: Container, volumes: VolumesByName, path: FieldPath): Generator<FieldIssue> {
  for (const [index, { name, value, valueFrom }] of (container.env ?? []).entries()) {
    const at = [...path, 'env', index];
    yield* checkText(name, ENV_NAME, [...at, 'name']);
    if (!valueFrom) continue;
    if (value) yield issue([...at, 'valueFrom'], 'is set beside value', 'only one of the two');
    yield* validateValueFrom(valueFrom, volumes, [...at, 'valueFrom']);
  }
  for (const [index, { prefix, configMapRef, secretRef }] of (container.envFrom ?? []).entries()) {
    const at = [...path, 'envFrom', index];
    if (prefix) yield* checkText(prefix, ENV_NAME, [...at, 'prefix']);
    if (configMapRef && secretRef)
      yield issue([...at, 'secretRef'], 'is set beside configMapRef', 'only one of the two');
    if (!configMapRef && !secretRef) yield issue(at, 'has no source', 'configMapRef or secretRef');
    if (configMapRef && !configMapRef.name) yield issue([...at, 'configMapRef', 'name'], 'is missing', 'a name');
    if (secretRef && !secretRef.name) yield issue([...at, 'secretRef', 'name'], 'is missing', 'a name');
  }
}

type ValueFrom = NonNullable<NonNullable<Container['env']>[number]['valueFrom']>;

function* validateValueFrom(valueFrom: ValueFrom, volumes: VolumesByName, path: FieldPath): Generator<FieldIssue> {
  const [first, second] = Object.keys(valueFrom);
  if (first === undefined) {
    yield issue(path, 'has no source', 'fieldRef, resourceFieldRef, configMapKeyRef, secretKeyRef or fileKeyRef');
  }
  if (second !== undefined) {
    yield { ...issue([...path, second], `is set beside ${first}`, 'only one source'), atKey: true };
  }
  const { fieldRef, resourceFieldRef, fileKeyRef } = valueFrom;
  if (fieldRef) yield* validateFieldRef(fieldRef, 'env', [...path, 'fieldRef']);
  if (resourceFieldRef) yield* validateResourceFieldRef(resourceFieldRef, 'env', [...path, 'resourceFieldRef']);
  for (const kind of ['configMapKeyRef', 'secretKeyRef'] as const) {
    const reference = valueFrom[kind];
    if (!reference) continue;
    if (!reference.name) yield issue([...path, kind, 'name'], 'is missing', 'a name');
    if (!reference.key) yield issue([...path, kind, 'key'], 'is empty', 'the name of a key');
  }
  if (fileKeyRef) {
    const { volumeName, path: file, key } = fileKeyRef;
    const at = [...path, 'fileKeyRef'];
    if (!volumes.get(volumeName)?.emptyDir)
      yield issue(
        [...at, 'volumeName'],
        `is ${JSON.stringify(volumeName)}`,
        'the name of an emptyDir volume of the pod',
      );
    yield* checkLocalPath(file, [...at, 'path']);
    yield* checkText(key, ENV_NAME, [...at, 'key']);
  }
}

/** Source: pkg/apis/core/validation/validation.go validateObjectFieldSelector. */
export function* validateFieldRef(
  { apiVersion, fieldPath }: Json<V1ObjectFieldSelector>,
  where: Where,
  path: FieldPath,
): Generator<FieldIssue> {
  if (apiVersion !== undefined && apiVersion !== 'v1') {
    yield issue([...path, 'apiVersion'], `is ${JSON.stringify(apiVersion)}`, 'v1');
  }
  const key = /^metadata\.(labels|annotations)\['([^']+)'\]$/.exec(fieldPath)?.[2];
  const isKnown = key === undefined ? FIELDS[where].includes(fieldPath) : isQualifiedName(key.toLowerCase());
  if (isKnown) return;
  const expected = [...FIELDS[where], "metadata.labels['<key>']", "metadata.annotations['<key>']"].join(', ');
  yield issue([...path, 'fieldPath'], `is ${JSON.stringify(fieldPath)}`, expected);
}

const RESOURCE = /^(limits|requests)\.(cpu|memory|ephemeral-storage|hugepages-.+)$/;
const DIVISORS: Readonly<Record<string, readonly string[]>> = {
  cpu: ['1m', '1'],
  memory: ['1', '1k', '1M', '1G', '1T', '1P', '1E', '1Ki', '1Mi', '1Gi', '1Ti', '1Pi', '1Ei'],
};

/** Source: pkg/apis/core/validation/validation.go validateContainerResourceFieldSelector. */
export function* validateResourceFieldRef(
  { containerName, resource, divisor }: Json<V1ResourceFieldSelector>,
  where: Where,
  path: FieldPath,
): Generator<FieldIssue> {
  if (where === 'volume' && !containerName) {
    yield issue([...path, 'containerName'], 'is missing', 'the name of the container with the resources');
  }
  const kind = RESOURCE.exec(resource)?.[2];
  if (kind === undefined) {
    const expected = 'limits. or requests. and cpu, memory, ephemeral-storage or hugepages-<size>';
    yield issue([...path, 'resource'], `is ${JSON.stringify(resource)}`, expected);
    return;
  }
  const divisors = DIVISORS[kind] ?? DIVISORS['memory']!;
  const amount = divisor === undefined ? 0n : parseQuantity(divisor);
  if (amount === 0n || divisors.some((text) => parseQuantity(text) === amount)) return;
  yield issue([...path, 'divisor'], `is ${divisor}`, divisors.join(', '));
}
