import type { V1LabelSelector } from '@kubernetes/client-node';
import type { Json } from '../pod/pod.js';
import { type FieldIssue, type FieldPath, issue } from './field-issue.js';
import { checkText, isQualifiedName, LABEL_VALUE, QUALIFIED_NAME } from './names.js';
import { validateLabels } from './validate-metadata.js';

type LabelSelector = Json<V1LabelSelector>;

export function* checkLabelKey(key: string, path: FieldPath): Generator<FieldIssue> {
  if (!isQualifiedName(key)) yield issue(path, `is ${JSON.stringify(key)}`, QUALIFIED_NAME);
}

/** Source: staging/src/k8s.io/apimachinery/pkg/apis/meta/v1/validation/validation.go ValidateLabelSelector. */
export function* validateLabelSelector(
  { matchLabels = {}, matchExpressions = [] }: LabelSelector,
  path: FieldPath,
): Generator<FieldIssue> {
  yield* validateLabels(matchLabels, [...path, 'matchLabels']);
  for (const [index, { key, operator, values = [] }] of matchExpressions.entries()) {
    const at = [...path, 'matchExpressions', index];
    yield* checkLabelKey(key, [...at, 'key']);
    if (operator === 'In' || operator === 'NotIn') {
      if (values.length === 0) yield issue([...at, 'values'], 'is missing', `at least one value beside ${operator}`);
    } else if (operator === 'Exists' || operator === 'DoesNotExist') {
      if (values.length > 0) yield issue([...at, 'values'], `is set beside ${operator}`, 'no values');
    } else yield issue([...at, 'operator'], `is ${JSON.stringify(operator)}`, 'In, NotIn, Exists, DoesNotExist');
    for (const [item, value] of values.entries()) yield* checkText(value, LABEL_VALUE, [...at, 'values', item]);
  }
}

/**
 * Validates label keys whose values come from the pod itself. Source: pkg/apis/core/validation/validation.go
 * ValidateMatchLabelKeysAndMismatchLabelKeys.
 */
export function* validateMatchLabelKeys(
  keys: { readonly matchLabelKeys?: readonly string[]; readonly mismatchLabelKeys?: readonly string[] },
  selector: LabelSelector | undefined,
  path: FieldPath,
): Generator<FieldIssue> {
  const { matchLabelKeys = [], mismatchLabelKeys = [] } = keys;
  for (const [field, list] of Object.entries({ matchLabelKeys, mismatchLabelKeys })) {
    if (list.length > 0 && !selector) yield issue([...path, field], 'is set without labelSelector', 'it beside it');
    else for (const [index, key] of list.entries()) yield* checkLabelKey(key, [...path, field, index]);
  }
  const selected = new Set(Object.keys(selector?.matchLabels ?? {}));
  for (const { key } of selector?.matchExpressions ?? []) {
    const at = matchLabelKeys.lastIndexOf(key);
    if (at >= 0 && selected.has(key)) {
      yield issue(
        [...path, 'matchLabelKeys', at],
        `is ${JSON.stringify(key)}`,
        'a key that labelSelector does not have',
      );
    }
    selected.add(key);
  }
  for (const [index, key] of matchLabelKeys.entries()) {
    if (!mismatchLabelKeys.includes(key)) continue;
    yield issue(
      [...path, 'matchLabelKeys', index],
      `is ${JSON.stringify(key)}`,
      'a key that mismatchLabelKeys does not have',
    );
  }
}
