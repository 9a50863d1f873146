import type { Pod } from '../pod/pod.js';

/** A port of this machine that leads to one of a pod; `local` 0 takes a free one. */
export interface LocalPort {
  readonly local: number;
  readonly remote: number;
}

/** An address to listen on. */
export interface LocalAddress {
  readonly address: string;
  /** Whether the name `localhost` stands for it, of whose two addresses one is enough. */
  readonly isOfLocalhost: boolean;
}

/**
 * Parses the ports of `port-forward`: `REMOTE`, `LOCAL:REMOTE` or `:REMOTE`, where a remote port may be the name of a port of a
 * container.
 *
 * Errors: there is none, or one is malformed, in the texts of kubectl.
 * Source: staging/src/k8s.io/client-go/tools/portforward/portforward.go parsePorts;
 * staging/src/k8s.io/kubectl/pkg/cmd/portforward/portforward.go convertPodNamedPortToNumber
 */
export const localPorts = (texts: readonly string[], pod: Pod): readonly LocalPort[] => {
  if (texts.length === 0) throw new Error('at least 1 PORT is required for port-forward');
  return texts.map((text) => {
    const parts = text.split(':');
    if (parts.length > 2) throw new Error(`invalid port format '${text}'`);
    const [first = '', second] = parts;
    const remote = numberOf('remote', second ?? first, pod);
    if (remote === 0) throw new Error('remote port must be > 0');
    if (second === undefined) return { local: remote, remote };
    return { local: first === '' ? 0 : numberOf('local', first, undefined), remote };
  });
};

const LARGEST = 65_535;

const numberOf = (side: 'local' | 'remote', text: string, pod: Pod | undefined): number => {
  const problem = (why: string): Error =>
    new Error(`error parsing ${side} port '${text}': strconv.ParseUint: parsing ${JSON.stringify(text)}: ${why}`);
  if (/^\d+$/.test(text)) {
    if (Number(text) > LARGEST) throw problem('value out of range');
    return Number(text);
  }
  if (!pod || !/^[a-z0-9-]*[a-z][a-z0-9-]*$/i.test(text)) throw problem('invalid syntax');
  const named = [...pod.spec.containers, ...(pod.spec.initContainers ?? [])]
    .flatMap(({ ports = [] }) => ports)
    .find(({ name }) => name === text);
  if (!named) throw new Error(`Pod '${pod.metadata.name}' does not have a named port '${text}'`);
  return named.containerPort;
};

/**
 * Parses the addresses of `--address`; `isIp` checks one.
 *
 * Errors: one is neither an IP address nor `localhost`.
 * Source: staging/src/k8s.io/client-go/tools/portforward/portforward.go parseAddresses
 */
export const localAddresses = (text: string, isIp: (address: string) => boolean): readonly LocalAddress[] => {
  const addresses = text.split(',').flatMap((part): readonly LocalAddress[] => {
    const address = part.trim();
    if (address === 'localhost') return ['127.0.0.1', '::1'].map((one) => ({ address: one, isOfLocalhost: true }));
    if (!isIp(address)) throw new Error(`${address} is not a valid IP`);
    return [{ address, isOfLocalhost: false }];
  });
  return addresses.filter(({ address }, index) => addresses.findIndex((other) => other.address === address) === index);
};
