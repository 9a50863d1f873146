import { type Container, isSidecar, type PodSpec } from '../pod.js';
import { isIpAddress } from '../ip-address.js';
import { type FieldIssue, type FieldPath, issue } from './field-issue.js';
import { checkOneOf, checkRange, checkText, checkUnique, DNS_LABEL, PORT_NAME } from './names.js';
import { validateEnv } from './validate-env.js';
import { type ProbeKind, validateLifecycle, validateProbe } from './validate-handlers.js';
import { validateMounts } from './validate-mounts.js';
import { validateResources } from './validate-resources.js';
import { validateSecurityContext } from './validate-security-context.js';

const PROBES: readonly ProbeKind[] = ['livenessProbe', 'readinessProbe', 'startupProbe'];
const PORTS = [1, 65_535] as const;
const MAX_RULES = 20;
const MAX_EXIT_CODES = 255;

/** Source: pkg/apis/core/validation/validation.go validateContainers, validateInitContainers. */
export function* validateContainers(spec: PodSpec, path: FieldPath): Generator<FieldIssue> {
  if (spec.containers.length === 0) yield issue([...path, 'containers'], 'is empty', 'at least one container');
  const all = [
    ...(spec.initContainers ?? []).map((container, index) => ({ container, at: [...path, 'initContainers', index] })),
    ...spec.containers.map((container, index) => ({ container, at: [...path, 'containers', index] })),
  ];
  yield* checkUnique(
    all.map(({ container, at }) => ({ key: container.name, path: [...at, 'name'] })),
    'name',
  );
  for (const { container, at } of all) yield* validateContainer(container, spec, at);
  for (const [index, container] of (spec.initContainers ?? []).entries()) {
    if (isSidecar(container)) continue;
    for (const field of ['lifecycle', ...PROBES] as const) {
      if (container[field] === undefined) continue;
      const message = 'cannot be set on an init container that runs to its end';
      yield { ...issue([...path, 'initContainers', index, field], message, 'restartPolicy: Always'), atKey: true };
    }
  }
}

function* validateContainer(container: Container, spec: PodSpec, path: FieldPath): Generator<FieldIssue> {
  yield* checkText(container.name, DNS_LABEL, [...path, 'name']);
  if (!container.image) yield issue([...path, 'image'], 'is missing', 'the name of an image');
  else if (container.image.trim() !== container.image) {
    yield issue([...path, 'image'], 'begins or ends with a space', 'the name of an image');
  }
  yield* checkOneOf(container.imagePullPolicy, ['Always', 'IfNotPresent', 'Never'], [...path, 'imagePullPolicy']);
  const messagePolicies = ['File', 'FallbackToLogsOnError'];
  yield* checkOneOf(container.terminationMessagePolicy, messagePolicies, [...path, 'terminationMessagePolicy']);
  yield* validateRestart(container, path);
  yield* validatePorts(container, path);
  yield* validateEnv(container, spec.volumes ?? [], path);
  yield* validateMounts(container, spec.volumes ?? [], path);
  const claims = (spec.resourceClaims ?? []).map(({ name }) => name);
  yield* validateResources(container.resources ?? {}, claims, [...path, 'resources']);
  for (const kind of PROBES) {
    const probe = container[kind];
    if (probe) yield* validateProbe(probe, kind, [...path, kind]);
  }
  if (container.lifecycle) yield* validateLifecycle(container.lifecycle, spec, [...path, 'lifecycle']);
  if (container.securityContext) {
    yield* validateSecurityContext(container.securityContext, spec, [...path, 'securityContext']);
  }
}

function* validatePorts({ ports = [] }: Container, path: FieldPath): Generator<FieldIssue> {
  yield* checkUnique(
    ports.flatMap(({ name }, index) => (name ? [{ key: name, path: [...path, 'ports', index, 'name'] }] : [])),
    'name',
  );
  for (const [index, port] of ports.entries()) {
    const at = [...path, 'ports', index];
    if (port.name) yield* checkText(port.name, PORT_NAME, [...at, 'name']);
    yield* checkRange(port.containerPort, PORTS, [...at, 'containerPort']);
    if (port.hostPort) yield* checkRange(port.hostPort, PORTS, [...at, 'hostPort']);
    yield* checkOneOf(port.protocol, ['TCP', 'UDP', 'SCTP'], [...at, 'protocol']);
    if (port.hostIP && !isIpAddress(port.hostIP)) {
      yield issue([...at, 'hostIP'], `is ${JSON.stringify(port.hostIP)}`, 'an IP address');
    }
  }
}

/** Source: pkg/apis/core/validation/validation.go validateContainerRestartPolicy. */
function* validateRestart({ restartPolicy, restartPolicyRules }: Container, path: FieldPath): Generator<FieldIssue> {
  yield* checkOneOf(restartPolicy, ['Always', 'OnFailure', 'Never'], [...path, 'restartPolicy']);
  if (!restartPolicyRules?.length) return;
  const at = [...path, 'restartPolicyRules'];
  if (restartPolicy === undefined) {
    yield issue([...path, 'restartPolicy'], 'is missing', 'it beside restartPolicyRules');
  }
  if (restartPolicyRules.length > MAX_RULES) {
    yield issue(at, `has ${restartPolicyRules.length} entries`, `at most ${MAX_RULES}`);
  }
  for (const [index, { action, exitCodes }] of restartPolicyRules.entries()) {
    yield* checkOneOf(action, ['Restart', 'RestartAllContainers'], [...at, index, 'action']);
    if (!exitCodes) {
      yield issue([...at, index, 'exitCodes'], 'is missing', 'the exit codes that the rule is about');
      continue;
    }
    yield* checkOneOf(exitCodes.operator, ['In', 'NotIn'], [...at, index, 'exitCodes', 'operator']);
    const values = exitCodes.values ?? [];
    const where = [...at, index, 'exitCodes', 'values'];
    if (values.length === 0 || values.length > MAX_EXIT_CODES) {
      yield issue(where, `has ${values.length} entries`, `1 to ${MAX_EXIT_CODES}`);
    }
    for (const [item, value] of values.entries()) yield* checkRange(value, [0, 255], [...where, item]);
  }
}
