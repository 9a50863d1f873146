import { type Container, isSidecar, type PodSpec } from '../pod/pod.js';
import { isIpAddress } from '../values/ip-address.js';
import { type FieldIssue, type FieldPath, issue } from './field-issue.js';
import { checkOneOf, checkRange, checkText, checkUnique, DNS_LABEL, PORT_NAME } from './names.js';
import { validateEnv } from './validate-env.js';
import { type ProbeKind, validateLifecycle, validateProbe } from './validate-handlers.js';
import { validateMounts } from './validate-mounts.js';
import { validateResources } from './validate-resources.js';
import { validateSecurityContext } from './validate-security-context.js';
import type { VolumesByName } from './volume-defaults.js';

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
  const known: KnownNames = {
    volumes: new Map((spec.volumes ?? []).map((volume) => [volume.name, volume])),
    claims: new Set((spec.resourceClaims ?? []).map(({ name }) => name)),
  };
  for (const { container, at } of all) yield* validateContainer(container, spec, known, at);
  for (const [index, container] of (spec.initContainers ?? []).entries()) {
    if (isSidecar(container)) continue;
    for (const field of ['lifecycle', 'resizePolicy', ...PROBES] as const) {
      if (container[field] === undefined || (field === 'resizePolicy' && !restartsOnResize(container))) continue;
      const message = 'cannot be set on an init container that runs to its end';
      yield { ...issue([...path, 'initContainers', index, field], message, 'restartPolicy: Always'), atKey: true };
    }
  }
}

/** The fields of the pod to which containers refer. */
interface KnownNames {
  readonly volumes: VolumesByName;
  readonly claims: ReadonlySet<string>;
}

function* validateContainer(
  container: Container,
  spec: PodSpec,
  { volumes, claims }: KnownNames,
  path: FieldPath,
): Generator<FieldIssue> {
  yield* checkText(container.name, DNS_LABEL, [...path, 'name']);
  if (!container.image) yield issue([...path, 'image'], 'is missing', 'the name of an image');
  else if (container.image.trim() !== container.image) {
    yield issue([...path, 'image'], 'begins or ends with a space', 'the name of an image');
  }
  yield* checkOneOf(container.imagePullPolicy, ['Always', 'IfNotPresent', 'Never'], [...path, 'imagePullPolicy']);
  const messagePolicies = ['File', 'FallbackToLogsOnError'];
  yield* checkOneOf(container.terminationMessagePolicy, messagePolicies, [...path, 'terminationMessagePolicy']);
  yield* validateRestart(container, path);
  yield* validateResizePolicy(container, spec, [...path, 'resizePolicy']);
  yield* validatePorts(container, path);
  yield* validateEnv(container, volumes, path);
  yield* validateMounts(container, volumes, path);
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
      yield issue([...at, index, 'exitCodes'], 'is missing', 'the exit codes of the rule');
      continue;
    }
    yield* checkOneOf(exitCodes.operator, ['In', 'NotIn'], [...at, index, 'exitCodes', 'operator']);
    const values = exitCodes.values ?? [];
    const where = [...at, index, 'exitCodes', 'values'];
    if (values.length > MAX_EXIT_CODES) {
      yield issue(where, `has ${values.length} entries`, `at most ${MAX_EXIT_CODES}`);
    }
  }
}

/** Source: pkg/apis/core/validation/validation.go validateResizePolicy. */
function* validateResizePolicy(
  { resizePolicy = [] }: Container,
  { restartPolicy }: PodSpec,
  path: FieldPath,
): Generator<FieldIssue> {
  yield* checkUnique(
    resizePolicy.map(({ resourceName }, index) => ({ key: resourceName, path: [...path, index, 'resourceName'] })),
    'resource',
  );
  for (const [index, policy] of resizePolicy.entries()) {
    yield* checkOneOf(policy.resourceName, ['cpu', 'memory'], [...path, index, 'resourceName']);
    const at = [...path, index, 'restartPolicy'];
    if (restartPolicy === 'Never' && policy.restartPolicy === 'RestartContainer') {
      yield issue(at, 'is RestartContainer beside restartPolicy Never of the pod', 'NotRequired');
    } else yield* checkOneOf(policy.restartPolicy, ['NotRequired', 'RestartContainer'], at);
  }
}

const restartsOnResize = ({ resizePolicy = [] }: Container): boolean =>
  resizePolicy.some(({ restartPolicy }) => restartPolicy === 'RestartContainer');
