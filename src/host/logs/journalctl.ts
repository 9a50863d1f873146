import { spawn } from 'node:child_process';
import { from, lastValueFrom, map, merge, Observable, of, reduce } from 'rxjs';
import { UNIT_ARGUMENTS } from '../../model/server/journalctl-arguments.js';
import { sendSignal } from '../../processes/send-signal.js';
import type { NodeJournal } from '../../streams/ports/node-journal.js';

export interface JournalctlOptions {
  /** The folders of programs, as in the variable PATH. */
  readonly path: string;
}

/** A list of units is shorter. */
const LONGEST_LIST = 4 * 1_024 * 1_024;

/**
 * The journal of this machine by the program `journalctl`, which is started with a vector of arguments, without a shell. Unsubscribing kills it.
 *
 * Source: pkg/kubelet/kubelet_server_journal_linux.go
 */
export const journalctl = ({ path }: JournalctlOptions): NodeJournal => {
  const read: NodeJournal['read'] = (args, ready) =>
    new Observable<Uint8Array>((subscriber) => {
      const child = spawn('journalctl', [...args], {
        stdio: ['ignore', 'pipe', 'pipe'],
        // Its settings of colours and pagers, and the rest of this environment, have no effect on the output.
        env: { PATH: path, LC_ALL: 'C.UTF-8' },
      });
      let hasEnded = false;
      const end$ = new Observable<never>((end) => {
        child.on('error', (error) => end.error(error));
        child.on('close', () => {
          hasEnded = true;
          end.complete();
        });
      });
      subscriber.add(() => {
        // Its number belongs to it until it was waited for. Without a number it was not started.
        const runs = !hasEnded && child.exitCode === null && child.signalCode === null;
        if (runs && child.pid !== undefined) sendSignal(child.pid, 'SIGKILL');
        child.stdout.destroy();
        child.stderr.destroy();
      });
      const chunksOf = (stream: NodeJS.ReadableStream) => from(inTurn(stream, ready));
      subscriber.add(merge(chunksOf(child.stdout), chunksOf(child.stderr), end$).subscribe(subscriber));
    });

  return {
    read,
    units: () =>
      read(UNIT_ARGUMENTS, () => of(true)).pipe(
        reduce((text, chunk) => {
          if (text.length > LONGEST_LIST) throw new Error('the journal lists too many units');
          return text + Buffer.from(chunk).toString('latin1');
        }, ''),
        map((text) => new Set(text.split('\n'))),
      ),
  };
};

/** The next chunk is read when the reader is ready. A stream that breaks off is complete: the end of the process is reported by itself. */
async function* inTurn(stream: NodeJS.ReadableStream, ready: () => Observable<unknown>): AsyncGenerator<Uint8Array> {
  try {
    for await (const chunk of stream as AsyncIterable<Buffer>) {
      yield chunk;
      await lastValueFrom(ready(), { defaultValue: undefined });
    }
  } catch {
    return;
  }
}
