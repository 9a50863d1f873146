/** A kind of object that the simulated API server keeps. */
export interface ApiResource {
  readonly group: string;
  readonly version: string;
  readonly plural: string;
  readonly kind: string;
  readonly isNamespaced: boolean;
  /** Its status has a path of its own, and is written only there. */
  readonly hasStatus?: boolean;
  /** Counts changes of its spec. */
  readonly hasGeneration?: boolean;
  /** The fields of selectors beside the name and the namespace. */
  readonly selectable?: readonly string[];
}

const core = (plural: string, kind: string, more: Partial<ApiResource> = {}): ApiResource => ({
  group: '',
  version: 'v1',
  plural,
  kind,
  isNamespaced: true,
  ...more,
});

export const PODS = core('pods', 'Pod', {
  hasStatus: true,
  hasGeneration: true,
  selectable: ['spec.nodeName', 'spec.restartPolicy', 'spec.schedulerName', 'status.phase'],
});
export const NODES = core('nodes', 'Node', {
  isNamespaced: false,
  hasStatus: true,
  selectable: ['spec.unschedulable'],
});
export const EVENTS = core('events', 'Event', {
  selectable: ['involvedObject.kind', 'involvedObject.name', 'involvedObject.namespace', 'reason', 'type'],
});
export const CONFIG_MAPS = core('configmaps', 'ConfigMap');
export const SECRETS = core('secrets', 'Secret', { selectable: ['type'] });
export const SERVICES = core('services', 'Service', { hasStatus: true, selectable: ['spec.clusterIP', 'spec.type'] });
export const SERVICE_ACCOUNTS = core('serviceaccounts', 'ServiceAccount');
const NAMESPACES = core('namespaces', 'Namespace', { isNamespaced: false, hasStatus: true });
export const LEASES: ApiResource = {
  group: 'coordination.k8s.io',
  version: 'v1',
  plural: 'leases',
  kind: 'Lease',
  isNamespaced: true,
};
export const RUNTIME_CLASSES: ApiResource = {
  group: 'node.k8s.io',
  version: 'v1',
  plural: 'runtimeclasses',
  kind: 'RuntimeClass',
  isNamespaced: false,
};
export const SIGNING_REQUESTS: ApiResource = {
  group: 'certificates.k8s.io',
  version: 'v1',
  plural: 'certificatesigningrequests',
  kind: 'CertificateSigningRequest',
  isNamespaced: false,
  hasStatus: true,
};
export const TRUST_BUNDLES: ApiResource = {
  group: 'certificates.k8s.io',
  version: 'v1',
  plural: 'clustertrustbundles',
  kind: 'ClusterTrustBundle',
  isNamespaced: false,
};
export const POD_CERTIFICATE_REQUESTS: ApiResource = {
  group: 'certificates.k8s.io',
  version: 'v1',
  plural: 'podcertificaterequests',
  kind: 'PodCertificateRequest',
  isNamespaced: true,
  hasStatus: true,
  selectable: ['spec.signerName', 'spec.podName', 'spec.nodeName'],
};

const RESOURCES: readonly ApiResource[] = [
  ...[PODS, NODES, EVENTS, CONFIG_MAPS, SECRETS, SERVICES, SERVICE_ACCOUNTS, NAMESPACES],
  ...[LEASES, RUNTIME_CLASSES, SIGNING_REQUESTS, TRUST_BUNDLES, POD_CERTIFICATE_REQUESTS],
];

export const apiVersionOf = ({ group, version }: ApiResource): string =>
  group === '' ? version : `${group}/${version}`;

/** Returns `pods`, or `leases.coordination.k8s.io`: the form of error messages. */
export const qualifiedName = ({ plural, group }: ApiResource): string => (group === '' ? plural : `${plural}.${group}`);

/** Returns the resources of `/apis/<group>/<version>`; undefined for another path. */
export const resourcesAt = (path: string): readonly ApiResource[] | undefined => {
  const [, root, group, version, ...more] = path.split('/');
  if (root !== 'apis' || version === undefined || more.length > 0) return undefined;
  return RESOURCES.filter((one) => one.group === group && one.version === version);
};

/** The object or list of an API path. */
export interface ApiTarget {
  readonly resource: ApiResource;
  /** Empty for cluster-scoped objects, and for those of all namespaces. */
  readonly namespace: string;
  /** Undefined for all objects of the kind. */
  readonly name?: string;
  /** Such as `status`. */
  readonly subresource?: string;
}

/** Parses a path; undefined if the server does not serve it. */
export const targetOf = (path: string): ApiTarget | undefined => {
  const [root, ...rest] = path.split('/').slice(1).map(decodeURIComponent);
  const [group = '', version = '', ...parts] = root === 'api' ? ['', ...rest] : root === 'apis' ? rest : [];
  const namespace = parts[0] === 'namespaces' && parts.length > 2 ? parts[1]! : '';
  const [plural, name, subresource, ...more] = namespace === '' ? parts : parts.slice(2);
  const resource = RESOURCES.find((one) => one.plural === plural && one.group === group && one.version === version);
  if (!resource || more.length > 0 || name === '') return undefined;
  if (resource.isNamespaced ? namespace === '' && name !== undefined : namespace !== '') return undefined;
  return {
    resource,
    namespace,
    ...(name !== undefined && { name }),
    ...(subresource !== undefined && { subresource }),
  };
};
