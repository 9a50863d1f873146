export const TYPE_OF_PODS = 'ApiPod';

/** The resources whose replies the agent reads, and their types in the schema table. */
const TYPES: Readonly<Record<string, string>> = {
  pods: TYPE_OF_PODS,
  nodes: 'Node',
  configmaps: 'ConfigMap',
  secrets: 'Secret',
  services: 'Service',
  runtimeclasses: 'RuntimeClass',
  leases: 'Lease',
  certificatesigningrequests: 'CertificateSigningRequest',
  clustertrustbundles: 'ClusterTrustBundle',
};

interface ResourcePath {
  readonly resource: string;
  /** The name of an object, and its subresource. */
  readonly rest: readonly string[];
}

/** Parses `/api/v1/namespaces/default/pods/web/status`. */
const resourcePathOf = (path: string): ResourcePath => {
  const [root = '', ...parts] = path.split('/').slice(1);
  const ofVersion = parts.slice(root === 'apis' ? 2 : 1);
  const [resource = '', ...rest] = ofVersion[0] === 'namespaces' ? ofVersion.slice(2) : ofVersion;
  return { resource, rest };
};

const typeOf = (resource: string): string | undefined => (Object.hasOwn(TYPES, resource) ? TYPES[resource] : undefined);

/** Returns the type of the items of a collection; undefined for a collection that the agent does not read. */
export const typeOfItems = (path: string): string | undefined => typeOf(resourcePathOf(path).resource);

/** Returns the type of the object in the reply to a request; undefined if the agent reads no object from it. */
export const typeOfAnswer = (method: string, path: string): string | undefined => {
  const { resource, rest } = resourcePathOf(path);
  const [, subresource] = rest;
  // The reply to a deletion may be the object or a Status.
  if (method === 'DELETE') return undefined;
  if (rest.length === 0) return method === 'POST' ? typeOf(resource) : undefined;
  return subresource === undefined || subresource === 'status' ? typeOf(resource) : undefined;
};
