import { readdirSync, readFileSync, readlinkSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';

/** The agent has to get its share of the machine, too. */
const PAUSE_MS = 3;

/** Reads the files of a volume all the time. */
export interface VolumeReader {
  readonly looks: () => number;
  /** Different contents that it has seen. */
  readonly seen: ReadonlySet<string>;
  /** The content of the last look. */
  readonly newest: () => string | undefined;
  /** What no reader may ever find. */
  readonly problems: readonly string[];
  readonly stop: () => Promise<void>;
}

/**
 * Reads all files of a volume, in a loop, by the directory behind `..data`: they have one content. When `..data` has been switched
 * meanwhile, a read may end early, since the directory of before is gone. A file by its own name is always there.
 */
export const readVolume = (directory: string, files: readonly string[]): VolumeReader => {
  const seen = new Set<string>();
  let newest: string | undefined;
  const problems: string[] = [];
  let looks = 0;
  let isStopped = false;
  const target = (): string => readlinkSync(join(directory, '..data'));
  const lookAtAll = (): void => {
    const before = target();
    try {
      const names = readdirSync(join(directory, before)).toSorted();
      const contents = new Set(files.map((file) => readFileSync(join(directory, before, file), 'utf8')));
      if (contents.size !== 1 || names.join() !== files.join())
        throw new Error(`a mixture: ${names.join()} with ${[...contents].join()}`);
      [newest] = contents;
      for (const content of contents) seen.add(content);
    } catch (error) {
      if (target() === before) throw error;
    }
  };
  const lookAtOne = (): void => {
    for (const file of files) {
      if (readFileSync(join(directory, file), 'utf8') === '') throw new Error(`${file} is empty`);
    }
  };
  const read = async (): Promise<void> => {
    for (; !isStopped; looks += 1) {
      for (const look of [lookAtAll, lookAtOne]) {
        try {
          look();
        } catch (error) {
          problems.push(String(error));
        }
      }
      await setTimeout(PAUSE_MS);
    }
  };
  const reading = read();
  return {
    looks: () => looks,
    seen,
    newest: () => newest,
    problems,
    stop: () => {
      isStopped = true;
      return reading;
    },
  };
};
