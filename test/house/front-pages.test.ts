import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { bannedInFiles, bannedWordsOf } from './banned-words.js';

const ROOT = join(import.meta.dirname, '../..');
const MOST_LINES = 15;
/** A folder with fewer files needs no page. */
const FILES_WITH_PAGE = 3;

const files = readdirSync(join(ROOT, 'src'), { recursive: true, encoding: 'utf8' })
  .map((file) => join('src', file))
  .filter((file) => !file.startsWith('src/generated/'));
const countOf = (folder: string): number =>
  files.filter((file) => file.endsWith('.ts') && dirname(file) === folder).length;
const folders = [...new Set(files.map(dirname))].filter((folder) => countOf(folder) >= FILES_WITH_PAGE).sort();
const pages = files.filter((file) => file.endsWith('/README.md')).sort();
const textOf = (file: string): string => readFileSync(join(ROOT, file), 'utf8');

/** The names in backticks with a slash or the ending of a file: the former from the root, the latter from the folder of the page. */
const namesIn = (text: string): readonly string[] =>
  [...text.matchAll(/`([^`\n]+)`/g)].flatMap(([, name = '']) => (/\/|\.\w+$/.test(name) ? [name] : []));
const isThere = (name: string, page: string): boolean =>
  existsSync(name.includes('/') ? join(ROOT, name) : join(ROOT, dirname(page), name));
const missingIn = (page: string, text: string): readonly string[] =>
  namesIn(text).filter((name) => !isThere(name, page));

describe('the front pages of the folders of src', () => {
  it('are in each folder of at least three files', () => {
    expect(folders.length).toBeGreaterThan(50);
    expect(folders.map((folder) => `${folder}/README.md`).filter((page) => !pages.includes(page))).toEqual([]);
  });

  it.each(pages)(
    '%s is short, names a file to begin with, imports, users and tests, and only existing files',
    (page) => {
      const text = textOf(page);
      expect(text.trimEnd().split('\n').length).toBeLessThanOrEqual(MOST_LINES);
      expect(text).toMatch(
        /^# .+\n\n[^\n]+\n\n- Begin with `[\w-]+\.ts`: .+\n- Imports: .+\n- Used by .+\n- More: .+\n$/,
      );
      expect(missingIn(page, text)).toEqual([]);
    },
  );

  it('keep docs/style-words.md', () => {
    const banned = bannedWordsOf(textOf('docs/style-words.md'));
    expect(bannedInFiles(new URL('../../', import.meta.url), pages, banned)).toEqual([]);
  });
});

describe('the search for missing files', () => {
  it('finds them from the folder of the page, and from the root', () => {
    const text = 'Begin with `kubelet.ts` or `gone.ts`, then `src/gone` and `test/house`. `gone` is a word.\n';
    expect(missingIn('src/README.md', text)).toEqual(['gone.ts', 'src/gone']);
  });
});
