import { dirname, join, resolve } from 'node:path';

export interface PathInputs {
  /** `--root-dir`; empty unless given. */
  readonly rootDir: string;
  /** `podLogsDir` of the configuration; empty unless given. */
  readonly podLogsDir: string;
  /** `containerRuntimeEndpoint`; empty for the embedded runtime. */
  readonly runtimeEndpoint: string;
  readonly isRoot: boolean;
  readonly home: string;
  /** The environment variable; empty if it is not set. */
  readonly xdgStateHome: string;
  readonly workingDirectory: string;
}

export interface AgentPaths {
  readonly rootDir: string;
  readonly podLogsDir: string;
  /** Links to the logs of containers. */
  readonly containerLogsDir: string;
  readonly journalDir: string;
  /** The file with the address of the running agent. */
  readonly agentFile: string;
  /** The socket of the agent for its own user. */
  readonly agentSocket: string;
  readonly embedded: {
    readonly socketPath: string;
    readonly stateDirectory: string;
    readonly logFile: string;
  };
}

/**
 * The paths of an agent. Root uses `/var/lib/rx-kubelet`, an ordinary user a folder of the own state directory. Pod
 * logs of a real runtime are in the directory where every tool expects them; those of the embedded runtime are below
 * the root directory, since a real kubelet on the same machine removes unknown folders in `/var/log/pods`. Links to
 * logs are beside them, so that two agents with folders of their own do not conflict.
 */
export const agentPaths = (inputs: PathInputs): AgentPaths => {
  const rootDir = rootDirOf(inputs);
  const isBelowRoot = inputs.podLogsDir === '' && inputs.runtimeEndpoint === '';
  const podLogsDir = isBelowRoot ? join(rootDir, 'pod-logs') : inputs.podLogsDir || '/var/log/pods';
  return {
    rootDir,
    podLogsDir,
    containerLogsDir: isBelowRoot ? join(rootDir, 'container-logs') : join(dirname(podLogsDir), 'containers'),
    journalDir: join(rootDir, 'journal'),
    agentFile: join(rootDir, 'agent.json'),
    agentSocket: join(rootDir, 'agent', 'agent.sock'),
    embedded: {
      socketPath: join(rootDir, 'runtime', 'runtime.sock'),
      stateDirectory: join(rootDir, 'runtime', 'state'),
      logFile: join(rootDir, 'runtime', 'runtime.log'),
    },
  };
};

const rootDirOf = ({ rootDir, isRoot, home, xdgStateHome, workingDirectory }: PathInputs): string => {
  if (rootDir !== '') return resolve(workingDirectory, rootDir);
  if (isRoot) return '/var/lib/rx-kubelet';
  // The specification of these directories ignores a relative path.
  return join(xdgStateHome.startsWith('/') ? xdgStateHome : join(home, '.local', 'state'), 'rx-kubelet');
};
