import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import * as library from '../../src/index.js';
import { operatorTable } from './operator-table.js';

const ROOT = new URL('../../', import.meta.url);
const FOLDER = 'src/streams/operators/';
const textOf = (file: string): string => readFileSync(new URL(file, ROOT), 'utf8');

const rows = operatorTable();
/** The functions that the files of the folder export. */
const operators = readdirSync(new URL(FOLDER, ROOT))
  .filter((file) => file.endsWith('.ts'))
  .flatMap((file) => [...textOf(FOLDER + file).matchAll(/^export const ([a-z]\w*)\b/gm)].map(([, name = '']) => name));

/** The names that a file imports from the folder. */
const operatorsIn = (file: string): readonly string[] =>
  [...textOf(file).matchAll(/import \{([^}]*)\} from '[^']*\/operators\/[^']*'/g)].flatMap(([, names = '']) =>
    names.split(',').map((name) => name.trim()),
  );

describe('the table of operators in docs/library.md', () => {
  it('has a row for each operator of the folder, and no other', () => {
    expect(operators.length).toBeGreaterThan(10);
    expect(rows.map(({ name }) => name).sort()).toEqual([...operators].sort());
  });

  it('names operators that the library exports', () => {
    expect(rows.map(({ name }) => name).filter((name) => !(name in library))).toEqual([]);
  });

  it.each(rows)(
    'says for $name what it does, and names a file that uses it',
    ({ name, what, source, result, usedIn }) => {
      expect([what, source, result]).not.toContain('');
      expect(usedIn).not.toEqual([]);
      expect(usedIn.filter((file) => !existsSync(new URL(file, ROOT)) || !operatorsIn(file).includes(name))).toEqual(
        [],
      );
    },
  );
});
