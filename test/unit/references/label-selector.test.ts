import { describe, expect, it } from 'vitest';
import { labelMatcher, type LabelSelector } from '../../../src/model/references/label-selector.js';

const expression = (operator: string, ...values: string[]): LabelSelector => ({
  matchExpressions: [{ key: 'tier', operator, values }],
});
const [A, B, NONE] = [{ tier: 'a' }, { tier: 'b', extra: '' }, {}];

describe('a label selector', () => {
  it.each<[string, LabelSelector | undefined, readonly object[]]>([
    ['that is absent', undefined, []],
    ['without conditions', {}, [A, B, NONE]],
    ['with empty conditions', { matchLabels: {}, matchExpressions: [] }, [A, B, NONE]],
    ['with a label', { matchLabels: { tier: 'a' } }, [A]],
    ['with two labels', { matchLabels: { tier: 'b', extra: '' } }, [B]],
    ['with the name of a method of objects', { matchLabels: { toString: 'a' } }, []],
    ['with In', expression('In', 'b', 'c'), [B]],
    ['with NotIn, also without the label', expression('NotIn', 'b'), [A, NONE]],
    ['with Exists', expression('Exists'), [A, B]],
    ['with DoesNotExist', expression('DoesNotExist'), [NONE]],
    ['with both', { matchLabels: { extra: '' }, ...expression('In', 'a') }, []],
  ])('%s matches', (_, selector, expected) => {
    expect([A, B, NONE].filter(labelMatcher(selector).matches)).toEqual(expected);
  });

  it.each([
    [expression('Like', 'a'), '"Like" is not a valid label selector operator'],
    [expression('In'), "values: Invalid value: []: for 'in', 'notin' operators, values set can't be empty"],
    [expression('NotIn'), "values: Invalid value: []: for 'in', 'notin' operators, values set can't be empty"],
  ])('is refused: %j', (selector, message) => expect(() => labelMatcher(selector)).toThrow(message));

  it.each<[LabelSelector | undefined, string]>([
    [undefined, ''],
    [{ matchLabels: { a: 'b', c: 'ä' } }, 'a=b,c=ä'],
    [expression('In', 'b', 'a'), 'tier in (a,b)'],
    [expression('NotIn', 'b'), 'tier notin (b)'],
    [expression('Exists'), 'tier'],
    [expression('DoesNotExist'), '!tier'],
  ])('%j is as long as %s', (selector, text) => expect(labelMatcher(selector).length).toBe(Buffer.byteLength(text)));
});
