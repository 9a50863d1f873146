import { describe, expect, it } from 'vitest';
import { pemBlocks } from '../../../src/model/references/pem-blocks.js';
import { trustBundleOf } from '../../../src/model/references/trust-bundle.js';
import { trustAnchors } from '../../../src/model/volumes/trust-anchors.js';

const SIGNER = 'example.com/mesh';
const base64 = (text: string): string => Buffer.from(text).toString('base64');
const pem = (...texts: string[]): string =>
  texts
    .map((text) => `about ${text}\n-----BEGIN CERTIFICATE-----\n${base64(text)}\n-----END CERTIFICATE-----\n`)
    .join('');
const bundle = (name: string, certificates: readonly string[], signerName?: string, labels?: Record<string, string>) =>
  trustBundleOf({
    metadata: { name, ...(labels && { labels }) },
    spec: { ...(signerName !== undefined && { signerName }), trustBundle: pem(...certificates) },
  });
const BUNDLES = [
  bundle('plain', ['c', 'a', 'c']),
  bundle('example.com:mesh:live', ['m2', 'm1'], SIGNER, { stage: 'live' }),
  bundle('example.com:mesh:old', ['m1', 'm0'], SIGNER, { stage: 'old' }),
  bundle('example.com:other:live', ['o'], 'example.com/other', { stage: 'live' }),
  bundle('empty', []),
];

type Source = Parameters<typeof trustAnchors>[0];
const fileOf = (
  source: Omit<Source, 'path'>,
  bundles: ReturnType<Parameters<typeof trustAnchors>[1]['trustBundles']> = BUNDLES,
) => Buffer.from(trustAnchors({ path: 'p', ...source }, { trustBundles: () => bundles })).toString();
const certificatesOf = (source: Omit<Source, 'path'>): readonly string[] =>
  pemBlocks(fileOf(source)).map((one) => Buffer.from(one, 'base64').toString());

describe('the trust anchors of a volume', () => {
  it.each<[string, Omit<Source, 'path'>, readonly string[]]>([
    ['of one bundle, each once and sorted', { name: 'plain' }, ['a', 'c']],
    ['of a bundle with a signer', { name: 'example.com:mesh:old' }, ['m0', 'm1']],
    ['of a bundle without certificates', { name: 'empty' }, []],
    ['of all bundles of a signer', { signerName: SIGNER, labelSelector: {} }, ['m0', 'm1', 'm2']],
    ['of some of them', { signerName: SIGNER, labelSelector: { matchLabels: { stage: 'live' } } }, ['m1', 'm2']],
    ['of an optional bundle that does not exist', { name: 'none', optional: true }, []],
    ['of an optional selector that is absent', { signerName: SIGNER, optional: true }, []],
    ['of an optional signer without bundles', { signerName: 'a.b/c', labelSelector: {}, optional: true }, []],
    ['of neither', {}, []],
  ])('are those %s', (_, source, expected) => expect(certificatesOf(source)).toEqual(expected));

  it('are a text of certificates alone', () => {
    expect(fileOf({ name: 'plain' })).toBe(
      ['a', 'c'].map((text) => `-----BEGIN CERTIFICATE-----\n${base64(text)}\n-----END CERTIFICATE-----\n`).join(''),
    );
    expect(fileOf({ name: 'empty' })).toBe('');
  });

  it('stay the same in another order of the bundles', () => {
    const source = { signerName: SIGNER, labelSelector: {} };
    expect(fileOf(source, [...BUNDLES].reverse())).toBe(fileOf(source));
  });

  const zero = 'combination of signerName and labelSelector matched zero ClusterTrustBundles';
  const many = Object.fromEntries(Array.from({ length: 2000 }, (_, index) => [`key-${index}`, 'v'.repeat(63)]));
  it.each<[Omit<Source, 'path'>, string]>([
    [{ name: 'none' }, 'while getting ClusterTrustBundle: clustertrustbundle.certificates.k8s.io "none" not found'],
    [{ signerName: SIGNER }, zero],
    [{ signerName: SIGNER, labelSelector: { matchLabels: { stage: 'test' } } }, zero],
    [{ signerName: 'none.example/x', labelSelector: {} }, zero],
    [
      { signerName: SIGNER, optional: true, labelSelector: { matchExpressions: [{ key: 'a', operator: 'Like' }] } },
      'while parsing label selector: "Like" is not a valid label selector operator',
    ],
    [{ signerName: SIGNER, optional: true, labelSelector: { matchLabels: many } }, 'is larger than 102400'],
  ])('are refused: %#', (source, message) => expect(() => fileOf(source)).toThrow(message));

  it('are unknown, also optional ones, when the bundles are', () => {
    const error = new Error('ClusterTrustBundle informer has not yet synced');
    expect(() => fileOf({ name: 'plain', optional: true }, error)).toThrow(error);
  });
});
