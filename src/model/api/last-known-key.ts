/** A list stands for all objects of its kind. */
export type LastKnownKind = 'ConfigMap' | 'Secret' | 'ServiceList' | 'RuntimeClassList';

/** By what something is kept for when the API server is away: `Secret default/token`. A list has neither namespace nor name. */
export const lastKnownKey = (kind: LastKnownKind, namespace: string, name: string): string =>
  `${kind} ${namespace}/${name}`;
