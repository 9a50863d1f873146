import { checkShape } from './check-shape.js';
import { cutQuotes } from './cut-quotes.js';
import { type FieldIssue, type FieldPath, formatFieldPath, issue } from './field-issue.js';
import { type ManifestDocument, parseDocuments, type Position } from './manifest-documents.js';
import { entriesOf } from './manifest-entries.js';
import type { ManifestProblem } from './manifest-problem.js';
import { isObjectKind, type ManifestObject } from './object-manifest.js';
import { withPodDefaults } from './pod-defaults.js';
import type { ManifestPod, PodManifest } from './pod-manifest.js';
import { podWarnings } from './pod-warnings.js';
import { readObject } from './read-object.js';
import { podContentHash } from './source-defaults.js';
import { type StaticPodRules, staticPodRestrictions } from './static-pod-restrictions.js';
import { withoutApiAdditions } from './without-api-additions.js';
import { validatePod } from './validate-pod.js';

export interface ManifestReading {
  /** In the order of the text. */
  readonly pods: readonly ManifestPod[];
  /** In the order of the text: ConfigMaps and Secrets for pods of the same source. */
  readonly objects: readonly ManifestObject[];
  /** In the order of the text. A pod with a problem is not in `pods`, an object with a problem not in `objects`. */
  readonly problems: readonly ManifestProblem[];
  /** In the order of the text: fields that keep no pod from running, but will hardly do what the author meant. */
  readonly warnings: readonly ManifestProblem[];
}

export interface ManifestOrigin {
  /** The name of the text in problems. */
  readonly file: string;
}

/** Without an API server, with the gate for references, and without alpha gates by default. */
export interface ManifestRules extends Partial<StaticPodRules> {
  /** The alpha gates that are on: each allows the fields of newer releases behind it. */
  readonly gates?: readonly string[];
}

/**
 * Returns the pods, ConfigMaps and Secrets of a YAML or JSON text, defaulted and validated, and every problem of the
 * others. A document is one of them or a list; a document with a problem does not stop the next one.
 *
 * Errors: none; a text that cannot be read is a problem.
 * Source: pkg/kubelet/config/common.go tryDecodeSinglePod, tryDecodePodList.
 */
export const readManifest = (text: string, origin: ManifestOrigin, rules: ManifestRules = {}): ManifestReading => {
  if (text.replace(/^\uFEFF/, '').trim() === '') {
    const problem = { ...origin, document: 1, line: 1, column: 1, field: '', message: 'is empty', expected: 'a Pod' };
    return { pods: [], objects: [], problems: [problem], warnings: [] };
  }
  const readings = parseDocuments(text).map((document) => readDocument(document, origin, rules));
  return {
    pods: readings.flatMap(({ pods }) => pods),
    objects: readings.flatMap(({ objects }) => objects),
    problems: readings.flatMap(({ problems }) => problems),
    warnings: readings.flatMap(({ warnings }) => warnings),
  };
};

/** The most problems of one document that are reported, since a document with more is not a manifest. */
const MOST_PROBLEMS = 1000;

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
    message: cutQuotes(message),
    ...(expected === undefined ? {} : { expected: cutQuotes(expected) }),
  });
  if (document.errors.length > 0) {
    const problems = document.errors.map((error) => problemAt(error, '', error));
    return { pods: [], objects: [], problems, warnings: [] };
  }
  const { entries, issues } = entriesOf(document.value, rules);
  const pods: ManifestPod[] = [];
  const objects: ManifestObject[] = [];
  const doubts: FieldIssue[] = [];
  for (const { value, path, kind } of entries) {
    const place = () => ({ document: document.document, ...document.locate({ path }) });
    if (isObjectKind(kind)) {
      const { object, issues: objectIssues } = readObject(value, kind, path);
      for (const found of objectIssues) issues.push(found);
      if (object) objects.push({ object, ...place() });
      continue;
    }
    const { pod, issues: podIssues, warnings = [] } = readPod(value, path, rules);
    for (const found of podIssues) issues.push(found);
    if (!pod) continue;
    pods.push({ pod, ...place(), contentHash: podContentHash(pod) });
    doubts.push(...warnings, ...podWarnings(pod, path));
  }
  const inPlace = (found: readonly FieldIssue[]): readonly ManifestProblem[] => {
    const placed = found
      .map((one) => ({ issue: one, position: document.locate(one) }))
      .sort(({ position: one }, { position: other }) => one.line - other.line || one.column - other.column);
    const reported = placed.slice(0, MOST_PROBLEMS);
    const problems = reported.map((one) => problemAt(one.position, formatFieldPath(one.issue.path), one.issue));
    const next = placed[MOST_PROBLEMS];
    if (!next) return problems;
    return [
      ...problems,
      problemAt(next.position, '', { message: `${placed.length - reported.length} more problems follow` }),
    ];
  };
  return { pods, objects, problems: inPlace(issues), warnings: inPlace(doubts) };
};

const readPod = (
  value: unknown,
  path: FieldPath,
  { hasApiServer = false, preventStaticPodApiReferences = true, gates }: ManifestRules,
): {
  readonly pod?: PodManifest;
  readonly issues: readonly FieldIssue[];
  readonly warnings?: readonly FieldIssue[];
} => {
  const shape = checkShape(value, 'Pod', path, gates);
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
  const { pod: own, warnings } = withoutApiAdditions(defaulted, path);
  const issues = [
    ...validatePod(defaulted, path),
    ...staticPodRestrictions(own, path, { hasApiServer, preventStaticPodApiReferences }),
  ];
  return issues.length > 0 ? { issues } : { pod: own, issues: [], warnings };
};

const mentions = (issues: readonly FieldIssue[], path: FieldPath, field: string): boolean =>
  issues.some((found) => found.path.length === path.length + 1 && found.path[path.length] === field);
