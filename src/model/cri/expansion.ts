import { type EnvValue, joinedValues } from './env-value.js';

/**
 * Replaces each `$(NAME)` whose name `lookup` knows. `$$` is a dollar; all other text stays, unknown names included;
 * values are not expanded again. Source: third_party/forked/golang/expansion/expand.go.
 */
export const expand = (text: string, lookup: (name: string) => string | undefined): string =>
  text.replace(REFERENCE, (reference, name: string | undefined) =>
    name === undefined ? '$' : (lookup(name) ?? reference),
  );

const REFERENCE = /\$(?:\$|\(([^)]*)\))/g;

/** The same with values that may be bytes. */
export const expandValue = (text: string, lookup: (name: string) => EnvValue | undefined): EnvValue => {
  const parts: EnvValue[] = [];
  let end = 0;
  for (const { 0: reference, 1: name, index } of text.matchAll(REFERENCE)) {
    parts.push(text.slice(end, index), name === undefined ? '$' : (lookup(name) ?? reference));
    end = index + reference.length;
  }
  return joinedValues([...parts, text.slice(end)]);
};
