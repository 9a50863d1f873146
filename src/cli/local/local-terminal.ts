import { defer, finalize, fromEvent, map, type Observable, of, concat } from 'rxjs';
import type { TerminalSize } from '../../runtime/embedded/streaming/terminal-size.js';
import type { RemoteIo } from './remote-session.js';

export interface WantedIo {
  readonly stdin: boolean;
  readonly tty: boolean;
}

export interface LocalIo extends WantedIo {
  readonly notes: readonly string[];
}

/**
 * The streams that a session uses: a terminal needs standard input, and one on this side.
 *
 * Source: staging/src/k8s.io/kubectl/pkg/cmd/exec/exec.go SetupTTY
 */
export const usableIo = ({ stdin, tty }: WantedIo, isTerminal: boolean): LocalIo => {
  if (!stdin || !tty) return { stdin, tty: false, notes: [] };
  if (isTerminal) return { stdin, tty, notes: [] };
  return { stdin, tty: false, notes: ['Unable to use a TTY - input is not a terminal or the right kind of file'] };
};

/**
 * Runs a session over the standard streams of this process. With a terminal that one is raw meanwhile: keys such as Ctrl-C are
 * input of the remote command.
 */
export const overOwnStreams = <T>({ stdin, tty }: WantedIo, run: (io: RemoteIo) => Observable<T>): Observable<T> =>
  defer(() => {
    const { stdin: input, stdout, stderr } = process;
    // A terminal that was closed has no more input.
    if (stdin) input.on('error', () => undefined);
    if (tty) input.setRawMode(true);
    return run({
      stdin: stdin ? input : undefined,
      stdout,
      ...(tty ? { size$: ownSizes() } : { stderr }),
    }).pipe(
      finalize(() => {
        if (tty) input.setRawMode(false);
        // It would keep the process.
        if (stdin) input.destroy();
      }),
    );
  });

/** The size of the terminal, now and after each change. */
const ownSizes = (): Observable<TerminalSize> =>
  concat(of(undefined), fromEvent(process.stdout, 'resize')).pipe(
    map(() => ({ width: process.stdout.columns ?? 80, height: process.stdout.rows ?? 24 })),
  );
