import type { Container } from '../../containers/container.js';
import { enterArguments } from '../../sandboxes/enter.js';
import type { Isolation } from '../../confinement/isolation.js';
import { environmentOf, payloadScript } from '../../launch/payload.js';
import { shellQuote, shellWords } from '../../machine/shell-quote.js';
import { giveInput, onTerminal } from '../../launch/terminal.js';

/** The files of one streamed command. */
export interface ExecFiles {
  readonly script: string;
  readonly error: string;
  readonly stdin: string;
  readonly stdout: string;
  readonly stderr: string;
}

export const execFiles = (base: string): ExecFiles => ({
  script: `${base}.sh`,
  error: `${base}.error`,
  stdin: `${base}.stdin`,
  stdout: `${base}.stdout`,
  stderr: `${base}.stderr`,
});

/**
 * The shell beside the command. It reports the exit code on descriptor 3, since a daemon may keep the pipes open for
 * longer. The script of the command is opened here, since a mount of the container may hide it.
 */
export const relayScript = (
  { record, sandbox }: Container,
  joinScript: string,
  files: ExecFiles,
  tty: boolean,
  isolation: Isolation,
): string => {
  const enter = enterArguments(isolation, sandbox.kinds, record.main?.pid, 'none');
  const shell = ['/bin/sh', '/proc/self/fd/5'];
  // The terminal is made inside the pod, so that the shell of a user leads its session and its jobs there.
  const command = [...enter, ...(tty ? onTerminal(shell, isolation) : shell)];
  const outputs = `> ${shellQuote(files.stdout)} 2> ${shellQuote(files.stderr)}`;
  const run = `( { ${joinScript}
} 2>/dev/null; exec ${shellWords(command)} 5< ${shellQuote(files.script)} ) ${outputs}
echo "exit $?" >&3`;
  if (tty) return `exec 2>/dev/null < ${shellQuote(files.stdin)}\n${run}\n`;
  // The input goes through a pipe without a name: a command that opens /dev/stdin would wait for a writer of a named one.
  return `
exec 2>/dev/null 6< ${shellQuote(files.stdin)}
${isolation.tools.get('cat') ?? 'cat'} <&6 6<&- 3>&- | {
exec 6<&-
${run}
}
`;
};

/** Reports the terminal's device. */
const terminalLine = `
echo "tty $(tty)" >&3`;

/** The command in the container's surroundings; see `payloadScript`. Its user may open its input by name. */
export const commandScript = (
  { config, record, sandbox }: Container,
  command: readonly string[],
  files: ExecFiles,
  tty: boolean,
  isolation: Isolation,
): string => {
  const environment = environmentOf(config, record.user, sandbox.config.hostname);
  const payload = {
    command,
    // As containerd does.
    environment: tty ? [...new Map<string, Uint8Array>([...environment, ['TERM', Buffer.from('xterm')]])] : environment,
    workingDirectory: config.workingDir || '/',
    user: record.user,
    mounts: undefined,
    oomScoreAdjustment: undefined,
    isCommand: true,
  };
  return `exec 5<&-${tty ? terminalLine : ''}\n${giveInput(record.user.uid)}\n${payloadScript(payload, isolation, files.error)}`;
};
