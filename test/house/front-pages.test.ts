import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { bannedInFiles, bannedWordsOf } from './banned-words.js';

const ROOT = join(import.meta.dirname, '../..');
const MOST_LINES = 15;
/** A folder with fewer files, or folders, needs no page. */
const PARTS_WITH_PAGE = 3;

const files = readdirSync(join(ROOT, 'src'), { recursive: true, encoding: 'utf8' })
  .map((file) => join('src', file))
  .filter((file) => !file.startsWith('src/generated/'));
const all = [...new Set(files.filter((file) => file.endsWith('.ts')).map(dirname))].flatMap((folder) => [
  folder,
  dirname(folder),
]);
/** The files of a folder, or the folders in it. */
const partsOf = (folder: string): number =>
  Math.max(
    files.filter((file) => file.endsWith('.ts') && dirname(file) === folder).length,
    new Set(all.filter((other) => dirname(other) === folder)).size,
  );
const folders = [...new Set(all)].filter((folder) => partsOf(folder) >= PARTS_WITH_PAGE && folder !== '.').sort();
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
  it('each folder of at least three files or folders has a front page', () => {
    expect(folders.length).toBeGreaterThan(50);
    expect(folders.map((folder) => `${folder}/README.md`).filter((page) => !pages.includes(page))).toEqual([]);
  });

  it.each(pages)(
    'the front page %s is short, and names a file to begin with, its tests, and only existing files',
    (page) => {
      const text = textOf(page);
      expect(text.trimEnd().split('\n').length).toBeLessThanOrEqual(MOST_LINES);
      expect(text).toMatch(/^# .+\n\n[^\n]+\n\n- Begin with `[\w/-]+\.ts`: .+\n- More: .+\n$/);
      expect(missingIn(page, text)).toEqual([]);
    },
  );

  it('the front pages keep docs/style-words.md', () => {
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
