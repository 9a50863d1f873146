import { describe, expect, it } from 'vitest';
import { credentialsIn, type PullSecret, pullSecretNames } from '../../../src/model/images/pull-secret.js';

const auths = { 'r.example.com': { username: 'anna', password: 'secret' } };
const secret = (name: string, type: string, data: Record<string, string>): PullSecret => ({
  ...{ uid: `uid-${name}`, namespace: 'default', name },
  ...{ type, data },
});
const json = (name: string, value: unknown): PullSecret =>
  secret(name, 'kubernetes.io/dockerconfigjson', { '.dockerconfigjson': JSON.stringify(value) });
const cfg = (name: string, value: unknown): PullSecret =>
  secret(name, 'kubernetes.io/dockercfg', { '.dockercfg': JSON.stringify(value) });

describe('secrets for pulling', () => {
  it('of both kinds give what they have for the repository, with where it is from', () => {
    const other = { 'r.example.com/team': { username: 'otto', password: 'pass' } };
    expect(credentialsIn([json('one', { auths }), cfg('two', other)], 'r.example.com/team/app')).toEqual([
      { username: 'otto', password: 'pass', secret: { uid: 'uid-two', namespace: 'default', name: 'two' } },
      { username: 'anna', password: 'secret', secret: { uid: 'uid-one', namespace: 'default', name: 'one' } },
    ]);
  });

  it.each([
    ['of another type', secret('opaque', 'Opaque', { '.dockerconfigjson': JSON.stringify({ auths }) })],
    ['without its key', secret('bare', 'kubernetes.io/dockerconfigjson', { '.dockercfg': JSON.stringify(auths) })],
    ['with an empty value', secret('empty', 'kubernetes.io/dockercfg', { '.dockercfg': '' })],
  ])('%s give nothing', (_, one) => expect(credentialsIn([one], 'r.example.com/app')).toEqual([]));

  it('that cannot be read are named', () => {
    const bad = json('bad', { auths: { r: { auth: 'x' } } });
    expect(() => credentialsIn([bad], 'r/app')).toThrow(
      'secret default/bad: .dockerconfigjson: auths["r"].auth: is not base64',
    );
  });

  it('without a name are passed over', () => {
    expect(pullSecretNames([{ name: 'a' }, {}, { name: '' }, { name: 'b' }])).toEqual(['a', 'b']);
    expect(pullSecretNames(undefined)).toEqual([]);
  });
});
