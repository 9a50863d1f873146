import { fc, test } from '@fast-check/vitest';
import { describe, expect, it } from 'vitest';
import {
  accessBySecrets,
  accessWithoutSecrets,
  type PulledRecord,
  type RecordedAccess,
  type RecordedSecret,
  recordAfterPull,
} from '../../../src/model/images/pulled-record.js';

const secret = (name: string, credentialHash = `hash of ${name}`): RecordedSecret => ({
  ...{ uid: `uid-${name}`, namespace: 'default', name },
  credentialHash,
});
const IMAGE = 'r.example.com/app:1';
const NAME = 'r.example.com/app';
const recordOf = (access: RecordedAccess, name = NAME): PulledRecord => ({
  lastUpdatedTime: '2026-01-01T00:00:00Z',
  imageRef: 'sha256:1',
  credentialMapping: { [name]: access },
});
const withSecrets = (...kubernetesSecrets: RecordedSecret[]): PulledRecord => recordOf({ kubernetesSecrets });

describe('access to an image that was pulled here', () => {
  it.each([
    ['pulled by an unknown user', undefined, false],
    ['pulled without a password', recordOf({ nodePodsAccessible: true }), true],
    [
      'pulled without a password under another name',
      recordOf({ nodePodsAccessible: true }, 'r.example.com/other'),
      true,
    ],
    [
      'pulled with a secret under another name',
      recordOf({ kubernetesSecrets: [secret('a')] }, 'r.example.com/other'),
      false,
    ],
    ['pulled without a recorded user', recordOf({}), false],
    ['pulled with the token of a service account', recordOf({ kubernetesServiceAccounts: [{ name: 'x' }] }), false],
    ['pulled with a secret', withSecrets(secret('a')), undefined],
  ])('%s: %#', (_, record, verdict) => expect(accessWithoutSecrets(record, IMAGE)).toBe(verdict));

  it('allows a pod with the same credential, in the same secret or in another one, which is learned', () => {
    const record = withSecrets(secret('a'));
    expect(accessBySecrets(record, IMAGE, [secret('b'), secret('a')])).toEqual({ isAllowed: true });
    const copy = secret('copy', 'hash of a');
    expect(accessBySecrets(record, IMAGE, [copy])).toEqual({ isAllowed: true, learned: copy });
  });

  it('allows a pod with the same secret, with any content by now, which is learned', () => {
    const renewed = secret('a', 'another hash');
    expect(accessBySecrets(withSecrets(secret('a')), IMAGE, [renewed])).toEqual({ isAllowed: true, learned: renewed });
  });

  it('allows no other pod: not without a secret, with another one, or where nothing is known of the credential', () => {
    const record = withSecrets(secret('a', ''));
    expect(accessBySecrets(record, IMAGE, [])).toEqual({ isAllowed: false });
    expect(accessBySecrets(record, IMAGE, [secret('b', '')])).toEqual({ isAllowed: false });
    expect(accessBySecrets(record, 'r.example.com/other:1', [secret('a', '')])).toEqual({ isAllowed: false });
  });

  it('is no longer learned when a hundred secrets are known', () => {
    const record = withSecrets(...Array.from({ length: 100 }, (_, index) => secret(`s${index}`)));
    expect(accessBySecrets(record, IMAGE, [secret('copy', 'hash of s7')])).toEqual({ isAllowed: true });
    expect(accessBySecrets(record, IMAGE, [secret('s7', 'another hash')])).toEqual({ isAllowed: false });
  });
});

describe('the record after a pull', () => {
  const now = Date.UTC(2026, 5, 7, 8, 9, 10, 999);
  const after = (record: PulledRecord | undefined, access?: RecordedAccess) =>
    recordAfterPull(record, { image: IMAGE, imageRef: 'sha256:1', access, now });
  const fresh = (access: RecordedAccess) => ({ ...recordOf(access), lastUpdatedTime: '2026-06-07T08:09:10Z' });

  it('says who may have the image, by its name without tag', () => {
    expect(after(undefined, { nodePodsAccessible: true })).toEqual(fresh({ nodePodsAccessible: true }));
    expect(after(undefined, { kubernetesSecrets: [secret('a')] })).toEqual(fresh({ kubernetesSecrets: [secret('a')] }));
  });

  it('says nothing of the allowed pods when the credential of the pull is unknown', () => {
    expect(after(undefined)).toEqual(fresh({}));
    expect(after(withSecrets(secret('a')))).toBeUndefined();
  });

  it('adds secrets in order, and takes the newest credential of one', () => {
    const record = withSecrets(secret('b'), secret('d'));
    const added = after(record, { kubernetesSecrets: [secret('c')] });
    expect(added).toEqual(fresh({ kubernetesSecrets: [secret('b'), secret('c'), secret('d')] }));
    const renewed = after(record, { kubernetesSecrets: [secret('b', 'new')] });
    expect(renewed).toEqual(fresh({ kubernetesSecrets: [secret('b', 'new'), secret('d')] }));
    expect(after(record, { kubernetesSecrets: [secret('d')] })).toBeUndefined();
  });

  it('opens the image for all pods for good once it needs no secret', () => {
    const open = after(withSecrets(secret('a')), { nodePodsAccessible: true });
    expect(open).toEqual(fresh({ nodePodsAccessible: true }));
    expect(after(open, { kubernetesSecrets: [secret('a')] })).toBeUndefined();
  });

  it('leaves other names of the image alone', () => {
    const record = recordOf({ nodePodsAccessible: true }, 'other');
    expect(after(record, { kubernetesSecrets: [secret('a')] })?.credentialMapping).toEqual({
      other: { nodePodsAccessible: true },
      [NAME]: { kubernetesSecrets: [secret('a')] },
    });
  });

  const anySecret = fc.record({
    uid: fc.constantFrom('1', '2'),
    namespace: fc.constantFrom('n', 'm'),
    name: fc.constantFrom('a', 'b', 'c'),
    credentialHash: fc.constantFrom('x', 'y', 'z'),
  });
  test.prop([fc.array(anySecret, { maxLength: 20 })])('lets in every secret by which it was pulled last', (secrets) => {
    let record: PulledRecord | undefined;
    for (const used of secrets) record = after(record, { kubernetesSecrets: [used] }) ?? record;
    const last = secrets.at(-1);
    if (last && record) expect(accessBySecrets(record, IMAGE, [last]).isAllowed).toBe(true);
  });
});
