import { fnv1a128Hex } from '../values/fnv.js';
import type { SourceObject } from '../references/source-object.js';
import { checkShape } from './check-shape.js';
import { type FieldIssue, type FieldPath, issue } from './field-issue.js';
import type { ObjectKind } from './object-manifest.js';
import { unquotedIssues } from './unquoted-issues.js';
import { type ConfigMapManifest, type SecretManifest, validateConfigMap, validateSecret } from './validate-objects.js';

type Texts = Readonly<Record<string, string>>;

/**
 * Returns a ConfigMap or a Secret as pods use it, or its issues; `stringData` of a Secret is part of its data. No issue quotes the
 * data of a Secret.
 *
 * Source: pkg/apis/core/v1/conversion.go Convert_v1_Secret_To_core_Secret.
 */
export const readObject = (
  value: unknown,
  kind: ObjectKind,
  path: FieldPath,
): { readonly object?: SourceObject; readonly issues: readonly FieldIssue[] } => {
  const shape = checkShape(value, kind, path);
  const found = shape.value as Partial<ConfigMapManifest & SecretManifest> | undefined;
  const missing: FieldIssue[] = [];
  const isMetadataWrong = shape.issues.some(({ path: at }) => at[path.length] === 'metadata');
  if (found && !found.metadata?.name && !isMetadataWrong) {
    missing.push(issue([...path, 'metadata', 'name'], 'is missing', `a name for the ${kind}`));
  }
  const issues = [...shape.issues, ...missing];
  const quiet = (all: readonly FieldIssue[]) => (kind === 'Secret' ? unquotedIssues(all, value, path) : all);
  if (issues.length > 0 || !found?.metadata) return { issues: quiet(issues) };
  const { name = '', namespace = '', uid = '' } = found.metadata;
  const metadata = { ...found.metadata, name };
  const named = {
    apiVersion: 'v1' as const,
    metadata: {
      name,
      namespace: namespace || 'default',
      // By which pull records know a Secret.
      uid: uid || fnv1a128Hex(`${kind} ${namespace || 'default'}/${name}`),
    },
    ...(found.immutable === true && { immutable: true }),
  };
  if (kind === 'ConfigMap') {
    const { data = {} } = found;
    const binaryData = plainBase64(found.binaryData ?? {});
    const faults = [...validateConfigMap({ metadata, data, binaryData }, path)];
    if (faults.length > 0) return { issues: faults };
    return { object: { kind, ...named, data, binaryData }, issues: [] };
  }
  const { stringData = {} } = found;
  const type = found.type || 'Opaque';
  const encoded = Object.entries(stringData).map(([key, text]) => [key, Buffer.from(text).toString('base64')] as const);
  const data: Texts = { ...plainBase64(found.data ?? {}), ...Object.fromEntries(encoded) };
  const fieldOf = (key: string): string => (Object.hasOwn(stringData, key) ? 'stringData' : 'data');
  const faults = [...validateSecret({ metadata, data, type }, path, fieldOf)];
  if (faults.length > 0) return { issues: quiet(faults) };
  return { object: { kind, ...named, type, data }, issues: [] };
};

/** Go's decoder skips line breaks, which other code may not. */
const plainBase64 = (data: Texts): Texts =>
  Object.fromEntries(Object.entries(data).map(([key, text]) => [key, text.replace(/[\r\n]/g, '')]));
