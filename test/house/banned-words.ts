import { readFileSync } from 'node:fs';

export interface BannedWord {
  readonly word: string;
  /** The replacement that the page names. */
  readonly instead: string;
}

const cellsOf = (line: string): readonly string[] =>
  line
    .split('|')
    .slice(1, -1)
    .map((cell) => cell.trim());

/** The words in backticks in the first column of the table under "Banned words". */
export const bannedWordsOf = (page: string): readonly BannedWord[] =>
  (page.split('## Banned words\n')[1] ?? '').split('\n').flatMap((line) => {
    const [words = '', instead = ''] = cellsOf(line);
    return [...words.matchAll(/`([^`]+)`/g)].map(([, word = '']) => ({ word, instead }));
  });

/** Same length and same lines, without the text itself. */
const blank = (text: string): string => text.replace(/[^\n]/g, ' ');

/** The prose of Markdown: no fenced blocks, no code in backticks, no targets of links. */
const proseOfMarkdown = (text: string): string =>
  text
    .replace(/^( *)```[\s\S]*?^\1```/gm, blank)
    .replace(/`[^`]*`/g, blank)
    .replace(/\]\([^)\s]*\)/g, blank);

/** The prose of TypeScript: comments and texts in quotes. */
const proseOfCode = (text: string): string => {
  let end = 0;
  let prose = '';
  for (const { 0: part, index } of text.matchAll(
    /\/\*[\s\S]*?\*\/|\/\/.*|'(?:\\.|[^'\\\n])*'|"(?:\\.|[^"\\\n])*"|`(?:\\.|[^`\\])*`/g,
  )) {
    prose += blank(text.slice(end, index)) + part;
    end = index + part.length;
  }
  return prose + blank(text.slice(end));
};

/** A word as it may stand in prose: in any case, over the end of a line, or of a line of a comment. */
const patternOf = (word: string): string => `\\b${word.replaceAll(' ', '\\s+(?:(?:\\*|//)\\s+)?')}\\b`;

/** `FILE:LINE: "WORD"; write INSTEAD` for each banned word in the prose of the text of a file. */
export const bannedIn = (file: string, text: string, banned: readonly BannedWord[]): readonly string[] => {
  const prose = file.endsWith('.md') ? proseOfMarkdown(text) : proseOfCode(text);
  const all = new RegExp(banned.map(({ word }) => `(${patternOf(word)})`).join('|'), 'gi');
  return [...prose.matchAll(all)].map((match) => {
    const { word, instead } = banned[match.slice(1).findIndex((group) => group !== undefined)]!;
    return `${file}:${prose.slice(0, match.index).split('\n').length}: "${word}"; write ${instead}`;
  });
};

/** The same for files on disk; `root` is the folder to which they are relative. */
export const bannedInFiles = (
  root: URL,
  files: readonly string[],
  banned: readonly BannedWord[],
  without: (file: string, text: string) => string = (_file, text) => text,
): readonly string[] =>
  files.flatMap((file) => bannedIn(file, without(file, readFileSync(new URL(file, root), 'utf8')), banned));
