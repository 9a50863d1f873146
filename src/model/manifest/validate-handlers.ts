import { isStopSignal } from './stop-signals.js';
import type { Container, HttpGetAction, LifecycleHandler, PodSpec, Probe } from '../pod/pod.js';
import { type FieldIssue, type FieldPath, issue } from './field-issue.js';
import { checkOneOf, checkRange, checkText, PORT_NAME } from './names.js';

const PORTS = [1, 65_535] as const;
const NOT_NEGATIVE = [0, 2 ** 31 - 1] as const;
const HEADER_NAME = /^[-A-Za-z0-9]+$/;

export type ProbeKind = 'livenessProbe' | 'readinessProbe' | 'startupProbe';

/** Source: pkg/apis/core/validation/validation.go validateProbe, validateLivenessProbe, validateReadinessProbe. */
export function* validateProbe(probe: Probe, kind: ProbeKind, path: FieldPath): Generator<FieldIssue> {
  yield* validateOneHandler(probe, ['exec', 'httpGet', 'tcpSocket', 'grpc'], path);
  yield* validateActions(probe, path);
  if (probe.grpc) {
    yield* checkRange(probe.grpc.port, PORTS, [...path, 'grpc', 'port']);
    yield* checkOneOf(probe.grpc.mode, ['Plaintext', 'TLS'], [...path, 'grpc', 'mode']);
  }
  for (const field of [
    'initialDelaySeconds',
    'timeoutSeconds',
    'periodSeconds',
    'successThreshold',
    'failureThreshold',
  ] as const) {
    yield* checkRange(probe[field], NOT_NEGATIVE, [...path, field]);
  }
  if (kind !== 'readinessProbe' && probe.successThreshold !== 1 && (probe.successThreshold ?? 1) >= 0) {
    yield issue([...path, 'successThreshold'], `is ${probe.successThreshold}`, `1 in a ${kind}`);
  }
  const grace = probe.terminationGracePeriodSeconds;
  const at = [...path, 'terminationGracePeriodSeconds'];
  if (kind === 'readinessProbe' && grace !== undefined) {
    yield issue(at, 'is set in a readinessProbe', 'it only in a livenessProbe or startupProbe, which stop containers');
  } else yield* checkRange(grace, [1, Number.MAX_SAFE_INTEGER], at);
}

/** Source: pkg/apis/core/validation/validation.go validateLifecycle. */
export function* validateLifecycle(
  { postStart, preStop, stopSignal }: NonNullable<Container['lifecycle']>,
  spec: PodSpec,
  path: FieldPath,
): Generator<FieldIssue> {
  const handlers: Readonly<Record<string, LifecycleHandler | undefined>> = { postStart, preStop };
  for (const [name, handler] of Object.entries(handlers)) {
    if (!handler) continue;
    const at = [...path, name];
    yield* validateOneHandler(handler, ['exec', 'httpGet', 'tcpSocket', 'sleep'], at);
    yield* validateActions(handler, at);
    if (handler.httpGet?.protocol === 'HTTP2') {
      yield issue([...at, 'httpGet', 'protocol'], 'is "HTTP2" in a hook', 'HTTP1, since only probes speak HTTP/2');
    }
    const longest = spec.terminationGracePeriodSeconds ?? 30;
    if (handler.sleep) yield* checkRange(handler.sleep.seconds, [0, longest], [...at, 'sleep', 'seconds']);
  }
  if (stopSignal === undefined) return;
  const at = [...path, 'stopSignal'];
  const isUnknown = !isStopSignal(stopSignal) || (spec.os?.name === 'windows' && !/^SIG(KILL|TERM)$/.test(stopSignal));
  if (isUnknown)
    yield issue(at, `is ${JSON.stringify(stopSignal)}`, 'the name of a signal such as SIGTERM or SIGRTMIN+3');
  else if (!spec.os?.name) yield issue(at, 'is set without spec.os.name', 'spec.os.name beside it');
}

function* validateOneHandler(
  handler: Probe | LifecycleHandler,
  kinds: readonly string[],
  path: FieldPath,
): Generator<FieldIssue> {
  const [first, second] = Object.keys(handler).filter((field) => kinds.includes(field));
  if (first === undefined) yield issue(path, 'has no action', `one of ${kinds.join(', ')}`);
  if (second !== undefined) {
    yield { ...issue([...path, second], `is set beside ${first}`, `only one of ${kinds.join(', ')}`), atKey: true };
  }
}

function* validateActions(
  { exec, httpGet, tcpSocket }: Probe | LifecycleHandler,
  path: FieldPath,
): Generator<FieldIssue> {
  if (exec && !exec.command?.length) {
    yield issue([...path, 'exec', 'command'], 'is missing', 'a program and its arguments');
  }
  if (httpGet) yield* validateHttpGet(httpGet, [...path, 'httpGet']);
  if (tcpSocket) yield* validatePort(tcpSocket.port, [...path, 'tcpSocket', 'port']);
}

function* validateHttpGet(action: HttpGetAction, path: FieldPath): Generator<FieldIssue> {
  yield* validatePort(action.port, [...path, 'port']);
  yield* checkOneOf(action.scheme, ['HTTP', 'HTTPS'], [...path, 'scheme']);
  yield* checkOneOf(action.protocol, ['HTTP1', 'HTTP2'], [...path, 'protocol']);
  if (action.protocol === 'HTTP2') yield* validateHttp2(action, path);
  for (const [index, { name }] of (action.httpHeaders ?? []).entries()) {
    if (HEADER_NAME.test(name)) continue;
    const at = [...path, 'httpHeaders', index, 'name'];
    yield issue(at, `is ${JSON.stringify(name)}`, 'letters, digits and "-"');
  }
}

/** HTTP/2 is spoken without TLS, and to the pod. */
function* validateHttp2({ scheme, host }: HttpGetAction, path: FieldPath): Generator<FieldIssue> {
  if (scheme === 'HTTPS') yield issue([...path, 'scheme'], 'is "HTTPS" beside protocol HTTP2', 'HTTP');
  if (host)
    yield issue([...path, 'host'], 'is set beside protocol HTTP2', 'it to be absent, for the address of the pod');
}

function* validatePort(port: number | string, path: FieldPath): Generator<FieldIssue> {
  if (typeof port === 'number') yield* checkRange(port, PORTS, path);
  else yield* checkText(port, PORT_NAME, path);
}
