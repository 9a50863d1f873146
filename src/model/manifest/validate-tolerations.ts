import type { PodSpec } from '../pod/pod.js';
import { type FieldIssue, type FieldPath, issue } from './field-issue.js';
import { checkOneOf, checkText, isQualifiedName, LABEL_VALUE, QUALIFIED_NAME } from './names.js';

/** Source: pkg/apis/core/validation/validation.go ValidateTolerations. */
export function* validateTolerations(
  tolerations: NonNullable<PodSpec['tolerations']>,
  path: FieldPath,
): Generator<FieldIssue> {
  for (const [index, { key, operator, value, effect, tolerationSeconds }] of tolerations.entries()) {
    const at = [...path, index];
    if (key && !isQualifiedName(key)) yield issue([...at, 'key'], `is ${JSON.stringify(key)}`, QUALIFIED_NAME);
    if (!key && operator !== 'Exists') {
      yield issue([...at, 'operator'], 'does not go with an empty key', 'Exists, which matches every key');
    }
    yield* checkOneOf(operator, ['', 'Exists', 'Equal'], [...at, 'operator']);
    if (operator === 'Exists' && value) {
      yield issue([...at, 'value'], `is ${JSON.stringify(value)}`, 'no value beside operator Exists');
    } else if (value) yield* checkText(value, LABEL_VALUE, [...at, 'value']);
    yield* checkOneOf(effect, ['', 'NoSchedule', 'PreferNoSchedule', 'NoExecute'], [...at, 'effect']);
    if (tolerationSeconds !== undefined && effect !== 'NoExecute') {
      yield issue([...at, 'tolerationSeconds'], 'only goes with effect NoExecute', 'effect: NoExecute');
    }
  }
}
