import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { parseEnvFile } from '../../../src/model/cri/env-file.js';

const bytes = (text: string): Uint8Array => new TextEncoder().encode(text);
const read = (text: string) => {
  const { values, problem } = parseEnvFile(bytes(text));
  return { values: Object.fromEntries(values), problem };
};

const directory = mkdtempSync(join(tmpdir(), 'env-file-'));
afterAll(() => rmSync(directory, { recursive: true, force: true }));
/** The value of a variable of a shell that has read the file. */
const inShell = (text: string, name: string): string => {
  const file = join(directory, 'env');
  writeFileSync(file, text);
  return execFileSync('sh', ['-c', `. ${file} && printf '%sx' "$${name}"`], { encoding: 'utf8' }).slice(0, -1);
};

describe('an env file', () => {
  it.each<[what: string, text: string, values: Readonly<Record<string, string>>]>([
    ['has a variable in each line', "A='1'\nB='2'\n", { A: '1', B: '2' }],
    ['may lack the last line end', "A='1'\nB='2'", { A: '1', B: '2' }],
    ['may be empty', '', {}],
    ['has comments and blank lines', "# A='0'\n\n \t\n  # x\nA='1' # '\nB='2'\t\n", { A: '1', B: '2' }],
    ['may have blanks before a name', " \tA='1'\n", { A: '1' }],
    [
      'keeps a value as it is',
      `A=' a  b\t'\nB='$HOME \${X} \\n \\ "q" # = 中'\n`,
      { A: ' a  b\t', B: '$HOME ${X} \\n \\ "q" # = 中' },
    ],
    [
      'has values of several lines',
      "A='one\n  two\n\n# three\nB='\nC='3'\n",
      { A: 'one\n  two\n\n# three\nB=', C: '3' },
    ],
    ['may have empty values', "A=''\nB='2'\n", { A: '', B: '2' }],
  ])('%s, as a shell reads it', (_what, text, values) => {
    expect(read(text)).toEqual({ values, problem: undefined });
    for (const [name, value] of Object.entries(values)) expect(inShell(text, name)).toBe(value);
  });

  it.each<[what: string, text: string, values: Readonly<Record<string, string>>]>([
    ['the first of two values counts', "A='1'\nA='2'\n", { A: '1' }],
    ['a blank after = is an empty value', "A= '1'\nB=\tx y\nC='3'\n", { A: '', B: '', C: '3' }],
    ['CR LF ends a line', "A='1'\r\nB='x\r\ny'\r\n", { A: '1', B: 'x\ny' }],
    ['names may have other characters', "a.b-c d'e='1'\n", { "a.b-c d'e": '1' }],
    [
      'names may be those of objects',
      "__proto__='1'\nconstructor='2'\n",
      Object.fromEntries([
        ['__proto__', '1'],
        ['constructor', '2'],
      ]),
    ],
    ['a mark of the byte order is part of the name', "\ufeffA='1'\n", { '\ufeffA': '1' }],
    ['a comment needs no blank before it', "A='1'#x\n", { A: '1' }],
  ])('%s', (_what, text, values) => {
    expect(read(text)).toEqual({ values, problem: undefined });
  });

  it.each<[line: string, problem: string]>([
    ['NOTHING', `expected NAME='value', found no "="`],
    ["export A='1", 'expected a closing single quote'],
    ["='1'", 'expected a name before "="'],
    ["  ='1'", 'expected a name before "="'],
    ["A ='1'", 'expected no blank before "="'],
    ['A=1', 'expected a value in single quotes'],
    ['A="1"', 'expected a value in single quotes'],
    ['A=', 'expected a value in single quotes'],
    ["A='1''2'", 'expected nothing but a comment after the closing quote'],
    ["A='1' x", 'expected nothing but a comment after the closing quote'],
    ["A='1\n2", 'expected a closing single quote'],
  ])('has a problem in %j, and the variables before it', (line, problem) => {
    expect(read(`# x\nB='2'\n${line}`)).toEqual({ values: { B: '2' }, problem: `line 3: ${problem}` });
  });

  it('names the line of a problem inside of a value of several lines', () => {
    expect(read("A='1\n2'3'\nB='4'").problem).toBe('line 2: expected nothing but a comment after the closing quote');
  });

  it('has no variable behind a problem', () => {
    expect(read("A=1\nB='2'")).toEqual({ values: {}, problem: 'line 1: expected a value in single quotes' });
  });

  it('has lines of at most 65535 bytes', () => {
    const most = `x${'ü'.repeat(32_765)}`;
    expect(read(`A='${most}'`).values['A'] === most).toBe(true);
    expect(read(`A='${most}x'`)).toEqual({ values: {}, problem: 'line 1 is longer than 65535 bytes' });
    expect(read(`A='\n${most}${most}'`).problem).toBe('line 2 is longer than 65535 bytes');
  });

  it('is UTF-8', () => {
    const content = Buffer.concat([bytes("A='"), Buffer.from([0xff]), bytes("'\n")]);
    expect(parseEnvFile(content)).toEqual({ values: new Map(), problem: 'the file is not UTF-8 text' });
  });
});
