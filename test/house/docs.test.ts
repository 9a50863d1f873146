import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';

const root = fileURLToPath(new URL('../..', import.meta.url));

const pages = ['', 'docs'].flatMap((folder) =>
  readdirSync(join(root, folder))
    .filter((name) => name.endsWith('.md'))
    .map((name) => join(folder, name)),
);

const matches = (page: string, pattern: RegExp): readonly string[] =>
  [...readFileSync(join(root, page), 'utf8').matchAll(pattern)].map(([, match = '']) => match);

/** As GitHub makes an anchor of a heading. */
const anchor = (heading: string): string =>
  heading
    .toLowerCase()
    .replace(/[^\p{L}\p{N} _-]/gu, '')
    .replaceAll(' ', '-');

describe.each(pages)('%s', (page) => {
  it('links to files and headings that exist', () => {
    const broken = matches(page, /\]\((?!https?:)([^)\s]+)\)/g).filter((link) => {
      const [file = '', heading] = link.split('#');
      const target = file === '' ? page : join(dirname(page), file);
      if (!existsSync(join(root, target))) return true;
      return (
        heading !== undefined &&
        !matches(target, /^#+ (.*)$/gm)
          .map(anchor)
          .includes(heading)
      );
    });
    expect(broken).toEqual([]);
  });

  it('names files that exist', () => {
    const named = matches(page, /`((?:src|test|docs|examples|bench|proto|scripts)\/[\w./-]+\.\w+)`/g);
    // What a build makes is not in a fresh checkout.
    const isMade = (file: string): boolean => file.startsWith('src/generated/');
    expect(named.filter((file) => !isMade(file) && !existsSync(join(root, file)))).toEqual([]);
  });

  it('names commands of package.json that exist', () => {
    const { scripts } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as { scripts: object };
    const known = Object.keys(scripts);
    const named = matches(page, /\bnpm run ([\w:-]*\w)/g);
    expect(named.filter((name) => !known.includes(name))).toEqual([]);
  });
});

describe('the packages of an installation', () => {
  const { dependencies } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as { dependencies: object };
  const section = readFileSync(join(root, 'CONTRIBUTING.md'), 'utf8')
    .split('### Dependencies\n')[1]
    ?.split('\nVersions ')[0];
  const rows = [...(section ?? '').matchAll(/^\| (`[^|]*)\|([^|]*)\|$/gm)].flatMap(([, names = '', reason = '']) =>
    [...names.matchAll(/`([^`]+)`/g)].map(([, name = '']) => ({ name, reason: reason.trim() })),
  );

  it('are in the table of CONTRIBUTING.md, and no others', () => {
    expect(rows.map(({ name }) => name).toSorted()).toEqual(Object.keys(dependencies).toSorted());
  });

  it('have a reason each', () => {
    expect(rows.filter(({ reason }) => reason.split(' ').length < 3)).toEqual([]);
  });
});
