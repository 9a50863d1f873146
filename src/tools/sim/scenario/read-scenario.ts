import { type FieldIssue, type FieldPath, formatFieldPath } from '../../../model/manifest/field-issue.js';
import { parseDocuments, type Position } from '../../../model/manifest/manifest-documents.js';
import type { ManifestProblem } from '../../../model/manifest/manifest-problem.js';
import { NOTHING_ASSUMED, type Scenario } from './scenario.js';
import { fieldIssues, isMapping, REPORT } from './read-field.js';
import { scenarioFields } from './scenario-fields.js';

export interface ScenarioReading {
  /** Empty if there is a problem. */
  readonly scenario: Scenario;
  /** In the order of the text. */
  readonly problems: readonly ManifestProblem[];
  /** Returns the problem of an issue with a field of this text. */
  readonly problemAt: (issue: FieldIssue) => ManifestProblem;
}

/**
 * Reads the scenario of a YAML or JSON text with one document. An empty text has no assumptions.
 *
 * Errors: none; a text that cannot be read is a problem, with its place.
 */
export const readScenario = (text: string, file: string): ScenarioReading => {
  const [document, second] = parseDocuments(text);
  const problem = (
    { line, column }: Position,
    field: string,
    { message, expected }: { readonly message: string; readonly expected?: string },
  ): ManifestProblem => ({
    file,
    document: 1,
    line,
    column,
    field,
    message,
    ...(expected === undefined ? {} : { expected }),
  });
  const problemAt = (issue: FieldIssue): ManifestProblem => {
    const path = asWritten(issue.path, document?.value);
    return problem(document?.locate({ ...issue, path }) ?? { line: 1, column: 1 }, formatFieldPath(path), issue);
  };
  if (!document) return { scenario: NOTHING_ASSUMED, problems: [], problemAt };
  if (document.errors.length > 0)
    return {
      scenario: NOTHING_ASSUMED,
      problems: document.errors.map((error) => problem(error, '', error)),
      problemAt,
    };
  const { data: scenario = NOTHING_ASSUMED, error } = scenarioFields.safeParse(document.value, REPORT);
  const problems = error ? fieldIssues(error).map(problemAt) : [];
  if (second)
    problems.push(
      problem(second.locate({ path: [] }), '', { message: 'is a second document', expected: 'one scenario in a file' }),
    );
  return {
    scenario,
    problems: problems.toSorted((one, other) => one.line - other.line || one.column - other.column),
    problemAt,
  };
};

/** Without the positions of lists that are written as their single item. */
const asWritten = (path: FieldPath, document: unknown): FieldPath => {
  let value = document;
  return path.filter((part) => {
    if (typeof part === 'number' && !Array.isArray(value)) return false;
    value = isMapping(value) || Array.isArray(value) ? (value as Record<string | number, unknown>)[part] : undefined;
    return true;
  });
};
