import { pathsFor } from '../arguments/prepare-run.js';
import { containerTarget, findContainer } from '../local/find-container.js';
import { runSession } from '../local/run-session.js';

/** The flags of `exec`, as commander returns them. */
export interface ExecFlags {
  readonly container?: string;
  readonly namespace?: string;
  readonly stdin: boolean;
  readonly tty: boolean;
  readonly quiet: boolean;
  readonly rootDir: string;
}

/**
 * Returns the pod and the command of the operands, of which the last `afterDashes` stood behind `--`.
 *
 * Errors: there is no command, or it stands before `--`, in the texts of kubectl.
 * Source: staging/src/k8s.io/kubectl/pkg/cmd/exec/exec.go Complete, Validate
 */
export const execOperands = (
  operands: readonly string[],
  afterDashes: number,
): { readonly target: string; readonly command: readonly string[] } => {
  const count = operands.length - afterDashes;
  const [target] = operands.slice(0, count);
  if (target === undefined) throw new Error('pod or type/name must be specified');
  if (count > 1) throw new Error('exec [POD] [COMMAND] is not supported anymore. Use exec [POD] -- [COMMAND] instead');
  const command = operands.slice(count);
  if (command.length === 0) throw new Error('you must specify at least one command for the container');
  return { target, command };
};

/**
 * Runs a command in a container over the streams of this process, and sets its exit code.
 *
 * Errors: no agent runs; there is no such pod or container; the command could not be run.
 */
export const execInContainer = async (
  operands: readonly string[],
  afterDashes: number,
  { container, namespace, rootDir, stdin, tty, quiet }: ExecFlags,
): Promise<void> => {
  const { target, command } = execOperands(operands, afterDashes);
  const paths = pathsFor(rootDir);
  const found = await findContainer(paths, { ...containerTarget(target, container), namespace });
  process.exitCode = await runSession(paths, { ...found, kind: 'exec', command, stdin, tty, quiet });
};
