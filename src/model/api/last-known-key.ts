/** By what a ConfigMap or Secret is kept for when the API server is away: `Secret default/token`. */
export const lastKnownKey = (kind: 'ConfigMap' | 'Secret', namespace: string, name: string): string =>
  `${kind} ${namespace}/${name}`;
