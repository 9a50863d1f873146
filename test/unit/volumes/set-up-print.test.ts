import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { setUpPrint } from '../../../src/model/volumes/set-up-print.js';
import type { VolumePayload } from '../../../src/model/volumes/volume-payload.js';
import type { VolumeSetup } from '../../../src/model/volumes/volume-setup.js';

const SETUP: VolumeSetup = { directory: '/d', markerDirectory: '/m' };
const bytes = (text: string): Uint8Array => new TextEncoder().encode(text);
const payload = (files: Readonly<Record<string, string>>, mode = 0o644): VolumePayload =>
  new Map(Object.entries(files).map(([path, text]) => [path, { data: bytes(text), mode }]));
const BASE = setUpPrint(SETUP, payload({ a: '1', b: '2' }));

describe('the fingerprint of a volume', () => {
  it('is equal for equal files in any order, and holds none of their content', () => {
    expect(setUpPrint({ ...SETUP }, payload({ b: '2', a: '1' }))).toBe(BASE);
    expect(setUpPrint(SETUP, payload({ password: 'hunter2' }))).not.toContain('hunter2');
    expect(BASE.length).toBeLessThanOrEqual(17);
  });

  it.each<[string, VolumeSetup, VolumePayload]>([
    ['another content', SETUP, payload({ a: '1', b: '3' })],
    ['contents that changed places', SETUP, payload({ a: '2', b: '1' })],
    ['another path', SETUP, payload({ a: '1', c: '2' })],
    ['one file less', SETUP, payload({ a: '1' })],
    ['no file', SETUP, payload({})],
    ['a byte that moved to the next file', SETUP, payload({ a: '12', b: '' })],
    ['another mode', SETUP, payload({ a: '1', b: '2' }, 0o600)],
    ['an owner', SETUP, new Map([...payload({ a: '1', b: '2' })].map(([path, file]) => [path, { ...file, user: 5 }]))],
    [
      'another mount',
      { ...SETUP, mount: { type: 'tmpfs', source: 'tmpfs', options: [] } },
      payload({ a: '1', b: '2' }),
    ],
    ['a mount point inside', { ...SETUP, nested: ['logs'] }, payload({ a: '1', b: '2' })],
    ['a group', { ...SETUP, ownership: { fsGroup: 7, readOnly: true } }, payload({ a: '1', b: '2' })],
  ])('is another with %s', (_, setup, files) => {
    expect(setUpPrint(setup, files)).not.toBe(BASE);
  });

  it('is another with any other content', () => {
    const data = fc.uint8Array({ maxLength: 64 });
    const printOf = (one: Uint8Array): string => setUpPrint(SETUP, new Map([['a', { data: one, mode: 0o644 }]]));
    fc.assert(
      fc.property(data, data, (one, other) => (printOf(one) === printOf(other)) === (Buffer.compare(one, other) === 0)),
    );
  });
});
