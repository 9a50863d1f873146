import type { Pod } from '../../model/pod/pod.js';

export interface StreamRequest {
  readonly kind: 'exec' | 'attach';
  readonly pod: Pod;
  readonly container: string;
  readonly command?: readonly string[];
  readonly stdin: boolean;
  readonly tty: boolean;
}

const encoded = (parts: readonly string[]): string => parts.map((part) => `/${encodeURIComponent(part)}`).join('');

/** The path of a command or an attachment in the kubelet API; a terminal carries both outputs. */
export const streamRequestPath = ({ kind, pod, container, command = [], stdin, tty }: StreamRequest): string => {
  const { namespace, name } = pod.metadata;
  const query = new URLSearchParams();
  for (const part of command) query.append('command', part);
  for (const one of [...(stdin ? ['input'] : []), 'output', tty ? 'tty' : 'error']) query.append(one, '1');
  return `${encoded([kind, namespace, name, container])}?${query.toString()}`;
};

/** The path of port forwarding. */
export const forwardRequestPath = ({ metadata: { namespace, name } }: Pod): string =>
  encoded(['portForward', namespace, name]);
