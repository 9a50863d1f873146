import { checkShape } from './check-shape.js';
import { type FieldIssue, type FieldPath, formatFieldPath, issue } from './field-issue.js';
import { type ManifestDocument, parseDocuments, type Position } from './manifest-documents.js';
import type { ManifestProblem } from './manifest-problem.js';
import { withPodDefaults } from './pod-defaults.js';
import type { ManifestPod, PodManifest } from './pod-manifest.js';
import { podWarnings } from './pod-warnings.js';
import { staticPodRestrictions } from './static-pod-restrictions.js';
import { validatePod } from './validate-pod.js';

export interface ManifestReading {
  /** In the order of the text. */
  readonly pods: readonly ManifestPod[];
  /** In the order of the text. A pod with a problem is not among `pods`. */
  readonly problems: readonly ManifestProblem[];
  /** In the order of the text: what keeps no pod away, but will hardly do what was meant. */
  readonly warnings: readonly ManifestProblem[];
}

export interface ManifestOrigin {
  /** Names the text in problems. */
  readonly file: string;
}

export interface ManifestRules {
  /** Gate PreventStaticPodAPIReferences; on unless given. */
  readonly preventStaticPodApiReferences?: boolean;
}

/**
 * The pods of a YAML or JSON text, defaulted and validated, and everything that is wrong with the others. A document is a
 * Pod, a PodList or a List of pods; one with a problem does not stop the next.
 *
 * Errors: none; what cannot be read is a problem.
 * Source: pkg/kubelet/config/common.go tryDecodeSinglePod, tryDecodePodList.
 */
export const readManifest = (text: string, origin: ManifestOrigin, rules: ManifestRules = {}): ManifestReading => {
  if (text.replace(/^\uFEFF/, '').trim() === '') {
    const problem = { ...origin, document: 1, line: 1, column: 1, field: '', message: 'is empty', expected: 'a Pod' };
    return { pods: [], problems: [problem], warnings: [] };
  }
  const readings = parseDocuments(text).map((document) => readDocument(document, origin, rules));
  return {
    pods: readings.flatMap(({ pods }) => pods),
    problems: readings.flatMap(({ problems }) => problems),
    warnings: readings.flatMap(({ warnings }) => warnings),
  };
};

const readDocument = (document: ManifestDocument, origin: ManifestOrigin, rules: ManifestRules): ManifestReading => {
  const problemAt = (
    position: Position,
    field: string,
    { message, expected }: Pick<FieldIssue, 'message' | 'expected'>,
  ) => ({
    file: origin.file,
    document: document.document,
    line: position.line,
    column: position.column,
    field,
    message,
    ...(expected === undefined ? {} : { expected }),
  });
  if (document.errors.length > 0) {
    return { pods: [], problems: document.errors.map((error) => problemAt(error, '', error)), warnings: [] };
  }
  const { entries, issues } = entriesOf(document.value);
  const pods: ManifestPod[] = [];
  const doubts: FieldIssue[] = [];
  for (const { value, path } of entries) {
    const { pod, issues: podIssues } = readPod(value, path, rules);
    issues.push(...podIssues);
    if (!pod) continue;
    pods.push({ pod, document: document.document, ...document.locate({ path }) });
    doubts.push(...podWarnings(pod, path));
  }
  const inPlace = (found: readonly FieldIssue[]) =>
    found
      .map((one) => problemAt(document.locate(one), formatFieldPath(one.path), one))
      .sort((one, other) => one.line - other.line || one.column - other.column);
  return { pods, problems: inPlace(issues), warnings: inPlace(doubts) };
};

interface Entry {
  readonly value: unknown;
  readonly path: FieldPath;
}

/** The pods that a document says it holds, not yet looked into. */
const entriesOf = (value: unknown): { readonly entries: readonly Entry[]; readonly issues: FieldIssue[] } => {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    const what = Array.isArray(value) ? 'a list' : `the ${typeof value} ${JSON.stringify(value)}`;
    return { entries: [], issues: [issue([], `is ${what}`, 'a mapping with apiVersion, kind, metadata and spec')] };
  }
  const { apiVersion, kind } = value as { readonly apiVersion?: unknown; readonly kind?: unknown };
  if (kind === undefined || kind === null) return { entries: [], issues: [issue(['kind'], 'is missing', 'Pod')] };
  if (kind !== 'Pod' && kind !== 'PodList' && kind !== 'List') {
    const message = `${JSON.stringify(kind)} does not run on a node by itself; only pods do`;
    return { entries: [], issues: [issue(['kind'], message, 'Pod, PodList or List')] };
  }
  if (apiVersion !== 'v1') {
    const message = apiVersion === undefined || apiVersion === null ? 'is missing' : `is ${JSON.stringify(apiVersion)}`;
    return { entries: [], issues: [issue(['apiVersion'], message, 'v1')] };
  }
  if (kind === 'Pod') return { entries: [{ value, path: [] }], issues: [] };
  const { items, ...list } = value as { readonly items?: unknown };
  const { issues } = checkShape({ ...list, items: [] }, 'PodList');
  if (!Array.isArray(items))
    return { entries: [], issues: [...issues, issue(['items'], 'is missing', 'a list of pods')] };
  return {
    entries: items.map((item: unknown, index) => ({ value: item, path: ['items', index] })),
    issues: [...issues],
  };
};

const readPod = (
  value: unknown,
  path: FieldPath,
  { preventStaticPodApiReferences = true }: ManifestRules,
): { readonly pod?: PodManifest; readonly issues: readonly FieldIssue[] } => {
  const inList = path.length > 0;
  const { kind, apiVersion } = (value ?? {}) as { readonly kind?: unknown; readonly apiVersion?: unknown };
  if (inList && kind !== undefined && kind !== 'Pod') {
    const message = `${JSON.stringify(kind)} does not run on a node by itself; only pods do`;
    return { issues: [issue([...path, 'kind'], message, 'Pod')] };
  }
  if (inList && apiVersion !== undefined && apiVersion !== 'v1') {
    return { issues: [issue([...path, 'apiVersion'], `is ${JSON.stringify(apiVersion)}`, 'v1')] };
  }
  const shape = checkShape(value, 'Pod', path);
  const pod = shape.value as Partial<PodManifest> | undefined;
  const missing: FieldIssue[] = [];
  if (pod && pod.spec === undefined && !mentions(shape.issues, path, 'spec')) {
    missing.push(issue([...path, 'spec'], 'is missing', 'the containers of the pod'));
  }
  if (pod && !pod.metadata?.name && !mentions(shape.issues, path, 'metadata')) {
    missing.push(issue([...path, 'metadata', 'name'], 'is missing', 'a name for the pod'));
  }
  const shapeIssues = [...shape.issues, ...missing];
  if (shapeIssues.length > 0 || !pod) return { issues: shapeIssues };
  const defaulted = withPodDefaults(pod as PodManifest);
  const issues = [
    ...validatePod(defaulted, path),
    ...staticPodRestrictions(defaulted, path, { preventStaticPodApiReferences }),
  ];
  return issues.length > 0 ? { issues } : { pod: defaulted, issues: [] };
};

const mentions = (issues: readonly FieldIssue[], path: FieldPath, field: string): boolean =>
  issues.some((found) => found.path.length === path.length + 1 && found.path[path.length] === field);
