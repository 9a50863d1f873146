import { fc, test } from '@fast-check/vitest';
import { describe, expect, it } from 'vitest';
import { parseDockerConfigJson, parseDockercfg } from '../../../src/model/images/docker-config.js';

const base64 = (text: string): string => Buffer.from(text).toString('base64');
const json = (value: unknown) => parseDockerConfigJson(JSON.stringify(value), '/state/config.json');

describe('a config.json of docker', () => {
  it('has the credentials of registries under auths', () => {
    expect(
      json({
        auths: {
          'https://index.docker.io/v1/': { auth: base64('anna:secret'), email: 'anna@example.com' },
          'registry.example.com': { username: 'otto', password: 'pass' },
          'tokens.example.com': { auth: base64('anna:'), identitytoken: 'token' },
          'empty.example.com': {},
        },
        credsStore: 'desktop',
      }),
    ).toEqual({
      'https://index.docker.io/v1/': { username: 'anna', password: 'secret' },
      'registry.example.com': { username: 'otto', password: 'pass' },
      'tokens.example.com': { username: 'anna', password: '', identityToken: 'token' },
      'empty.example.com': { username: '', password: '' },
    });
  });

  it.each([[null], [{}], [{ auths: null }], [{ auths: {} }]])('%j has none', (value) =>
    expect(json(value)).toEqual({}),
  );

  it('a null entry is one without fields', () => {
    expect(json({ auths: { r: null } })).toEqual({ r: { username: '', password: '' } });
  });

  it('auth wins over username and password, and a password may have colons', () => {
    const config = json({ auths: { r: { username: 'a', password: 'b', auth: base64('anna:se:cr:et') } } });
    expect(config).toEqual({ r: { username: 'anna', password: 'se:cr:et' } });
  });

  test.prop([fc.string().filter((user) => !user.includes(':')), fc.string()])(
    'auth is read padded and not',
    (username, password) => {
      fc.pre(Buffer.from(`${username}:${password}`).toString() === `${username}:${password}`);
      const padded = base64(`${username}:${password}`);
      for (const auth of [padded, padded.replace(/=+$/, '')]) {
        expect(json({ auths: { r: { auth } } })).toEqual({ r: { username, password } });
      }
    },
  );

  it.each([
    [[], '/state/config.json: is not an object'],
    [{ auths: [] }, '/state/config.json: auths: is not an object'],
    [{ auths: { r: 'x' } }, '/state/config.json: auths["r"]: is not an object'],
    [{ auths: { r: { username: 5 } } }, '/state/config.json: auths["r"].username: is not a string'],
    [{ auths: { r: { auth: '!!' } } }, '/state/config.json: auths["r"].auth: is not base64'],
    [{ auths: { r: { auth: 'YQ=' } } }, '/state/config.json: auths["r"].auth: is not base64'],
    [
      { auths: { r: { auth: base64('anna') } } },
      '/state/config.json: auths["r"].auth: holds no colon (expected base64 of username:password)',
    ],
  ])('%j is refused: %s', (value, message) => expect(() => json(value)).toThrow(new Error(message)));

  it('that is no JSON is refused without a word of what stands in it', () => {
    const read = () => parseDockerConfigJson('{"auths":{"r":{"password":"secret"}', '/state/config.json');
    expect(read).toThrow(new Error('/state/config.json: is not JSON'));
  });
});

describe('a .dockercfg', () => {
  it('is what stands under auths of the newer form', () => {
    const text = JSON.stringify({ 'https://r.example.com': { auth: base64('anna:secret') } });
    expect(parseDockercfg(text, '.dockercfg')).toEqual({
      'https://r.example.com': { username: 'anna', password: 'secret' },
    });
  });

  it('names the field that is wrong', () => {
    expect(() => parseDockercfg('{"r":{"auth":5}}', '/.dockercfg')).toThrow('/.dockercfg: ["r"].auth: is not a string');
  });
});
