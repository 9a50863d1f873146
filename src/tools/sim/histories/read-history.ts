import * as z from 'zod';
import { errorText } from '../../../model/cri/cri-error.js';
import type { History } from './history.js';

const [list, number, object] = [
  z.array(z.unknown(), 'expected a list'),
  z.number('expected a number'),
  z.looseObject({}, 'expected an object'),
];
const history = z.looseObject(
  { pods: list, faults: list, seed: number, quietFromMs: number, endMs: number, node: object, behaviours: object },
  'holds no history: expected an object',
);

/** Reads the history of a text of `JSON.stringify`; else returns the problem. */
export const readHistory = (text: string): History | string => {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (error) {
    return `is no JSON: ${errorText(error)}`;
  }
  const [found] = history.safeParse(value).error?.issues ?? [];
  if (!found) return value as History;
  return found.path.length === 0 ? found.message : `field ${found.path.join('.')}: ${found.message}`;
};
