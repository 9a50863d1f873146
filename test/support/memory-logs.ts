import { defer, EMPTY, finalize, map, type Observable, of } from 'rxjs';
import type { LogReading } from '../../src/streams/ports/log-reading.js';

/** A line of a CRI log. */
export const criLine = (content: string, tags = 'F'): string => `2026-01-31T12:00:00Z stdout ${tags} ${content}\n`;

interface MemoryLog {
  readonly identity: string;
  bytes: Buffer;
}

/** Log files in memory, which change when a test says so. */
export class MemoryLogs {
  private readonly files = new Map<string, MemoryLog>();
  private made = 0;
  /** Files that are open now. */
  openCount = 0;
  /** Bytes that were read. */
  readCount = 0;

  /** Another file takes the place of the one at the path. */
  create(path: string, text = ''): void {
    this.made += 1;
    this.files.set(path, { identity: `file ${this.made}`, bytes: Buffer.from(text) });
  }

  append(path: string, text: string): void {
    const file = this.files.get(path);
    if (!file) throw new Error(`there is no ${path}`);
    file.bytes = Buffer.concat([file.bytes, Buffer.from(text)]);
  }

  truncate(path: string, text = ''): void {
    const file = this.files.get(path);
    if (file) file.bytes = Buffer.from(text);
  }

  rename(from: string, to: string): void {
    const file = this.files.get(from);
    if (file) this.files.set(to, file);
    this.files.delete(from);
  }

  /** The port on these files. A read takes as long as `reading$`. */
  port(watch: () => Observable<unknown> = () => EMPTY, reading$: Observable<unknown> = of(true)): LogReading {
    return {
      open: (path, use) =>
        defer(() => {
          const file = this.files.get(path);
          if (!file) return use(undefined);
          this.openCount += 1;
          return use({
            identity: file.identity,
            size: () => defer(() => of(file.bytes.length)),
            read: (position, length) =>
              defer(() => {
                const bytes = file.bytes.subarray(position, position + length);
                this.readCount += bytes.length;
                return reading$.pipe(map(() => bytes));
              }),
          }).pipe(finalize(() => (this.openCount -= 1)));
        }),
      identity: (path) => defer(() => of(this.files.get(path)?.identity)),
      changes: watch,
    };
  }
}
