import type { ChildProcess } from 'node:child_process';

const REPORT_MAX = 64 * 1024;

/** The lines of a relay on descriptor 3; each promise also settles when the relay has ended. */
export interface RelayReports {
  /** The command itself runs from now on. */
  readonly ready: Promise<void>;
  /** The device of the terminal, if there is one. */
  readonly terminal: Promise<string | undefined>;
  /** The exit code; undefined if the command itself did not run: the code belongs to a shell or to nsenter then. */
  readonly exitCode: Promise<number | undefined>;
  /** The reason why it did not run, if it could not be written into a file. */
  readonly failure: () => string | undefined;
}

export const relayReports = (child: ChildProcess): RelayReports => {
  const pipe = child.stdio[3];
  let text = '';
  const line = (pattern: RegExp): Promise<string | undefined> =>
    new Promise((resolve) => {
      pipe?.on('data', () => {
        const found = pattern.exec(text)?.[1];
        if (found !== undefined) resolve(found);
      });
      child.once('close', () => resolve(undefined));
    });
  pipe?.on('data', (chunk: Buffer) => (text = (text + chunk.toString('utf8')).slice(0, REPORT_MAX)));
  pipe?.on('error', () => undefined);
  const isReady = (): boolean => /^ready$/m.test(text);
  return {
    ready: line(/^(ready)\n/m).then(() => undefined),
    terminal: line(/^tty (\/dev\/.*)\n/m),
    exitCode: line(/^exit (\d+)\n/m).then((code) => (code !== undefined && isReady() ? Number(code) : undefined)),
    failure: () => /^failed (.*)$/m.exec(text)?.[1],
  };
};
