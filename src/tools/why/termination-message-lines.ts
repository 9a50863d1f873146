import type { ContainerStory } from './container-story.js';

/** The number of lines that are shown; the last lines are the most useful ones. */
const SHOWN_LINES = 10;

/** Returns the termination message of a container's last end, line by line below a heading; empty without one. */
export const terminationMessageLines = ({ deaths }: ContainerStory): string[] => {
  const lines = (deaths.at(-1)?.message ?? '').trimEnd().split('\n').map(printable);
  if (lines.every((line) => line === '')) return [];
  const shown = lines.length > SHOWN_LINES ? ['…', ...lines.slice(-SHOWN_LINES)] : lines;
  return shown.map((line, index) => `${index === 0 ? 'message: ' : '         '}${line}`.trimEnd());
};

/** Control characters are removed, since they would control the reader's terminal. */
const printable = (line: string): string =>
  line.replace(/\p{Cc}/gu, (character) => (character === '\t' ? ' ' : character === '\r' ? '' : '\ufffd'));
