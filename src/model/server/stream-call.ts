import type { AttachRequest, ExecRequest, PortForwardRequest } from '../../generated/runtime/v1/api.js';
import { type Pod, podFullName, type PodRef } from '../pod/pod.js';
import { type FindRunning, podNamed, runningContainerId } from './named-pod.js';
import { forwardedPorts, streamOptions } from './stream-options.js';
import type { StreamPath } from './stream-path.js';
import type { StreamRefusal } from './stream-refusal.js';

/** The call of the runtime that returns the URL of a stream. */
export type StreamCall =
  | { readonly kind: 'exec'; readonly request: ExecRequest }
  | { readonly kind: 'attach'; readonly request: AttachRequest }
  | { readonly kind: 'portForward'; readonly pod: PodRef; readonly request: PortForwardRequest };

export interface StreamSubject {
  /** The pods that the agent wants to run. */
  readonly pods: () => readonly Pod[];
  readonly findRunning: FindRunning;
}

export interface StreamAsked {
  readonly path: StreamPath;
  readonly query: URLSearchParams;
  readonly isWebSocket: boolean;
}

/**
 * Returns the call of the runtime for a request, or the refusal. The pod is that of the name; its container is the running
 * one, and its sandbox the newest, in any state.
 *
 * Source: pkg/kubelet/server/server.go getExec, getAttach, getPortForward; pkg/kubelet/kubelet_pods.go
 */
export const streamCall = (asked: StreamAsked, subject: StreamSubject): StreamCall | StreamRefusal =>
  asked.path.kind === 'portForward' ? forwardCall(asked, subject) : commandCall(asked, asked.path.kind, subject);

const commandCall = (
  { path, query }: StreamAsked,
  kind: 'exec' | 'attach',
  subject: StreamSubject,
): StreamCall | StreamRefusal => {
  const options = streamOptions(query);
  if ('status' in options) return options;
  const pod = podOf(path, subject);
  if (!pod) return NO_POD;
  const name = path.container ?? '';
  const containerId = runningContainerId(subject.findRunning, pod, { container: name, uid: path.uid });
  if (kind === 'exec') {
    if (containerId === undefined) return failed(`container not found (${JSON.stringify(name)})`);
    return { kind, request: { containerId, cmd: query.getAll('command'), ...options } };
  }
  const spec = containersOf(pod).find((container) => container.name === name);
  if (containerId === undefined || !spec) return failed(`container ${name} not found in pod ${podFullName(pod)}`);
  // A process has its terminal from its start on.
  return { kind, request: { containerId, ...options, tty: spec.tty ?? false } };
};

const forwardCall = ({ path, query, isWebSocket }: StreamAsked, subject: StreamSubject): StreamCall | StreamRefusal => {
  const port = forwardedPorts(query, isWebSocket);
  if ('status' in port) return port;
  const pod = podOf(path, subject);
  if (!pod) return NO_POD;
  const { uid } = pod.metadata;
  if (path.uid !== undefined && path.uid !== uid) return { status: 404, body: 'pod not found' };
  const { namespace, name } = pod.metadata;
  const ref = { namespace, name, uid };
  const running = subject.findRunning(ref);
  if (!running) return failed(`pod not found (${JSON.stringify(podFullName(pod))})`);
  const [sandbox] = running.sandboxes;
  if (!sandbox) return failed(`failed to find sandboxID for pod ${podFullName(pod)}(${uid})`);
  return { kind: 'portForward', pod: ref, request: { podSandboxId: sandbox.id, port: [...port] } };
};

const NO_POD: StreamRefusal = { status: 404, body: 'pod does not exist' };
const failed = (body: string): StreamRefusal => ({ status: 500, body });

const podOf = ({ namespace, pod }: StreamPath, { pods }: StreamSubject): Pod | undefined =>
  podNamed(pods(), namespace, pod);

const containersOf = ({ spec }: Pod): readonly { readonly name: string; readonly tty?: boolean }[] => [
  ...spec.containers,
  ...(spec.initContainers ?? []),
  ...(spec.ephemeralContainers ?? []),
];
