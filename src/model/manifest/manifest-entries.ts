import { checkShape, describeWrong } from './check-shape.js';
import { type FieldIssue, type FieldPath, issue } from './field-issue.js';
import { isObjectKind, type ObjectKind } from './object-manifest.js';
import type { StaticPodRules } from './static-pod-restrictions.js';

type Rules = Partial<Pick<StaticPodRules, 'hasApiServer'>>;

/** An object of a document before it is validated. */
export interface ManifestEntry {
  readonly kind: 'Pod' | ObjectKind;
  readonly value: unknown;
  readonly path: FieldPath;
}

export interface ManifestEntries {
  readonly entries: readonly ManifestEntry[];
  readonly issues: FieldIssue[];
}

/** The kind of the items of a list, where the items do not name one; `undefined` if each item has to. */
const LISTS: ReadonlyMap<unknown, ManifestEntry['kind']> = new Map([
  ['List', 'Pod'],
  ['PodList', 'Pod'],
  ['ConfigMapList', 'ConfigMap'],
  ['SecretList', 'Secret'],
]);

/** Returns the pods and the other objects of a document. */
export const entriesOf = (value: unknown, rules: Rules): ManifestEntries => {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    const what = Array.isArray(value) ? 'a list' : `the ${typeof value} ${JSON.stringify(value)}`;
    return { entries: [], issues: [issue([], `is ${what}`, 'a mapping with apiVersion, kind, metadata and spec')] };
  }
  const { apiVersion, kind } = value as { readonly apiVersion?: unknown; readonly kind?: unknown };
  if (kind === undefined || kind === null) return { entries: [], issues: [issue(['kind'], 'is missing', 'Pod')] };
  const itemKind = LISTS.get(kind);
  const wrong = wrongKind(itemKind ?? kind, kind, rules);
  if (wrong) return { entries: [], issues: [issue(['kind'], ...wrong)] };
  if (apiVersion !== 'v1') {
    const message = apiVersion === undefined || apiVersion === null ? 'is missing' : `is ${JSON.stringify(apiVersion)}`;
    return { entries: [], issues: [issue(['apiVersion'], message, 'v1')] };
  }
  if (itemKind === undefined)
    return { entries: [{ kind: isObjectKind(kind) ? kind : 'Pod', value, path: [] }], issues: [] };
  return itemsOf(value, itemKind, rules);
};

const itemsOf = (value: object, itemKind: ManifestEntry['kind'], rules: Rules): ManifestEntries => {
  const { items: written, ...list } = value as { readonly kind?: unknown; readonly items?: unknown };
  // A kubelet writes an empty list of pods as null.
  const items = written ?? [];
  const issues = [...checkShape({ ...list, items: [] }, 'PodList').issues];
  const isMixed = list.kind === 'List';
  if (!Array.isArray(items)) {
    const expected = itemKind === 'Pod' ? 'a list of pods' : `a list of ${itemKind}s`;
    return { entries: [], issues: [...issues, issue(['items'], describeWrong(items, 'list'), expected)] };
  }
  const entries: ManifestEntry[] = [];
  for (const [index, item] of (items as readonly unknown[]).entries()) {
    const path = ['items', index];
    const of = (item ?? {}) as { readonly kind?: unknown; readonly apiVersion?: unknown };
    const kind = of.kind ?? itemKind;
    const apiVersion = of.apiVersion ?? 'v1';
    const wrong = isMixed
      ? wrongKind(kind, kind, rules)
      : kind === itemKind
        ? undefined
        : ([`is ${JSON.stringify(kind)}`, itemKind] as const);
    if (wrong) issues.push(issue([...path, 'kind'], ...wrong));
    else if (apiVersion !== 'v1') issues.push(issue([...path, 'apiVersion'], `is ${JSON.stringify(apiVersion)}`, 'v1'));
    else entries.push({ kind: isObjectKind(kind) ? kind : 'Pod', value: item, path });
  }
  return { entries, issues };
};

/** Returns what is wrong with the kind of a document, and the expected kinds. */
const wrongKind = (
  kind: unknown,
  written: unknown,
  { hasApiServer }: Rules,
): readonly [message: string, expected: string] | undefined => {
  if (kind === 'Pod') return undefined;
  const name = JSON.stringify(written);
  if (!isObjectKind(kind))
    return [`${name} does not run on a node by itself; only pods do`, 'Pod, ConfigMap, Secret, or a list of these'];
  if (!hasApiServer) return undefined;
  return [`${name} of a manifest is used only on a node without an API server`, 'Pod, PodList or List'];
};
