/** The manifest of a ConfigMap. */
export const configMap = (name: string, data: Readonly<Record<string, string>>): string =>
  JSON.stringify({ apiVersion: 'v1', kind: 'ConfigMap', metadata: { name }, data });

/** The manifest of a Secret, with its values as plain text. */
export const secret = (name: string, stringData: Readonly<Record<string, string>>): string =>
  JSON.stringify({ apiVersion: 'v1', kind: 'Secret', metadata: { name }, stringData });
