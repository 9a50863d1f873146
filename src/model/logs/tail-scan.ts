/** The newlines of a log file, counted from its end. */
export interface TailScan {
  /** The position down to which the file was read, in bytes. */
  readonly left: number;
  /** The number of newlines behind that position. */
  readonly newlines: number;
  /** The position at which the wanted lines begin, once it is known. */
  readonly start?: number;
}

/** Whether the position is known: the file is read to its beginning, or has enough newlines. */
export const isScanned = ({ left, start }: TailScan): boolean => left === 0 || start !== undefined;

/**
 * Returns the scan after one more block, which begins at the position `left`. The last `lineCount` lines begin after the newline that
 * precedes them.
 *
 * Source: staging/src/k8s.io/cri-client/pkg/logs/tail.go findTailLineStartIndex
 */
export const scanBlock = ({ newlines }: TailScan, left: number, block: Uint8Array, lineCount: number): TailScan => {
  const breaks = newlinesOf(block);
  const before = breaks[breaks.length - 1 - (lineCount - newlines)];
  return { left, newlines: newlines + breaks.length, ...(before !== undefined && { start: left + before + 1 }) };
};

const NEWLINE = 10;

/** The positions of the newlines in the block. */
const newlinesOf = (block: Uint8Array): readonly number[] => {
  const positions: number[] = [];
  for (let at = block.indexOf(NEWLINE); at !== -1; at = block.indexOf(NEWLINE, at + 1)) positions.push(at);
  return positions;
};
