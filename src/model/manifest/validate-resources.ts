import type { V1ResourceRequirements } from '@kubernetes/client-node';
import { type Json, type PodSpec } from '../pod/pod.js';
import { parseQuantity, unitValue } from '../resources/quantity.js';
import { containersTogether } from '../resources/resource-list.js';
import { type FieldIssue, type FieldPath, issue } from './field-issue.js';
import { isQualifiedName } from './names.js';

type Resources = Json<V1ResourceRequirements>;

const NANOS = 1_000_000_000n;
const isHugePages = (name: string): boolean => name.startsWith('hugepages-');
const isStandard = (name: string): boolean =>
  ['cpu', 'memory', 'ephemeral-storage'].includes(name) || isHugePages(name);
/** A reserved name of Kubernetes, which the API does not validate further. */
const isReserved = (name: string): boolean => isQualifiedName(name) && name.includes('kubernetes.io/');
/** A vendor's device, such as `example.com/gpu`. */
const isExtended = (name: string): boolean =>
  isQualifiedName(name) && name.includes('/') && !name.includes('kubernetes.io/');
const isOfContainer = (name: string): boolean => isStandard(name) || isReserved(name) || isExtended(name);
/** A resource that only one container can request at a time. */
const isCountable = (name: string): boolean => isExtended(name) || isHugePages(name);

/** Source: pkg/apis/core/validation/validation.go ValidateContainerResourceRequirements. */
export function* validateResources(
  resources: Resources,
  claims: ReadonlySet<string>,
  path: FieldPath,
): Generator<FieldIssue> {
  yield* validateAmounts(resources, path, isOfContainer);
  yield* checkHugePagesAlone(resources, path);
  for (const [index, { name }] of (resources.claims ?? []).entries()) {
    if (claims.has(name)) continue;
    yield issue(
      [...path, 'claims', index, 'name'],
      `is ${JSON.stringify(name)}`,
      'the name of one of spec.resourceClaims',
    );
  }
}

/** Source: pkg/apis/core/validation/validation.go validatePodResources. */
export function* validatePodResources(spec: PodSpec, path: FieldPath): Generator<FieldIssue> {
  for (const [name, text] of Object.entries(spec.overhead ?? {})) {
    const at = [...path, 'overhead', name];
    if (!isOfContainer(name)) yield unknownResource(at);
    yield* validateAmount(name, text, at);
  }
  yield* checkHugePagesAlone({ limits: spec.overhead }, [...path, 'overhead']);
  if (!spec.resources) return;
  const at = [...path, 'resources'];
  if (spec.resources.claims) yield notOfPod([...at, 'claims']);
  yield* validateAmounts(spec.resources, at, (name) => ['cpu', 'memory'].includes(name) || isHugePages(name));
  yield* checkHugePagesAlone(spec.resources, at);
  for (const [name, together] of Object.entries(containersTogether(spec, 'requests'))) {
    const own = spec.resources.requests?.[name];
    if (own === undefined || !isMore(together, own)) continue;
    yield issue([...at, 'requests', name], `is ${own}`, `at least ${together}, the sum of the containers`);
  }
  for (const [index, container] of spec.containers.entries()) {
    for (const [name, limit] of Object.entries(container.resources?.limits ?? {})) {
      const most = spec.resources.limits?.[name];
      if (most === undefined || !isMore(limit, most)) continue;
      const where = [...path, 'containers', index, 'resources', 'limits', name];
      yield issue(where, `is ${limit}`, `at most ${most}, the limit of the pod`);
    }
  }
}

function* checkHugePagesAlone(resources: Resources, path: FieldPath): Generator<FieldIssue> {
  const names = Object.keys({ ...resources.limits, ...resources.requests });
  if (names.some(isHugePages) && !names.includes('cpu') && !names.includes('memory')) {
    yield issue(path, 'requests only huge pages', 'cpu or memory beside them');
  }
}

function* validateAmounts(
  { limits = {}, requests = {} }: Resources,
  path: FieldPath,
  isKnown: (name: string) => boolean,
): Generator<FieldIssue> {
  for (const [list, amounts] of Object.entries({ limits, requests })) {
    for (const [name, text] of Object.entries(amounts)) {
      // The request may be a copy of the limit: an issue of both is reported for the limit.
      if (list === 'requests' && limits[name] === text) continue;
      const at = [...path, list, name];
      if (!isKnown(name)) {
        yield unknownResource(at);
      }
      yield* validateAmount(name, text, at);
    }
  }
  for (const [name, request] of Object.entries(requests)) {
    const limit = limits[name];
    const at = [...path, 'requests', name];
    if (limit === undefined) {
      if (isCountable(name)) yield issue(at, 'has no limit beside it', `the same amount in limits`);
    } else if (isMore(request, limit)) yield issue(at, `is ${request}`, `at most ${limit}, the limit`);
    else if (isCountable(name) && isMore(limit, request)) {
      yield issue(at, `is ${request}`, `${limit}, exactly the limit`);
    }
  }
}

function* validateAmount(name: string, text: string, path: FieldPath): Generator<FieldIssue> {
  const amount = parseQuantity(text);
  if (amount === undefined) yield issue(path, `is ${JSON.stringify(text)}`, 'a quantity');
  else if (amount < 0n) yield issue(path, `is ${text}`, '0 or more');
  else if (isExtended(name) && amount % NANOS !== 0n) yield issue(path, `is ${text}`, 'a whole number');
  else if (isHugePages(name) && !isInPages(name, amount)) {
    yield issue(path, `is ${text}`, `a multiple of the size of a page, ${name.slice('hugepages-'.length)}`);
  }
}

const notOfPod = (path: FieldPath): FieldIssue => ({
  ...issue(path, 'cannot be set for the pod as a whole', 'claims of its containers'),
  atKey: true,
});

const unknownResource = (path: FieldPath): FieldIssue => {
  const expected = 'cpu, memory, ephemeral-storage, hugepages-<size> or domain/name';
  return { ...issue(path, 'is not a resource that a container or pod can request', expected), atKey: true };
};

/** Source: pkg/apis/core/helper/helpers.go IsHugePageResourceValueDivisible. */
const isInPages = (name: string, amount: bigint): boolean => {
  const size = parseQuantity(name.slice('hugepages-'.length)) ?? 0n;
  return size > 0n && size % NANOS === 0n && (unitValue(amount) * NANOS) % size === 0n;
};

const isMore = (one: string, other: string): boolean => (parseQuantity(one) ?? 0n) > (parseQuantity(other) ?? 0n);
