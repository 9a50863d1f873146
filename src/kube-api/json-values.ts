/** The largest number of values in one object of the API. A pod has some hundred; an API server could hardly store more than this. */
export const MOST_VALUES = 100_000;

const [QUOTE, BACKSLASH, COMMA, NEWLINE] = [0x22, 0x5c, 0x2c, 0x0a];
const [OPEN_LIST, CLOSE_LIST, OPEN_MAPPING, CLOSE_MAPPING] = [0x5b, 0x5d, 0x7b, 0x7d];

/** The state of a scan of a JSON text, which can be continued at any byte. */
export interface JsonScan {
  isText: boolean;
  isEscaped: boolean;
  /** The number of open lists and mappings. */
  depth: number;
}

export const startScan = (): JsonScan => ({ isText: false, isEscaped: false, depth: 0 });

/** Returns the role of a byte in the structure: the start or end of a list or mapping, or a comma between values; else undefined. */
export const scanByte = (scan: JsonScan, byte: number | undefined): 'open' | 'close' | 'comma' | undefined => {
  if (scan.isText) {
    if (scan.isEscaped) scan.isEscaped = false;
    else if (byte === BACKSLASH) scan.isEscaped = true;
    else if (byte === QUOTE) scan.isText = false;
    return undefined;
  }
  switch (byte) {
    case QUOTE:
      scan.isText = true;
      return undefined;
    case COMMA:
      return 'comma';
    case OPEN_LIST:
    case OPEN_MAPPING:
      scan.depth += 1;
      return 'open';
    case CLOSE_LIST:
    case CLOSE_MAPPING:
      scan.depth -= 1;
      return 'close';
    default:
      return undefined;
  }
};

/**
 * Returns a function that counts the values of each line of a stream of JSON; it takes the next chunk, which may end anywhere.
 * `JSON.parse` cannot be stopped, and some millions of small values keep it and the garbage collector busy for a minute.
 *
 * Errors: throws as soon as a line has more than `mostPerLine` values.
 */
export const countLineValues = (mostPerLine = MOST_VALUES): ((chunk: Uint8Array) => void) => {
  let values = 0;
  let scan = startScan();
  return (chunk) => {
    for (const byte of chunk) {
      // A JSON text contains no newline, so the line ends here in any case.
      if (byte === NEWLINE) {
        values = 0;
        scan = startScan();
        continue;
      }
      const what = scanByte(scan, byte);
      if (what !== 'open' && what !== 'comma') continue;
      values += 1;
      if (values > mostPerLine) throw new Error(`a line holds more than ${mostPerLine} values`);
    }
  };
};
