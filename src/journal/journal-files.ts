import { readdirSync } from 'node:fs';
import { join } from 'node:path';

const NUMBERED = /^journal(?:\.(\d+))?\.jsonl$/;

/** The path of the file after `age` rotations; 0 is the current file. */
export const journalFile = (directory: string, age: number): string =>
  join(directory, age === 0 ? 'journal.jsonl' : `journal.${age}.jsonl`);

/** Ages of the journal files that exist, oldest first. None when the directory does not exist. */
export const journalFileAges = (directory: string): readonly number[] => {
  try {
    return readdirSync(directory)
      .flatMap((name) => {
        const match = NUMBERED.exec(name);
        return match ? [Number(match[1] ?? 0)] : [];
      })
      .sort((a, b) => b - a);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return [];
    throw error;
  }
};
