import type { V1ResourceRequirements } from '@kubernetes/client-node';
import { type Json, type PodSpec } from '../pod.js';
import { parseQuantity } from '../quantity.js';
import { type FieldIssue, type FieldPath, issue } from './field-issue.js';
import { isQualifiedName } from './names.js';
import { containerRequests } from './pod-level-requests.js';

type Resources = Json<V1ResourceRequirements>;

const NANOS = 1_000_000_000n;
const isHugePages = (name: string): boolean => name.startsWith('hugepages-');
const isStandard = (name: string): boolean =>
  ['cpu', 'memory', 'ephemeral-storage'].includes(name) || isHugePages(name);
/** A device of somebody's own, such as `example.com/gpu`. */
const isExtended = (name: string): boolean =>
  isQualifiedName(name) && name.includes('/') && !name.includes('kubernetes.io/');
/** Cannot be promised to more than one container at once. */
const isCountable = (name: string): boolean => isExtended(name) || isHugePages(name);

/** Source: pkg/apis/core/validation/validation.go ValidateContainerResourceRequirements. */
export function* validateResources(
  resources: Resources,
  claims: readonly string[],
  path: FieldPath,
): Generator<FieldIssue> {
  yield* validateAmounts(resources, path, (name) => isStandard(name) || isExtended(name));
  const names = Object.keys({ ...resources.limits, ...resources.requests });
  if (names.some(isHugePages) && !names.includes('cpu') && !names.includes('memory')) {
    yield issue(path, 'asks for huge pages alone', 'cpu or memory beside them');
  }
  for (const [index, { name }] of (resources.claims ?? []).entries()) {
    if (claims.includes(name)) continue;
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
    yield* validateAmount(name, text, [...path, 'overhead', name]);
  }
  if (!spec.resources) return;
  const at = [...path, 'resources'];
  yield* validateAmounts(spec.resources, at, (name) => ['cpu', 'memory'].includes(name) || isHugePages(name));
  for (const [name, together] of Object.entries(containerRequests(spec))) {
    const own = spec.resources.requests?.[name];
    if (own === undefined || !isMore(together, own)) continue;
    yield issue([...at, 'requests', name], `is ${own}`, `at least ${together}, which the containers ask for together`);
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

function* validateAmounts(
  { limits = {}, requests = {} }: Resources,
  path: FieldPath,
  isKnown: (name: string) => boolean,
): Generator<FieldIssue> {
  for (const [list, amounts] of Object.entries({ limits, requests })) {
    for (const [name, text] of Object.entries(amounts)) {
      // A request may have come from its limit; what is wrong with both is said of the limit.
      if (list === 'requests' && limits[name] === text) continue;
      const at = [...path, list, name];
      if (!isKnown(name)) {
        const expected = 'cpu, memory, ephemeral-storage, hugepages-<size> or domain/name';
        yield { ...issue(at, 'is not a resource that can be asked for here', expected), atKey: true };
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
}

const isMore = (one: string, other: string): boolean => (parseQuantity(one) ?? 0n) > (parseQuantity(other) ?? 0n);
