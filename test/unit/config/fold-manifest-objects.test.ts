import { describe, expect, it } from 'vitest';
import { DOUBT_MS } from '../../../src/model/config/absences.js';
import { foldHttpReply, NO_HTTP_POLL } from '../../../src/model/config/fold-http-reply.js';
import {
  foldManifestListing,
  type ManifestFile,
  type ManifestListing,
  NO_MANIFEST_FILES,
} from '../../../src/model/config/fold-manifest-listing.js';
import type { SourceEvent } from '../../../src/model/pod/pod-set.js';

const configMap = (name: string, value = 'v', more = ''): string =>
  `apiVersion: v1\nkind: ConfigMap\nmetadata: {name: ${name}}\ndata: {k: ${value}}\n${more}`;
const secret = (name: string, value = 'v'): string =>
  `apiVersion: v1\nkind: Secret\nmetadata: {name: ${name}}\nstringData: {k: ${value}}\n`;
const pod = (name: string): string =>
  `apiVersion: v1\nkind: Pod\nmetadata: {name: ${name}}\nspec: {containers: [{name: c, image: i}]}\n`;
const BROKEN = 'apiVersion: v1\nkind: ConfigMap\nmetadata: {nmae: a}\n';
const IMMUTABLE = 'immutable: true\n';

const text = (file: string, ...documents: readonly string[]): ManifestFile => ({
  file,
  content: { kind: 'text', text: documents.join('---\n') },
});
const unchanged = (file: string): ManifestFile => ({ file, content: { kind: 'unchanged' } });
const unreadable = (file: string): ManifestFile => ({ file, content: { kind: 'unreadable', message: 'no' } });
const files = (...found: readonly ManifestFile[]): ManifestListing => ({ kind: 'files', files: found });

/** `[pods | objects]` for a set, with the value of each object; the message of a problem. */
const wordOf = (event: SourceEvent): string => {
  if (event.kind === 'problem') return event.problem.message;
  const objects = (event.objects ?? []).map(({ kind, metadata, data }) => {
    const value = data?.['k'] ?? '';
    return `${metadata.name}=${kind === 'Secret' ? Buffer.from(value, 'base64').toString() : value}`;
  });
  return `[${event.pods.map(({ metadata }) => metadata.name.replace('-n', '')).join(' ')} | ${objects.join(' ')}]`;
};

const play = (...listings: readonly ManifestListing[]): readonly (readonly string[])[] => {
  let state = NO_MANIFEST_FILES;
  return listings.map((listing, index) => {
    const folded = foldManifestListing(state, listing, { path: '/m', nodeName: 'n' }, index * DOUBT_MS);
    state = folded.state;
    return folded.events.map(wordOf);
  });
};

describe('foldManifestListing with ConfigMaps and Secrets', () => {
  it.each<[what: string, listings: readonly ManifestListing[], said: readonly (readonly string[])[]]>([
    [
      'a pod and its objects are one set, from any file',
      [files(text('a', pod('p')), text('b', configMap('c'), secret('s')))],
      [['[p | c=v s=v]']],
    ],
    [
      'an edit of an object is a set, and an edit without a difference is none',
      [
        files(text('a', configMap('c'))),
        files(text('a', configMap('c', 'w'))),
        files(text('a', `# hi\n${configMap('c', 'w')}`)),
      ],
      [['[ | c=v]'], ['[ | c=w]'], []],
    ],
    [
      'a pod and its object of one edit come together',
      [files(text('a', pod('p'), configMap('c'))), files(text('a', pod('q'), configMap('c', 'w')))],
      [['[p | c=v]'], ['[q | c=w]']],
    ],
    [
      'a broken document keeps its object beside the edited others',
      [files(text('a', configMap('c'), configMap('d'))), files(text('a', configMap('c', 'w'), BROKEN))],
      [
        ['[ | c=v d=v]'],
        [
          'a:8:12: metadata.nmae: is not a known field (expected perhaps name)',
          'a: until this is repaired, ConfigMap default/d stays as last read',
          '[ | c=w d=v]',
        ],
      ],
    ],
    [
      'a file that cannot be read keeps its objects',
      [files(text('a', pod('p'), configMap('c'))), files(unreadable('a'))],
      [['[p | c=v]'], ['a: no', 'a: until this is repaired, default/p-n, ConfigMap default/c stay as last read']],
    ],
    [
      'a deleted file takes its objects along once its absence is confirmed',
      [files(text('a', configMap('c')), text('b', pod('p'))), files(unchanged('b')), files(unchanged('b'))],
      [['[p | c=v]'], [], ['[p | ]']],
    ],
    [
      'of two objects of one name the one of the first file counts, until it is gone',
      [
        files(text('a', configMap('c')), text('b', configMap('c', 'w'), secret('c', 'x'))),
        files(unchanged('b')),
        files(unchanged('b')),
      ],
      [
        ['b: ConfigMap default/c is ignored, because one of a has the same name and comes first', '[ | c=v c=x]'],
        [],
        ['b: can be used again', '[ | c=w c=x]'],
      ],
    ],
    [
      'of two equal objects in a file one counts',
      [files(text('a', configMap('c'))), files(text('a', configMap('c'), configMap('c')))],
      [
        ['[ | c=v]'],
        ['a: ConfigMap default/c is ignored, because another one of this file has the same name and comes first'],
      ],
    ],
    [
      'an immutable object stays as it was, and the rest of its file is used',
      [
        files(text('a', configMap('c', 'v', IMMUTABLE), pod('p'))),
        files(text('a', configMap('c', 'w', IMMUTABLE), pod('q'))),
        files(text('a', configMap('c', 'v'), pod('q'))),
        files(text('a', configMap('c', 'v', IMMUTABLE), pod('q'))),
      ],
      [
        ['[p | c=v]'],
        [
          'a:1:1: data: is changed, but ConfigMap default/c is immutable (expected the object as it was, or one of another name)',
          'a: until this is repaired, default/p-n stays as last read',
          '[q p | c=v]',
        ],
        [
          'a:1:1: immutable: is changed, but ConfigMap default/c is immutable (expected the object as it was, or one of another name)',
          'a: until this is repaired, default/p-n stays as last read',
        ],
        ['a: can be used again', '[q | c=v]'],
      ],
    ],
    [
      'an immutable object that was deleted can be created again',
      [
        files(text('a', configMap('c', 'v', IMMUTABLE))),
        files(text('a', '# none\n')),
        files(text('a', configMap('c', 'w'))),
      ],
      [['[ | c=v]'], ['[ | ]'], ['[ | c=w]']],
    ],
  ])('%s', (_what, listings, said) => {
    expect(play(...listings)).toEqual(said);
  });
});

describe('foldHttpReply with ConfigMaps and Secrets', () => {
  const poll = (...bodies: readonly string[]): readonly (readonly string[])[] => {
    let state = NO_HTTP_POLL;
    return bodies.map((body) => {
      const value = { status: 200, statusLine: '200 OK', body };
      const folded = foldHttpReply(state, { kind: 'ok', value }, { url: 'http://pods', nodeName: 'n' });
      state = folded.state;
      return folded.events.map(wordOf);
    });
  };

  it('delivers pods and objects of a body as one set, and none of a bad body', () => {
    const good = [pod('p'), configMap('c'), secret('s')].join('---\n');
    expect(poll(good, `${good}---\n${BROKEN}`, [pod('p'), secret('s', 'w')].join('---\n'), '')).toEqual([
      ['[p | c=v s=v]'],
      [
        expect.stringMatching(/^http:\/\/pods:18:12: metadata\.nmae: /),
        'http://pods: failed to read pods: the pods have a problem',
      ],
      ['http://pods: reading pods works again', '[p | s=w]'],
      ['[ | ]', 'http://pods: failed to read pods: zero-length data received'],
    ]);
  });

  it('refuses a body that changes an immutable object', () => {
    const [, changed] = poll(configMap('c', 'v', IMMUTABLE), configMap('c', 'w', IMMUTABLE));
    expect(changed?.[0]).toContain('data: is changed, but ConfigMap default/c is immutable');
    expect(changed).toHaveLength(2);
  });
});
