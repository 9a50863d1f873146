import type { Isolation } from '../confinement/isolation.js';
import { shellQuote, shellWords } from '../machine/shell-quote.js';

/** The reason why a terminal cannot be made here; undefined if it can. */
export const terminalProblem = ({ tools }: Pick<Isolation, 'tools'>): string | undefined =>
  tools.has('script')
    ? undefined
    : 'a terminal needs the program script of util-linux, which this machine does not have';

/**
 * The words that run the command on a new terminal, which script(1) makes. It copies its own input to the terminal, and the
 * output of the terminal to its own, and exits with the code of the command.
 */
export const onTerminal = (command: readonly string[], { tools }: Pick<Isolation, 'tools'>): readonly string[] => [
  ...[tools.get('script') ?? 'script', '-q', '-e', '-f', '-c'],
  `exec ${shellWords(command)}`,
  '/dev/null',
];

/** Shell lines that give the standard input to the user, who may open it by its name. */
export const giveInput = (uid: number): string => `chown ${uid} /proc/self/fd/0 2>/dev/null`;

/** Shell lines that write the device of the terminal into the file. */
export const writeTerminal = (file: string): string => `{ tty > ${shellQuote(file)}; } 2>/dev/null`;
