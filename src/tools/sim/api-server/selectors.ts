import { badRequest } from './api-refusals.js';
import type { ApiResource } from './api-resource.js';
import type { StoredObject } from './stored-object.js';

export type Selects = (object: StoredObject) => boolean;

const COMMON = ['metadata.name', 'metadata.namespace'];

/** Errors: throws for a field by which objects of this kind cannot be selected. */
export const fieldSelector = (resource: ApiResource, text: string): Selects => {
  const terms = split(text).map((term) => {
    const [, field = '', operator = '', value = ''] = /^(.*?)(!=|==|=)(.*)$/.exec(term) ?? [];
    if (operator === '') throw badRequest(`invalid selector: '${term}'; can't understand '${term}'`);
    if (!COMMON.includes(field) && !resource.selectable?.includes(field))
      throw badRequest(`field label not supported: ${field}`);
    return (object: StoredObject) => (asText(at(object, field)) === value) === (operator !== '!=');
  });
  return (object) => terms.every((selects) => selects(object));
};

/** Errors: throws for an invalid selector. */
export const labelSelector = (text: string): Selects => {
  const terms = splitOutsideBrackets(text).map(labelTerm);
  return ({ metadata }) => terms.every((selects) => selects(metadata.labels ?? {}));
};

type Labels = Readonly<Record<string, string>>;

const labelTerm = (term: string): ((labels: Labels) => boolean) => {
  const among = /^(\S+)\s+(in|notin)\s+\(([^)]*)\)$/.exec(term);
  if (among) {
    const [, key = '', operator, list = ''] = among;
    const values = split(list);
    return (labels) => (key in labels && values.includes(labels[key]!)) === (operator === 'in');
  }
  const equal = /^([^!=\s]+)\s*(!=|==|=)\s*(\S*)$/.exec(term);
  if (equal) {
    const [, key = '', operator, value] = equal;
    return (labels) => (labels[key] === value) === (operator !== '!=');
  }
  const there = /^(!?)([^!=\s]+)$/.exec(term);
  if (!there) throw badRequest(`unable to parse requirement: ${term}`);
  const [, not, key = ''] = there;
  return (labels) => key in labels === (not === '');
};

const split = (text: string): readonly string[] =>
  text
    .split(',')
    .map((term) => term.trim())
    .filter((term) => term !== '');

const splitOutsideBrackets = (text: string): readonly string[] =>
  text
    .split(/,(?![^(]*\))/)
    .map((term) => term.trim())
    .filter((term) => term !== '');

const at = (object: StoredObject, field: string): unknown =>
  field
    .split('.')
    .reduce<unknown>((value, name) => (value as Readonly<Record<string, unknown>> | undefined)?.[name], object);

/** An absent field is selected as the empty text. */
const asText = (value: unknown): string =>
  typeof value === 'string' ? value : value === undefined ? '' : JSON.stringify(value);
