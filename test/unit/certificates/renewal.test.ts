import { describe, expect, it } from 'vitest';
import { afterFailure, afterReading, FIRST_RENEWAL, type Renewal } from '../../../src/model/certificates/renewal.js';

const LONGEST_MS = 600_000;
const drawn: Renewal = { ...FIRST_RENEWAL, fingerprint: 'f', draw: 0.5 };

describe('the renewal of a certificate', () => {
  it.each<readonly [string, number, Partial<Renewal>]>([
    ['reads it again when it is due', 5_000, { waitMs: 5_000, failures: 0 }],
    ['reads it again after ten minutes at the latest', 600_001, { waitMs: 600_000, failures: 0 }],
    ['reads a certificate again that is never due', Infinity, { waitMs: 600_000, failures: 0 }],
    ['keeps the count of failures while the certificate is due', 0, { waitMs: 0, failures: 3 }],
    ['keeps the count of failures without a certificate', -Infinity, { waitMs: 0, failures: 3 }],
  ])('%s', (_, leftMs, expected) => {
    const after = afterReading({ ...drawn, failures: 3, waitMs: 7 }, leftMs, LONGEST_MS);
    expect(after).toEqual({ ...drawn, ...expected });
  });

  it('waits longer after each failure in a row', () => {
    const waits = [0, 0, 0, 0, 0, 0].reduce<readonly Renewal[]>(
      (all, draw) => [...all, afterFailure(all.at(-1) ?? drawn, draw)],
      [],
    );
    expect(waits.map(({ waitMs }) => waitMs / 1_000)).toEqual([2, 4, 8, 16, 32, 32]);
    expect(waits.map(({ draw }) => draw)).toEqual([0.5, 0.5, 0.5, 0.5, 0.5, 0.5]);
  });

  it('waits up to a tenth longer by chance', () => expect(afterFailure(drawn, 0.5).waitMs).toBe(2_100));

  it('does not wait if another attempt may have other credentials', () => {
    const after = afterFailure({ ...drawn, waitMs: 7 }, undefined);
    expect(after).toEqual({ ...drawn, failures: 1, waitMs: 0 });
  });
});
