import { randomBytes } from 'node:crypto';
import { asyncScheduler, type SchedulerLike } from 'rxjs';
import type { AttachRequest, ExecRequest, PortForwardRequest } from '../../../generated/runtime/v1/api.js';
import type { Logger } from '../../../streams/ports/logger.js';
import type { Containers } from '../containers/containers.js';
import type { Isolation } from '../confinement/isolation.js';
import { failedPrecondition, invalidArgument } from '../runtime-error.js';
import type { Sandboxes } from '../sandboxes/sandboxes.js';
import { terminalProblem } from '../launch/terminal.js';
import { attachStream } from './commands/attach-stream.js';
import { execStream } from './commands/exec-stream.js';
import type { WantedStreams } from './remote-streams.js';
import { type StreamRequest, StreamingServer } from './streaming-server.js';

export interface StreamingCalls {
  readonly exec: (request: ExecRequest) => Promise<{ url: string }>;
  readonly attach: (request: AttachRequest) => Promise<{ url: string }>;
  readonly portForward: (request: PortForwardRequest) => Promise<{ url: string }>;
  /** Ends all sessions; resolves when their commands have ended. */
  readonly close: () => Promise<void>;
}

interface StreamingParts {
  readonly isolation: Isolation;
  readonly containers: Containers;
  readonly sandboxes: Sandboxes;
  readonly log: Logger;
  readonly scheduler?: SchedulerLike;
  /** Secure random bytes. */
  readonly random?: (bytes: number) => Buffer;
}

/** Source: k8s.io/kubelet/pkg/cri/streaming/server.go validateExecRequest, validateAttachRequest */
const checkStreams = (containerId: string, { stdin, stdout, stderr, tty }: WantedStreams, or: 'or' | 'and'): void => {
  if (containerId === '') throw invalidArgument('missing required container_id');
  if (tty && stderr) throw invalidArgument('tty and stderr cannot both be true');
  if (!stdin && !stdout && !stderr) throw invalidArgument(`one of stdin, stdout, ${or} stderr must be set`);
};

/** Exec, Attach and PortForward of the CRI. The server behind them starts with the first call. */
export const streamingCalls = (parts: StreamingParts): StreamingCalls => {
  const { isolation, containers, sandboxes, log, scheduler = asyncScheduler, random = randomBytes } = parts;
  let server: StreamingServer | undefined;
  const urlFor = async (request: StreamRequest): Promise<{ url: string }> => {
    server ??= new StreamingServer({ random, scheduler, log });
    return { url: await server.urlFor(request) };
  };
  return {
    exec: async ({ containerId, cmd, tty, stdin, stdout, stderr }) => {
      const wanted = { tty, stdin, stdout, stderr };
      checkStreams(containerId, wanted, 'or');
      if (cmd.length === 0) throw invalidArgument('cmd: expected a command');
      containers.getRunning(containerId);
      const problem = tty ? terminalProblem(isolation) : undefined;
      if (problem !== undefined) throw failedPrecondition(problem);
      return urlFor({
        kind: 'exec',
        wanted,
        run: async (streams) => {
          const container = containers.getRunning(containerId);
          const scratchDirectory = containers.directory(containerId);
          const exitCode = await execStream(container, cmd, streams, {
            isolation,
            groups: containers.commandGroups,
            scratchDirectory,
            tty,
            scheduler,
            log,
          });
          if (exitCode === 0) return undefined;
          const message = `error executing command [${cmd.join(' ')}], exit code ${exitCode}`;
          return { kind: 'exit', exitCode, message };
        },
      });
    },
    attach: async ({ containerId, tty, stdin, stdout, stderr }) => {
      const wanted = { tty, stdin, stdout, stderr };
      checkStreams(containerId, wanted, 'and');
      const { config } = containers.getRunning(containerId);
      if (stdin && !config.stdin)
        throw failedPrecondition(`container "${containerId}" has no input: it was created without stdin`);
      return urlFor({
        kind: 'attach',
        wanted,
        run: async (streams) => {
          const container = containers.getRunning(containerId);
          await attachStream(container, streams, {
            paths: containers.outputFiles(container),
            input: container.config.stdin ? containers.input(container) : undefined,
            terminal: containers.terminal(container),
            isolation,
            log,
          });
          return undefined;
        },
      });
    },
    portForward: async ({ podSandboxId, port }) => {
      if (podSandboxId === '') throw invalidArgument('missing required pod_sandbox_id');
      const requireReady = () => sandboxes.getReady(podSandboxId);
      const { over } = requireReady();
      const target = { sandboxId: podSandboxId, requireReady, over: over.signal };
      return urlFor({ kind: 'portforward', target, ports: port });
    },
    close: async () => server?.close(),
  };
};
