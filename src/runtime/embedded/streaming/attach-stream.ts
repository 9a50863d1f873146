import type { Container } from '../container.js';
import { aborted } from './aborted.js';
import { followOutput } from './follow-output.js';
import type { RemoteStreams } from './remote-streams.js';

const OUTPUTS = ['stdout', 'stderr'] as const;

/**
 * Passes the container's output on from now on, and resolves when the container has ended or the client has gone. The
 * output comes from the files behind the log, so that it outlives the runtime as the log does. `paths` are those files.
 * Errors: they cannot be read.
 */
export const attachStream = async (
  container: Container,
  paths: Readonly<Record<(typeof OUTPUTS)[number], string>>,
  streams: Pick<RemoteStreams, 'stdout' | 'stderr' | 'gone'>,
): Promise<void> => {
  const followed = OUTPUTS.flatMap((name) => {
    const target = streams[name];
    return target ? [{ name, output: followOutput(paths[name], target) }] : [];
  });
  const { logWriter } = container;
  // A slow client must not find holes where its output was.
  const releases = followed.map(({ name, output }) => logWriter?.keepFrom(name, output.offset));
  const hasGone = aborted(streams.gone);
  try {
    await Promise.race([container.ended.promise, hasGone]);
    await Promise.race([Promise.all(followed.map(({ output }) => output.settled())), hasGone]);
  } finally {
    for (const release of releases) release?.();
    for (const { output } of followed) output.close();
  }
};
