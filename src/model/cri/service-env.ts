import type { Service } from '../references/referenced-object.js';

/** The service of the API server, in any namespace. */
const MASTER = { namespace: 'default', name: 'kubernetes' };

export interface ServiceLinks {
  /** The namespace of the pod: the pod gets the variables of its services. */
  readonly namespace: string;
  /** `enableServiceLinks` of the pod; if false, it gets only the variables of the API server. */
  readonly isLinked: boolean;
}

/**
 * Returns the variables of services for a container: the address of each, by Kubernetes' convention and by that of
 * Docker's links. A service without a cluster address has none; a service of the pod's namespace replaces the API
 * server's of the same name.
 *
 * Source: pkg/kubelet/kubelet_pods.go getServiceEnvVarMap, pkg/kubelet/envvars/envvars.go FromServices
 */
export const serviceEnvironment = (
  services: readonly Service[],
  { namespace, isLinked }: ServiceLinks,
): Readonly<Record<string, string>> => {
  const seen = new Map<string, Service>();
  for (const service of services.filter(hasAddress)) {
    const { name = '', namespace: where } = service.metadata;
    const isMaster = where === MASTER.namespace && name === MASTER.name;
    if (isMaster ? !seen.has(name) : isLinked && where === namespace) seen.set(name, service);
  }
  // Two names may produce the same variables: sorting makes the result independent of the order of arrival.
  const inOrder = [...seen].sort(([a], [b]) => (a < b ? -1 : 1));
  return Object.fromEntries(inOrder.flatMap(([name, service]) => variablesOf(name, service)));
};

const hasAddress = ({ spec }: Service): boolean => !['', 'None', undefined].includes(spec?.clusterIP);

const variablesOf = (name: string, { spec }: Service): readonly (readonly [string, string])[] => {
  const { clusterIP: host = '', ports = [] } = spec ?? {};
  const prefix = variableName(name);
  const [first] = ports;
  if (!first) return [[`${prefix}_SERVICE_HOST`, host]];
  return [
    [`${prefix}_SERVICE_HOST`, host],
    [`${prefix}_SERVICE_PORT`, `${first.port}`],
    ...ports
      .filter((port) => port.name)
      .map((port) => [`${prefix}_SERVICE_PORT_${variableName(port.name ?? '')}`, `${port.port}`] as const),
    [`${prefix}_PORT`, addressOf(host, first)],
    ...ports.flatMap((port) => {
      const protocol = port.protocol || 'TCP';
      const link = `${prefix}_PORT_${port.port}_${protocol.toUpperCase()}`;
      return [
        [link, addressOf(host, port)],
        [`${link}_PROTO`, protocol.toLowerCase()],
        [`${link}_PORT`, `${port.port}`],
        [`${link}_ADDR`, host],
      ] as const;
    }),
  ];
};

const addressOf = (host: string, { port, protocol }: { readonly port: number; readonly protocol?: string }): string =>
  `${(protocol || 'TCP').toLowerCase()}://${host.includes(':') ? `[${host}]` : host}:${port}`;

const variableName = (name: string): string => name.replaceAll('-', '_').toUpperCase();
