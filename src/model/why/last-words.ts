import type { ContainerStory } from './pod-story.js';

/** Lines of a message that a reader wants to see; the end says most. */
const SHOWN_LINES = 10;

/** What a container and its runtime said of its last end, line by line below a heading; nothing when they said nothing. */
export const lastWords = ({ deaths }: ContainerStory): string[] => {
  const lines = (deaths.at(-1)?.message ?? '').trimEnd().split('\n').map(printable);
  if (lines.every((line) => line === '')) return [];
  const shown = lines.length > SHOWN_LINES ? ['…', ...lines.slice(-SHOWN_LINES)] : lines;
  return shown.map((line, index) => `${index === 0 ? 'message: ' : '         '}${line}`.trimEnd());
};

/** A container must not control the terminal of whoever asks. */
const printable = (line: string): string =>
  line.replace(/\p{Cc}/gu, (character) => (character === '\t' ? ' ' : character === '\r' ? '' : '\ufffd'));
