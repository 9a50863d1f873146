import { Observable } from 'rxjs';
import type { Readable } from 'node:stream';

/** Columns and rows. */
export interface TerminalSize {
  readonly width: number;
  readonly height: number;
}

const REST_MAX = 1_024;
const SIDE_MAX = 0xffff;

/** The sizes in concatenated JSON objects, and the text behind the last one. Other objects are skipped. */
export const terminalSizes = (text: string): { readonly sizes: readonly TerminalSize[]; readonly rest: string } => {
  const end = text.lastIndexOf('}') + 1;
  const sizes = (text.slice(0, end).match(/\{[^{}]*\}/g) ?? []).flatMap((object) => {
    try {
      const { Width: width, Height: height } = JSON.parse(object) as { Width?: unknown; Height?: unknown };
      return isSide(width) && isSide(height) ? [{ width, height }] : [];
    } catch {
      return [];
    }
  });
  return { sizes, rest: text.slice(end).slice(-REST_MAX) };
};

const isSide = (value: unknown): value is number =>
  Number.isInteger(value) && (value as number) >= 0 && (value as number) <= SIDE_MAX;

/** The sizes that arrive on a stream. Ends: with the stream. */
export const terminalSizesOf = (stream: Readable): Observable<TerminalSize> =>
  new Observable((subscriber) => {
    let rest = '';
    const read = (data: Buffer): void => {
      const found = terminalSizes(rest + data.toString('utf8'));
      ({ rest } = found);
      for (const size of found.sizes) subscriber.next(size);
    };
    const end = (): void => subscriber.complete();
    stream.on('data', read).once('close', end);
    return () => stream.off('data', read).off('close', end);
  });
