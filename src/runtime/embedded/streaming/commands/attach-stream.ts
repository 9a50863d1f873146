import { errorText } from '../../../../model/cri/cri-error.js';
import type { Logger } from '../../../../streams/ports/logger.js';
import { endsWithClient, type Container } from '../../containers/container.js';
import type { ContainerInput } from '../../launch/container-input.js';
import type { Isolation } from '../../confinement/isolation.js';
import { untilDone } from '../../machine/retry.js';
import { aborted } from './aborted.js';
import { attachInput } from './attach-input.js';
import { followOutput } from './follow-output.js';
import type { RemoteStreams } from '../remote-streams.js';
import { resizeTerminal } from './resize-terminal.js';

const OUTPUTS = ['stdout', 'stderr'] as const;

export interface AttachOptions {
  /** The files behind the log. */
  readonly paths: Readonly<Record<(typeof OUTPUTS)[number], string>>;
  /** Undefined for a container without `stdin`. */
  readonly input: ContainerInput | undefined;
  /** The device of the container's terminal, if it has one. */
  readonly terminal: string | undefined;
  readonly isolation: Isolation;
  readonly log: Logger;
}

/**
 * Joins a client with a container: passes the output on from now on, and the client's input and sizes to the container.
 * Resolves when the container has ended, or the client has gone or ended its input. The end of an input that is for one client
 * alone ends that of the container, and its output goes on. The output comes from the files behind the log, so that it
 * outlives the runtime as the log does. Errors: the files cannot be read; the input cannot be opened.
 *
 * Source: containerd's internal/cri/io/container_io.go Attach
 */
export const attachStream = async (
  container: Container,
  streams: Pick<RemoteStreams, 'stdin' | 'stdout' | 'stderr' | 'size$' | 'gone'>,
  { paths, input, terminal, isolation, log }: AttachOptions,
): Promise<void> => {
  const endsInput = input !== undefined && streams.stdin !== undefined && endsWithClient(container);
  const followed = OUTPUTS.flatMap((name) => {
    const target = streams[name];
    return target ? [{ name, output: followOutput(paths[name], target) }] : [];
  });
  const { logWriter } = container;
  // A slow client must not find holes where its output was.
  const releases = followed.map(({ name, output }) => logWriter?.keepFrom(name, output.offset));
  const resizes = streams.size$.pipe(resizeTerminal(Promise.resolve(terminal), isolation)).subscribe({
    error: (error: unknown) => log.warn({ error: errorText(error) }, 'a terminal could not be resized'),
  });
  const hasGone = aborted(streams.gone);
  const closeInput = (): Promise<unknown> =>
    untilDone(() => input?.close(), {
      what: 'the input of a container could not be closed',
      fields: { containerId: container.id },
      log,
      isOver: () => container.record.state !== 'running',
    });
  let attached: ReturnType<typeof attachInput> | undefined;
  try {
    if (input && streams.stdin) attached = attachInput(streams.stdin, input.open());
    const detached = attached && !endsInput ? [attached.done] : [];
    if (endsInput) void attached?.done.then(closeInput);
    await Promise.race([container.ended.promise, hasGone, ...detached]);
    await Promise.race([Promise.all(followed.map(({ output }) => output.settled())), hasGone]);
  } finally {
    attached?.close();
    if (endsInput) void closeInput();
    resizes.unsubscribe();
    for (const release of releases) release?.();
    for (const { output } of followed) output.close();
  }
};
