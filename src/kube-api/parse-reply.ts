import { setImmediate } from 'node:timers/promises';
import { MOST_VALUES, scanByte, startScan } from './json-values.js';

/** The largest text that is parsed at once, which takes some milliseconds at worst. */
const AT_ONCE_BYTES = 128 * 1024;
/** The number of bytes that are scanned in one turn of the event loop. */
const SLICE_BYTES = 256 * 1024;

export interface ReplyBounds {
  /** The limit for the values of the reply without its items, and of each item. */
  readonly mostValues?: number;
  readonly mostItems?: number;
  readonly atOnceBytes?: number;
  readonly sliceBytes?: number;
}

const MOST_ITEMS = 100_000;

/**
 * Parses a JSON text with the result of `JSON.parse`, without a long hold-up of the thread: a large text is scanned in slices and the
 * items of a list are parsed one by one, with turns of the event loop between.
 *
 * Errors: rejects if the text is not JSON, or has more values than an object of the API.
 */
export const parseReply = async (
  bytes: Buffer,
  {
    mostValues = MOST_VALUES,
    mostItems = MOST_ITEMS,
    atOnceBytes = AT_ONCE_BYTES,
    sliceBytes = SLICE_BYTES,
  }: ReplyBounds = {},
): Promise<unknown> => {
  if (bytes.length <= atOnceBytes) return JSON.parse(bytes.toString('utf8'));
  const scan = startScan();
  /** The place of the items. If several fields have that name, the last one counts, as in `JSON.parse`. */
  let items: { readonly from: number; readonly ends: number[] } | undefined;
  let isInItems = false;
  let values = 0;
  for (let at = 0; at < bytes.length; at++) {
    if (at % sliceBytes === 0) await setImmediate();
    const what = scanByte(scan, bytes[at]);
    if (what === undefined) continue;
    if (what === 'open' && scan.depth === 2 && isBegunByItems(bytes, at)) {
      items = { from: at, ends: [] };
      isInItems = true;
      values = 0;
    } else if (
      isInItems &&
      items &&
      ((what === 'comma' && scan.depth === 2) || (what === 'close' && scan.depth === 1))
    ) {
      items.ends.push(at);
      if (items.ends.length > mostItems) throw new Error(`it has more than ${mostItems} items`);
      isInItems = what === 'comma';
      values = 0;
    } else if (what !== 'close') {
      values += 1;
      if (values > mostValues) throw new Error(`an object holds more than ${mostValues} values`);
    }
  }
  if (!items || isInItems) return JSON.parse(bytes.toString('utf8'));
  return withItems(bytes, items, sliceBytes);
};

const OPEN_LIST = 0x5b;
/** The number of bytes before the bracket that are compared. With more white space the list is parsed at once. */
const BEFORE_LIST_BYTES = 64;

/** Whether this is the bracket of `"items": [`. */
const isBegunByItems = (bytes: Buffer, at: number): boolean =>
  bytes[at] === OPEN_LIST &&
  /[{,\s]"items"\s*:\s*$/.test(bytes.toString('latin1', Math.max(0, at - BEFORE_LIST_BYTES), at));

const withItems = async (
  bytes: Buffer,
  { from, ends }: { readonly from: number; readonly ends: readonly number[] },
  sliceBytes: number,
): Promise<unknown> => {
  const text = (start: number, end?: number): string => bytes.toString('utf8', start, end);
  const whole = JSON.parse(`${text(0, from)}[]${text((ends.at(-1) ?? from) + 1)}`) as {
    readonly items: unknown;
  };
  const parsed: unknown[] = [];
  let pauseAt = from + sliceBytes;
  let start = from + 1;
  for (const end of ends) {
    const item = text(start, end);
    if (ends.length > 1 || item.trim() !== '') parsed.push(JSON.parse(item));
    start = end + 1;
    if (end >= pauseAt) {
      pauseAt = end + sliceBytes;
      await setImmediate();
    }
  }
  // A later field of the same name counts, which is no list.
  return Array.isArray(whole.items) ? { ...whole, items: parsed } : whole;
};
