import { logReading } from '../../host/logs/log-reading.js';
import { criClient } from '../../runtime/cri-client.js';
import { untilDrained } from '../../server/logs/until-drained.js';
import { requestedLog } from '../../streams/logs/requested-log.js';
import { readAgentFile } from '../running-agent/agent-file.js';
import { containerTarget } from '../local/find-container.js';
import { findLog } from '../logs/find-log.js';
import { type LogFlags, readLogFlags, requestedContainer } from '../logs/log-flags.js';
import { pathsFor } from '../arguments/prepare-run.js';

/** The deadline of a call to the runtime, which may hang. */
const RUNTIME_TIMEOUT_MS = 10_000;

/**
 * Prints the log of a container, to its end or, with `follow`, until the container has ended. The container may be part of the target
 * (`POD/CONTAINER`), an argument of its own or a flag. `now` is Unix milliseconds.
 *
 * Errors: the flags are invalid; there is no such pod, container or log; the log cannot be read.
 */
export const printLogs = async (
  target: string,
  argument: string | undefined,
  flags: LogFlags,
  now: number,
): Promise<void> => {
  const { namespace, rootDir, containerRuntimeEndpoint: endpoint } = flags;
  const { pod, container } = containerTarget(target, requestedContainer(argument, flags.container));
  const { previous, ...options } = readLogFlags(flags);
  const agent = readAgentFile(pathsFor(rootDir).agentFile);
  const paths = pathsFor(rootDir, flags.podLogsDir || (endpoint === '' ? (agent?.podLogsDir ?? '') : ''), endpoint);
  const client = criClient({
    endpoint: endpoint || `unix://${agent?.runtimeSocket ?? paths.embedded.socketPath}`,
    requestTimeoutMs: RUNTIME_TIMEOUT_MS,
  });
  try {
    const { path, isRunning, notes } = await findLog(
      {
        pod,
        previous,
        ...(namespace !== undefined && { namespace }),
        ...(container !== undefined && { container }),
      },
      { paths, runtime: client.runtime },
    );
    for (const note of notes) process.stderr.write(`${note}\n`);
    await requestedLog({
      ...{ path, files: logReading, options, now, isRunning },
      ready: () => untilDrained(process.stdout),
    }).forEach((bytes) => void process.stdout.write(bytes));
  } finally {
    client.close();
  }
};
