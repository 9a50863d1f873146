import { fc, it } from '@fast-check/vitest';
import { describe, expect } from 'vitest';
import { ApiError } from '../../../src/model/kube-api/api-error.js';
import { CriError } from '../../../src/model/cri/cri-error.js';
import { HttpFailure } from '../../../src/model/config/http-failure.js';
import { HealthFailure } from '../../../src/model/probes/health-failure.js';
import { ProbeErrored } from '../../../src/model/probes/probe-errored.js';
import { decodeValue, encodeValue } from '../../../src/tools/recording/entries/encode-value.js';
import type { Plain } from '../../../src/tools/recording/entries/recording-entry.js';

const throughJson = (value: unknown): unknown => decodeValue(JSON.parse(JSON.stringify(encodeValue(value))) as Plain);

const anything = fc.anything({
  withBigInt: true,
  withDate: true,
  withMap: true,
  withSet: true,
  withTypedArray: false,
  key: fc.oneof(fc.string(), fc.constantFrom('$bigint', '$object', '$', 'id', '__proto__', 'toString')),
  values: [
    ...[fc.integer(), fc.double(), fc.string({ unit: 'binary' }), fc.boolean(), fc.bigInt()],
    ...[fc.constant(null), fc.constant(undefined), fc.uint8Array()],
  ],
});

/** Where an array has a hole or a field is undefined, no code looks. */
const withoutAbsent = (value: unknown): unknown => {
  if (value instanceof Map) return new Map([...value].map(([key, item]) => [withoutAbsent(key), withoutAbsent(item)]));
  if (value instanceof Set) return new Set([...value].map(withoutAbsent));
  if (value instanceof Date || value instanceof Uint8Array) return value;
  if (Array.isArray(value)) return [...(value as unknown[])].map(withoutAbsent);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value)
      .filter(([, item]) => item !== undefined)
      .map(([key, item]) => [key, withoutAbsent(item)]),
  );
};

describe('a value in a recording', () => {
  it.prop([anything], { numRuns: 2000 })('comes out of it as it went in', (value) => {
    expect(throughJson(value)).toStrictEqual(withoutAbsent(value));
  });

  it('keeps a date that is none', () => {
    expect(throughJson({ at: new Date(NaN) })).toStrictEqual({ at: new Date(NaN) });
  });

  it('reads a date that is none where earlier versions wrote it as null', () => {
    expect(decodeValue({ at: { $date: null } })).toStrictEqual({ at: new Date(NaN) });
    expect(decodeValue({ at: { $date: 5 } })).toStrictEqual({ at: new Date(5) });
  });

  it.prop([fc.uint8Array({ maxLength: 300 })])('keeps every byte', (bytes) => {
    expect(throughJson({ bytes })).toStrictEqual({ bytes });
  });

  it('leaves functions out', () => {
    expect(throughJson({ a: 1, f: () => 2 })).toStrictEqual({ a: 1 });
  });

  it('names what no recorder can have written', () => {
    expect(() => decodeValue({ $magic: 1 })).toThrow('there is no value of the kind "$magic"');
  });

  it('refuses what holds itself', () => {
    const knot: Record<string, unknown> = {};
    knot.knot = knot;
    expect(() => encodeValue(knot)).toThrow('a value contains itself, or is nested more than 200 deep (at knot)');
  });
});

describe('an error in a recording', () => {
  const root = Object.assign(new Error('ENOENT: no such file'), {
    code: 'ENOENT',
    errno: -2,
    path: '/x',
    syscall: 'open',
  });
  for (const error of [
    new CriError('not-found', 'ContainerStatus', 'there is none', { cause: root }),
    new HttpFailure('body', 'cut off', { isPlainHttp: true, cause: root }),
    new HttpFailure('request', 'refused'),
    new ApiError({ code: 429, reason: 'TooManyRequests', message: 'later', retryAfterSeconds: 2, cause: root }),
    new ApiError({ message: 'read ECONNRESET' }),
    new HealthFailure('connect', 'Unavailable', 'refused'),
    new ProbeErrored('no answer', 'unknown', { cause: 'a text' }),
    root,
    new Error('plain'),
  ]) {
    it(`is of its class again, with its fields and causes: ${error.name} ${error.message}`, () => {
      const revived = throughJson(error);
      expect(revived).toBeInstanceOf(error.constructor);
      expect(revived).toStrictEqual(error);
      expect(Object.entries(revived as object)).toStrictEqual(Object.entries(error));
    });
  }

  it('of another class keeps its name, and loses what is no data', () => {
    class Strange extends Error {
      override readonly name = 'Strange';
      readonly socket = new (class Socket {})();
      readonly code = 7;
      readonly retry = () => undefined;
    }
    const revived = throughJson(new Strange('odd')) as Error;
    expect([revived.name, revived.message, Object.entries(revived)]).toStrictEqual(['Strange', 'odd', [['code', 7]]]);
  });

  it('may be anything that was thrown', () => {
    expect(throughJson('a text')).toBe('a text');
  });
});
