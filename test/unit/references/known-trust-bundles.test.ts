import { expect, it } from 'vitest';
import type { ClusterTrustBundle } from '../../../src/model/references/referenced-object.js';
import {
  foldTrustBundles,
  type KnownTrustBundles,
  type TrustBundleEvent,
  trustBundleVersions,
} from '../../../src/model/references/known-trust-bundles.js';

const bundle = (name: string, resourceVersion: string): ClusterTrustBundle => ({
  metadata: { name, uid: `uid-${name}`, resourceVersion },
  spec: { trustBundle: '', signerName: `signer-${resourceVersion}` },
});
const events: Readonly<Record<string, TrustBundleEvent>> = {
  list: { kind: 'replaced', objects: [bundle('b', '1'), bundle('a', '2')], resourceVersion: '2' },
  put: { kind: 'put', object: bundle('b', '3') },
  new: { kind: 'put', object: bundle('c', '4') },
  deleted: { kind: 'deleted', object: bundle('b', '5') },
  absent: { kind: 'not-served' },
  problem: { kind: 'problem', step: 'list', error: 'away', severity: 'error' },
  recovered: { kind: 'recovered' },
};
const knownAfter = (steps: string): KnownTrustBundles =>
  steps
    .split(' ')
    .filter(Boolean)
    .reduce<KnownTrustBundles>((known, step) => foldTrustBundles(known, events[step]!), {});

it.each<[steps: string, signers: readonly string[] | undefined, rest: object]>([
  ['', undefined, {}],
  ['list', ['signer-1', 'signer-2'], { isServed: true }],
  ['list put new', ['signer-3', 'signer-2', 'signer-4'], { isServed: true }],
  ['list deleted', ['signer-2'], { isServed: true }],
  ['list problem', ['signer-1', 'signer-2'], { isServed: true, problem: 'away' }],
  ['list problem put', ['signer-3', 'signer-2'], { isServed: true }],
  ['list absent', undefined, { isServed: false }],
  ['absent problem', undefined, { isServed: false, problem: 'away' }],
  ['problem', undefined, { problem: 'away' }],
  ['problem recovered', undefined, {}],
])('after the events "%s" the trust bundles of %o are known', (steps, signers, rest) => {
  const { bundles, ...others } = knownAfter(steps);
  expect(bundles && [...bundles.values()].map((one) => one.bundle.signerName)).toEqual(signers);
  expect(others).toEqual(rest);
});

it.each<[one: string, other: string, isSame: boolean]>([
  ['list', 'list list', true],
  ['list', 'list problem', true],
  ['list', 'list put', false],
  ['list', 'list deleted', false],
  ['', 'absent', true],
  ['', 'list deleted', false],
])('the versions of the trust bundles after "%s" and after "%s" are the same: %s', (one, other, isSame) => {
  expect(trustBundleVersions(knownAfter(one)) === trustBundleVersions(knownAfter(other))).toBe(isSame);
});
