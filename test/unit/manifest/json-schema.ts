import { podSchema } from '../../../src/generated/pod-schema.js';

const SCALARS: Readonly<Record<string, object>> = {
  '*': {},
  s: { type: 'string' },
  b: { type: 'boolean' },
  i: { type: 'integer', minimum: -(2 ** 31) + 1, maximum: 2 ** 31 - 1 },
  l: { type: 'integer', minimum: Number.MIN_SAFE_INTEGER, maximum: Number.MAX_SAFE_INTEGER },
  n: { type: 'number' },
  q: {
    anyOf: [
      { type: 'number' },
      { type: 'string', pattern: '^[+-]?(\\d+\\.?\\d*|\\.\\d+)([KMGTPE]i|[numkMGTPE]|[eE][+-]?\\d{1,3})?$' },
    ],
  },
  x: { anyOf: [{ type: 'string' }, { type: 'integer', minimum: -(2 ** 31) + 1, maximum: 2 ** 31 - 1 }] },
  t: { type: 'string', format: 'date-time' },
  y: { type: 'string', pattern: '^[A-Za-z0-9+/]*={0,2}$' },
};

const schemaOf = (code: string): object => {
  if (code.startsWith('[]')) return { type: 'array', items: schemaOf(code.slice(2)) };
  if (code.startsWith('{}')) return { type: 'object', additionalProperties: schemaOf(code.slice(2)) };
  return SCALARS[code] ?? { $ref: `#/definitions/${code}` };
};

/** The table of the pod schema as a JSON Schema of a Pod. */
export const jsonSchema = (): object => ({
  $ref: '#/definitions/Pod',
  definitions: Object.fromEntries(
    Object.entries(podSchema).map(([name, fields]) => [
      name,
      {
        type: 'object',
        additionalProperties: false,
        required: Object.keys(fields).filter((field) => fields[field]?.startsWith('!')),
        properties: Object.fromEntries(
          Object.entries(fields).map(([field, code]) => [field, schemaOf(code.replace('!', ''))]),
        ),
      },
    ]),
  ),
});
