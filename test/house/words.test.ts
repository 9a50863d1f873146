import { readdirSync, readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { bannedIn, bannedInFiles, bannedWordsOf } from './banned-words.js';

const ROOT = new URL('../../', import.meta.url);
const banned = bannedWordsOf(readFileSync(new URL('docs/style-words.md', ROOT), 'utf8'));

const documents = [
  ...['README.md', 'CHANGELOG.md', 'CONTRIBUTING.md'],
  ...readdirSync(new URL('docs/', ROOT))
    .filter((name) => name.endsWith('.md'))
    .map((name) => `docs/${name}`),
];

/** All code but that of the tests and the generated one. */
const sources = ['src/', 'bench/', 'examples/', 'scripts/'].flatMap((folder) =>
  readdirSync(new URL(folder, ROOT), { recursive: true, encoding: 'utf8' })
    .map((name) => `${folder}${name}`)
    .filter((file) => /\.(ts|mjs)$/.test(file) && !file.startsWith('src/generated/')),
);

/** The tests, except that of the words themselves. */
const tests = readdirSync(new URL('test/', ROOT), { recursive: true, encoding: 'utf8' })
  .map((name) => `test/${name}`)
  .filter((file) => /\.(ts|mjs)$/.test(file) && file !== 'test/house/words.test.ts');

/** Texts of tests without texts of one word, which are data: names of pods, users and files. */
const withoutNames = (_file: string, text: string): string =>
  text.replace(/\$\{[^}\n]*\}/g, '').replace(/(['"`])[^'"`\s]*\1/g, '$1$1');

/** Kinds of entries in journals and recordings keep their names, since older files have to be readable. */
const withoutStoredKinds = (_file: string, text: string): string => text.replace(/'(?:told|source-heard)'/g, "''");

describe('docs/style-words.md', () => {
  it('bans some twenty words, each with a replacement', () => {
    expect(banned.length).toBeGreaterThan(20);
    expect(banned.filter(({ instead }) => instead === '')).toEqual([]);
  });

  it('is kept by all pages', () => {
    expect(bannedInFiles(ROOT, documents, banned)).toEqual([]);
  });

  it('is kept by all code', () => {
    expect(sources.length).toBeGreaterThan(900);
    expect(bannedInFiles(ROOT, sources, banned, withoutStoredKinds)).toEqual([]);
  });

  it('is kept by titles and comments of tests', () => {
    expect(tests.length).toBeGreaterThan(500);
    expect(bannedInFiles(ROOT, tests, banned, withoutNames)).toEqual([]);
  });
});

describe('the search for banned words', () => {
  it('finds them in any case and over the end of a line, with the line', () => {
    expect(bannedIn('a.md', 'Good.\n\nWhoever reads\nhas so\nmany pages.\n', banned)).toEqual([
      'a.md:3: "whoever"; write the caller, the client, the process',
      'a.md:4: "so many"; write `count`, the number by its name',
    ]);
  });

  it('leaves code, targets of links and other words alone', () => {
    const page = '`told` [page](whoever.md) untold\n\n```text\nnobody\n```\n\n- list\n\n  ```sh\n  nobody\n  ```\n';
    expect(bannedIn('a.md', page, banned)).toEqual([]);
  });

  it('reads comments and texts of code, and nothing else of it', () => {
    const code =
      "const told = 1; // told\n/**\n * For want\n * of a name.\n */\nlog.warn('nobody listens');\nlet nobody = told;\n";
    expect(bannedIn('a.ts', code, banned).map((found) => found.split(';')[0])).toEqual([
      'a.ts:1: "told"',
      'a.ts:3: "for want of"',
      'a.ts:6: "nobody"',
    ]);
  });
});
