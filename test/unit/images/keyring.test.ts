import { fc, test } from '@fast-check/vitest';
import { describe, expect, it } from 'vitest';
import { credentialsFor } from '../../../src/model/images/keyring.js';

/** The registries whose credentials are tried, in order. */
const tried = (registries: readonly string[], repository: string): readonly string[] =>
  credentialsFor(
    registries.map((registry) => [registry, registry] as const),
    repository,
  );

describe('credentials for a repository', () => {
  it.each([
    { registry: 'r.example.com', repository: 'r.example.com/app', fits: true },
    { registry: 'https://r.example.com', repository: 'r.example.com/app', fits: true },
    { registry: 'http://r.example.com/v1/', repository: 'r.example.com/app', fits: true },
    { registry: 'https://r.example.com/v2/', repository: 'r.example.com/app', fits: true },
    { registry: 'https://r.example.com/v2/team', repository: 'r.example.com/team/app', fits: true },
    { registry: 'https://r.example.com/v3/', repository: 'r.example.com/app', fits: false },
    { registry: 'r.example.com/team', repository: 'r.example.com/team/app', fits: true },
    { registry: 'r.example.com/team', repository: 'r.example.com/teams/app', fits: true },
    { registry: 'r.example.com/team', repository: 'r.example.com/other/app', fits: false },
    { registry: 'r.example.com', repository: 'example.com/app', fits: false },
    { registry: 'example.com', repository: 'r.example.com/app', fits: false },
    { registry: 'r.example.com:5000', repository: 'r.example.com:5000/app', fits: true },
    { registry: 'r.example.com', repository: 'r.example.com:5000/app', fits: false },
    { registry: 'r.example.com:5000', repository: 'r.example.com/app', fits: false },
    { registry: '*.example.com', repository: 'r.example.com/app', fits: true },
    { registry: '*.example.com', repository: 'a.b.example.com/app', fits: false },
    { registry: '*.*.example.com', repository: 'a.b.example.com/app', fits: true },
    { registry: 'r*.example.com', repository: 'r12.example.com/app', fits: true },
    { registry: 'r?.example.com', repository: 'r12.example.com/app', fits: false },
    { registry: 'r[0-9].example.com', repository: 'r1.example.com/app', fits: true },
    { registry: 'r[0-9.example.com', repository: 'r1.example.com/app', fits: false },
    { registry: '*.example.com:*', repository: 'r.example.com:5000/app', fits: false },
    { registry: 'r.example.com/*', repository: 'r.example.com/app', fits: false },
    { registry: '[2001:db8::1]:5000', repository: '[2001:db8::1]:5000/app', fits: true },
    { registry: '*', repository: 'localhost/app', fits: true },
  ])('of $registry fit $repository: $fits', ({ registry, repository, fits }) => {
    expect(tried([registry], repository)).toEqual(fits ? [registry] : []);
  });

  it('are tried the most specific first', () => {
    const registries = ['r.example.com', '*.example.com', 'r.example.com/team', 'r.example.com/team/app', 'other'];
    expect(tried(registries, 'r.example.com/team/app')).toEqual([
      'r.example.com/team/app',
      'r.example.com/team',
      'r.example.com',
      '*.example.com',
    ]);
  });

  it('of one registry that is named in two ways are both tried', () => {
    const registries = ['https://r.example.com/v1/', 'r.example.com'];
    expect(tried(registries, 'r.example.com/app')).toEqual(registries);
  });

  it.each([
    ['docker.io/library/nginx', ['https://index.docker.io/v1/'], ['https://index.docker.io/v1/']],
    ['docker.io/library/nginx', ['docker.io', 'https://index.docker.io/v1/'], ['docker.io']],
    ['docker.io/library/nginx', ['index.docker.io/team'], []],
    ['r.example.com/nginx', ['https://index.docker.io/v1/'], []],
    ['localhost/nginx', ['https://index.docker.io/v1/'], []],
  ])('of Docker Hub: %s with %j tries %j', (repository, registries, expected) => {
    expect(tried(registries, repository)).toEqual(expected);
  });

  test.prop([fc.array(fc.string()), fc.webAuthority()])('can be looked up with any keys', (registries, host) => {
    const found = tried([...registries, host], `${host}/app`);
    expect(found.every((registry) => registries.includes(registry) || registry === host)).toBe(true);
  });
});
