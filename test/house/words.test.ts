import { readdirSync, readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { bannedIn, bannedInFiles, bannedWordsOf } from './banned-words.js';
import { headlessInCode, headlessInPage } from './sentence-starts.js';

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

describe('a sentence', () => {
  const textOf = (file: string): string => readFileSync(new URL(file, ROOT), 'utf8');
  const inSrc = readdirSync(new URL('src/', ROOT), { recursive: true, encoding: 'utf8' })
    .map((name) => `src/${name}`)
    .filter((file) => !file.startsWith('src/generated/'));
  const code = inSrc.filter((file) => file.endsWith('.ts'));
  const pages = [...documents, ...inSrc.filter((file) => file.endsWith('/README.md'))];

  it('begins with its noun in all pages', () => {
    expect(pages.length).toBeGreaterThan(100);
    expect(pages.flatMap((file) => headlessInPage(file, textOf(file)))).toEqual([]);
  });

  it('begins with its noun in all comments of src', () => {
    expect(code.length).toBeGreaterThan(900);
    expect(code.flatMap((file) => headlessInCode(file, textOf(file)))).toEqual([]);
  });

  it('without its noun is found in comments of each form, also over the end of a line', () => {
    const text = [
      '/** What a call returns. `That` is code. */',
      'const one = 1; // Of one line, behind code.',
      '/** Returns one. Those are few. It is fine here. */',
      '/** It is not fine here. */',
      '// A line. Which\n// goes on. It is fine here.',
      "const text = 'What a text says';",
    ].join('\n');
    expect(headlessInCode('a.ts', text)).toEqual([
      'a.ts:1: What a call returns.',
      'a.ts:2: Of one line, behind code.',
      'a.ts:3: Those are few.',
      'a.ts:4: It is not fine here.',
      'a.ts:5: Which goes on.',
    ]);
  });

  it('without its noun is found in paragraphs and lists of a page, and not in headings, tables, code and questions', () => {
    const text = [
      '# What it does',
      'A line.\nWhat it\nsays. What is it?',
      '- Of a list.\n- A list. That is wrong.',
      '| What | Those |\n| ---- | ----- |',
      '```text\nWhat a picture shows.\n```',
    ].join('\n\n');
    expect(headlessInPage('a.md', text)).toEqual(['a.md: What it says.', 'a.md: Of a list.', 'a.md: That is wrong.']);
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
