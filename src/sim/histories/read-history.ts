import type { History } from './history.js';

const LISTS = ['pods', 'faults'] as const;
const NUMBERS = ['seed', 'quietFromMs', 'endMs'] as const;
const OBJECTS = ['node', 'behaviours'] as const;

/** The history that a text holds, as `JSON.stringify` wrote it; else what is wrong with it. */
export const readHistory = (text: string): History | string => {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (error) {
    return `is no JSON: ${error instanceof Error ? error.message : String(error)}`;
  }
  if (typeof value !== 'object' || value === null) return 'holds no history: expected an object';
  const fields = value as Readonly<Record<string, unknown>>;
  for (const name of LISTS) if (!Array.isArray(fields[name])) return `field ${name}: expected a list`;
  for (const name of NUMBERS) if (typeof fields[name] !== 'number') return `field ${name}: expected a number`;
  for (const name of OBJECTS) if (typeof fields[name] !== 'object') return `field ${name}: expected an object`;
  return value as History;
};
