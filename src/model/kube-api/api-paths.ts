/** A kind of object that the API server serves. */
interface Resource {
  /** Empty for the core group. */
  readonly group: string;
  readonly version: string;
  /** Plural and in lower case, such as `pods`. */
  readonly resource: string;
}

const core = (resource: string): Resource => ({ group: '', version: 'v1', resource });
const grouped = (group: string, resource: string): Resource => ({ group, version: 'v1', resource });

const PODS = core('pods');
const NODES = core('nodes');
const EVENTS = core('events');
const CONFIG_MAPS = core('configmaps');
const SECRETS = core('secrets');
const SERVICES = core('services');
const SERVICE_ACCOUNTS = core('serviceaccounts');
const LEASES = grouped('coordination.k8s.io', 'leases');
const RUNTIME_CLASSES = grouped('node.k8s.io', 'runtimeclasses');
const CERTIFICATE_SIGNING_REQUESTS = grouped('certificates.k8s.io', 'certificatesigningrequests');
const POD_CERTIFICATE_REQUESTS = grouped('certificates.k8s.io', 'podcertificaterequests');

/**
 * Returns the path from the root; every part of it is escaped. Without a namespace: a cluster-scoped path, or all
 * namespaces.
 *
 * Errors: throws for a name that would change the path; pods may refer to any name. Source: client-go rest/request.go
 * Name
 */
const pathOf = ({ group, version, resource }: Resource, namespace: string | undefined, ...rest: string[]): string =>
  [
    '',
    ...(group === '' ? ['api', version] : ['apis', group, version]),
    ...(namespace === undefined ? [] : ['namespaces', namespace]),
    resource,
    ...rest,
  ]
    .map(segmentOf)
    .join('/');

const segmentOf = (name: string): string => {
  if (name === '.' || name === '..') throw new Error(`invalid name ${JSON.stringify(name)} of an object of the API`);
  return encodeURIComponent(name);
};

/** Pods of a namespace, or of all of them. */
export const podsPath = (namespace?: string): string => pathOf(PODS, namespace);
export const podPath = (namespace: string, name: string): string => pathOf(PODS, namespace, name);
export const podStatusPath = (namespace: string, name: string): string => pathOf(PODS, namespace, name, 'status');

export const nodesPath = (): string => pathOf(NODES, undefined);
export const nodePath = (name: string): string => pathOf(NODES, undefined, name);
export const nodeStatusPath = (name: string): string => pathOf(NODES, undefined, name, 'status');

/** Leases of a namespace; those of nodes are in `kube-node-lease`. */
export const leasesPath = (namespace: string): string => pathOf(LEASES, namespace);
export const leasePath = (namespace: string, name: string): string => pathOf(LEASES, namespace, name);

/** Events of a namespace, in the core group, which the kubelet uses. */
export const eventsPath = (namespace: string): string => pathOf(EVENTS, namespace);
export const eventPath = (namespace: string, name: string): string => pathOf(EVENTS, namespace, name);

export const configMapsPath = (namespace: string): string => pathOf(CONFIG_MAPS, namespace);
export const configMapPath = (namespace: string, name: string): string => pathOf(CONFIG_MAPS, namespace, name);
export const secretsPath = (namespace: string): string => pathOf(SECRETS, namespace);
export const secretPath = (namespace: string, name: string): string => pathOf(SECRETS, namespace, name);

/** Services of a namespace, or of all of them. */
export const servicesPath = (namespace?: string): string => pathOf(SERVICES, namespace);
export const runtimeClassesPath = (): string => pathOf(RUNTIME_CLASSES, undefined);

export const serviceAccountPath = (namespace: string, name: string): string =>
  pathOf(SERVICE_ACCOUNTS, namespace, name);
/** Returns the path for tokens of a service account, with a TokenRequest as the body. */
export const serviceAccountTokenPath = (namespace: string, name: string): string =>
  pathOf(SERVICE_ACCOUNTS, namespace, name, 'token');

export const certificateSigningRequestsPath = (): string => pathOf(CERTIFICATE_SIGNING_REQUESTS, undefined);
export const certificateSigningRequestPath = (name: string): string =>
  pathOf(CERTIFICATE_SIGNING_REQUESTS, undefined, name);

/** The API versions of trust bundles, the newest first. Source: pkg/kubelet/clustertrustbundle ensureManagerSet */
export const TRUST_BUNDLE_VERSIONS = ['v1', 'v1beta1', 'v1alpha1'] as const;
export type TrustBundleVersion = (typeof TRUST_BUNDLE_VERSIONS)[number];
export const clusterTrustBundlesPath = (version: TrustBundleVersion): string =>
  pathOf({ group: 'certificates.k8s.io', version, resource: 'clustertrustbundles' }, undefined);
/** Returns the path of the list of the resources that the server has in the group of trust bundles. */
export const trustBundleResourcesPath = (version: TrustBundleVersion): string => `/apis/certificates.k8s.io/${version}`;

/** Requests for certificates of pods of a namespace, or of all of them. */
export const podCertificateRequestsPath = (namespace?: string): string => pathOf(POD_CERTIFICATE_REQUESTS, namespace);
