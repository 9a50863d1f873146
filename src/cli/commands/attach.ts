import type { Pod } from '../../model/pod/pod.js';
import { containerTarget, findContainer } from '../local/find-container.js';
import { runSession } from '../local/run-session.js';
import { pathsFor } from '../arguments/prepare-run.js';

/** The flags of `attach`, as commander returns them. */
export interface AttachFlags {
  readonly container?: string;
  readonly namespace?: string;
  readonly stdin: boolean;
  readonly tty: boolean;
  readonly quiet: boolean;
  readonly rootDir: string;
}

const hasTerminal = ({ spec }: Pod, container: string): boolean =>
  [...spec.containers, ...(spec.initContainers ?? []), ...(spec.ephemeralContainers ?? [])].some(
    ({ name, tty }) => name === container && tty === true,
  );

/**
 * Attaches the streams of this process to the main process of a container, until that ends.
 *
 * Errors: no agent runs; there is no such pod or container, or it does not run; the runtime refuses its input.
 * Source: staging/src/k8s.io/kubectl/pkg/cmd/attach/attach.go
 */
export const attachToContainer = async (target: string, flags: AttachFlags): Promise<void> => {
  const paths = pathsFor(flags.rootDir);
  const found = await findContainer(paths, { ...containerTarget(target, flags.container), namespace: flags.namespace });
  const { stdin, quiet } = flags;
  const hasOne = hasTerminal(found.pod, found.container);
  const notes = [
    ...found.notes,
    ...(flags.tty && !hasOne ? [`Unable to use a TTY - container ${found.container} did not allocate one`] : []),
    ...(stdin && hasOne && process.stdin.isTTY ? ["If you don't see a command prompt, try pressing enter."] : []),
  ];
  process.exitCode = await runSession(paths, { ...found, notes, kind: 'attach', stdin, tty: hasOne, quiet });
};
