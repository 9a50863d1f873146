/** A list represents all objects of its kind. */
export type LastKnownKind = 'ConfigMap' | 'Secret' | 'ServiceList' | 'RuntimeClassList' | 'ClusterTrustBundleList';

/**
 * Returns the key under which an object is kept for times without the API server: `Secret default/token`. A list has
 * neither namespace nor name.
 */
export const lastKnownKey = (kind: LastKnownKind, namespace: string, name: string): string =>
  `${kind} ${namespace}/${name}`;
