import { CreateContainerConfigError } from './create-container-config-error.js';
import { type EnvValue, joinedValues } from './env-value.js';

/**
 * The longest environment, and the longest command, in characters or bytes: no process of Linux starts with more. Without a limit a few
 * variables that each contain the one before twice would fill the memory of the agent.
 *
 * Source: fs/exec.c bprm_stack_limits, three quarters of _STK_LIM. The kubelet has no limit of its own.
 */
const MOST_EXPANDED = 6 * 2 ** 20;

/** Counts lengths. Errors: `CreateContainerConfigError` once the sum is larger than the limit. */
export const expansionBudget = (): ((length: number) => void) => {
  let left = MOST_EXPANDED;
  return (length) => {
    left -= length;
    if (left >= 0) return;
    throw new CreateContainerConfigError(
      `the variables or the command are longer than ${MOST_EXPANDED / 2 ** 20} MiB, with which no process starts`,
    );
  };
};

/**
 * Replaces each `$(NAME)` whose name `lookup` knows. `$$` is a dollar; all other text stays, unknown names included;
 * values are not expanded again.
 *
 * Errors: `CreateContainerConfigError` for values that are too long in all.
 * Source: third_party/forked/golang/expansion/expand.go.
 */
export const expand = (text: string, lookup: (name: string) => string | undefined): string => {
  const spend = expansionBudget();
  return text.replace(REFERENCE, (reference, name: string | undefined) => {
    const value = name === undefined ? '$' : (lookup(name) ?? reference);
    spend(value.length);
    return value;
  });
};

/** The same of the words of a command. */
export const expandWords = (words: readonly string[], lookup: (name: string) => string | undefined): string[] => {
  const spend = expansionBudget();
  return words.map((word) => {
    const expanded = expand(word, lookup);
    spend(expanded.length);
    return expanded;
  });
};

const REFERENCE = /\$(?:\$|\(([^)]*)\))/g;

/** The same with values that may be bytes. */
export const expandValue = (text: string, lookup: (name: string) => EnvValue | undefined): EnvValue => {
  const parts: EnvValue[] = [];
  const spend = expansionBudget();
  let end = 0;
  for (const { 0: reference, 1: name, index } of text.matchAll(REFERENCE)) {
    const value = name === undefined ? '$' : (lookup(name) ?? reference);
    spend(value.length);
    parts.push(text.slice(end, index), value);
    end = index + reference.length;
  }
  return joinedValues([...parts, text.slice(end)]);
};
