import { fc, test } from '@fast-check/vitest';
import { describe, expect, it } from 'vitest';
import { parseImageReference, repositoryOf, withDefaultTag } from '../../../src/model/images/image-reference.js';

const SHA = `sha256:${'0123456789abcdef'.repeat(4)}`;

/** `domain | path | tag | digest` of a name, or what is wrong with it. */
const read = (image: string): string => {
  const parsed = parseImageReference(image);
  if ('problem' in parsed) return parsed.problem;
  const { domain, path, tag = '-', digest = '-' } = parsed.reference;
  return [domain, path, tag, digest].join(' | ');
};

describe('the name of an image', () => {
  it.each([
    ['nginx', 'docker.io | library/nginx | - | -'],
    ['nginx:1.27', 'docker.io | library/nginx | 1.27 | -'],
    ['team/app', 'docker.io | team/app | - | -'],
    ['docker.io/nginx', 'docker.io | library/nginx | - | -'],
    ['index.docker.io/nginx', 'docker.io | library/nginx | - | -'],
    ['localhost/app', 'localhost | app | - | -'],
    ['localhost:5000/app:1', 'localhost:5000 | app | 1 | -'],
    ['registry.example.com/a/b/c', 'registry.example.com | a/b/c | - | -'],
    ['Registry/app', 'Registry | app | - | -'],
    ['[2001:db8::1]:5000/app', '[2001:db8::1]:5000 | app | - | -'],
    [`app@${SHA}`, `docker.io | library/app | - | ${SHA}`],
    [`app:1@${SHA}`, `docker.io | library/app | 1 | ${SHA}`],
    ['a__b/c-.d', 'couldn\'t parse image name "a__b/c-.d": invalid reference format'],
    ['a__b/c--d_e.f', 'docker.io | a__b/c--d_e.f | - | -'],
    ['app:Tag_1.x-y', 'docker.io | library/app | Tag_1.x-y | -'],
  ])('%s is %s', (image, parts) => expect(read(image)).toBe(parts));

  it.each([
    ['', 'invalid reference format'],
    [':1', 'invalid reference format'],
    ['app:', 'invalid reference format'],
    ['app:1:2', 'invalid reference format'],
    ['app 1', 'invalid reference format'],
    ['-app', 'invalid reference format'],
    ['a//b', 'invalid reference format'],
    ['/app', 'invalid reference format'],
    ['registry.example.com/', 'invalid reference format'],
    ['registry.example.com:port/app', 'invalid reference format'],
    ['https://registry.example.com/app', 'invalid reference format'],
    ['app:.1', 'invalid reference format'],
    [`app:${'t'.repeat(129)}`, 'invalid reference format'],
    ['App', 'invalid reference format: repository name (library/App) must be lowercase'],
    ['registry.example.com/Team/app:1', 'invalid reference format: repository name (Team/app) must be lowercase'],
    ['a'.repeat(300), 'repository name must not be more than 255 characters'],
    ['a'.repeat(64), `invalid repository name (${'a'.repeat(64)}), cannot specify 64-byte hexadecimal strings`],
    ['app@sha256:00', 'invalid reference format'],
    [`app@sha256:${'0'.repeat(63)}`, 'invalid checksum digest length'],
    [`app@sha256:${'A'.repeat(64)}`, 'invalid checksum digest format'],
    [`app@md5:${'0'.repeat(32)}`, 'unsupported digest algorithm'],
  ])('%s is none: %s', (image, why) => expect(read(image)).toBe(`couldn't parse image name "${image}": ${why}`));

  it('is read in no time, however long it is', () => {
    expect(read(`${'a-'.repeat(50_000)}!`)).toContain('invalid reference format');
    expect(read(`${'a.'.repeat(50_000)}!`)).toContain('invalid reference format');
    expect(read(`x.y/${'a_'.repeat(50_000)}!`)).toContain('invalid reference format');
  });

  it.each([
    ['app', 'app:latest'],
    ['registry:5000/app', 'registry:5000/app:latest'],
    ['registry:5000/app:2', 'registry:5000/app:2'],
    [`app@${SHA}`, `app@${SHA}`],
  ])('%s without tag and digest is asked for as %s', (image, asked) => {
    const parsed = parseImageReference(image);
    expect('reference' in parsed && withDefaultTag(image, parsed.reference)).toBe(asked);
  });

  const label = fc.stringMatching(/^[a-z0-9]([a-z0-9-]{0,8}[a-z0-9])?$/);
  const component = fc.stringMatching(/^[a-z0-9]{1,6}((__|[._]|-{1,3})[a-z0-9]{1,6}){0,2}$/);
  const parts = fc.record({
    domain: fc
      .tuple(label, label, fc.option(fc.nat(65_535)))
      .map(([a, b, port]) => `${a}.${b}${port === null ? '' : `:${port}`}`),
    path: fc.array(component, { minLength: 1, maxLength: 4 }).map((all) => all.join('/')),
    tag: fc.option(fc.stringMatching(/^[A-Za-z0-9_][A-Za-z0-9_.-]{0,20}$/)),
    digest: fc.option(fc.constant(SHA)),
  });
  test.prop([parts])('is what it was put together from', ({ domain, path, tag, digest }) => {
    const image = `${domain}/${path}${tag === null ? '' : `:${tag}`}${digest === null ? '' : `@${digest}`}`;
    const parsed = parseImageReference(image);
    expect(parsed).toEqual({
      reference: { domain, path, ...(tag !== null && { tag }), ...(digest !== null && { digest }) },
    });
    expect('reference' in parsed && repositoryOf(parsed.reference)).toBe(`${domain}/${path}`);
  });

  test.prop([fc.oneof(fc.string(), fc.stringMatching(/^[a-zA-Z0-9:@/._[\]-]{0,40}$/))])(
    'is taken or refused, and what is taken is taken again when it is complete',
    (image) => {
      const parsed = parseImageReference(image);
      if ('problem' in parsed) {
        expect(parsed.problem.startsWith(`couldn't parse image name ${JSON.stringify(image)}: `)).toBe(true);
        return;
      }
      const { tag, digest } = parsed.reference;
      const complete = `${repositoryOf(parsed.reference)}${tag ? `:${tag}` : ''}${digest ? `@${digest}` : ''}`;
      expect(parseImageReference(complete)).toEqual(parsed);
    },
  );
});
