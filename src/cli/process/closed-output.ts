/** The reader is gone: the pipe is closed, or the terminal. */
const GONE = ['EPIPE', 'EIO'];

const isOutputGone = (error: unknown): boolean => GONE.includes((error as NodeJS.ErrnoException).code ?? '');

/**
 * Ends the process without a message when its standard output is closed, with the exit code that it has by then: the
 * reader has read all that it wanted. If output cannot be written for another reason, one line reports it.
 */
export const endWithOutput = (): void => {
  process.stderr.on('error', () => undefined);
  process.stdout.on('error', (error: Error) => {
    if (isOutputGone(error)) process.exit();
    process.stderr.write(`Error: cannot write: ${error.message}\n`);
    process.exit(1);
  });
};

/** For a process that does more than write: calls `closed` when an output is closed, and ignores other write errors. */
export const whenOutputCloses = (closed: () => void): void => {
  for (const output of [process.stdout, process.stderr]) {
    output.removeAllListeners('error');
    output.on('error', (error) => {
      if (isOutputGone(error)) closed();
    });
  }
};
