import { dirname, join, resolve } from 'node:path';

export interface PathInputs {
  /** `--root-dir`; empty when it was not given. */
  readonly rootDir: string;
  /** `podLogsDir` of the configuration; empty when it was not given. */
  readonly podLogsDir: string;
  /** `containerRuntimeEndpoint`; empty for the embedded runtime. */
  readonly runtimeEndpoint: string;
  readonly isRoot: boolean;
  readonly home: string;
  /** The environment variable; empty when it is not set. */
  readonly xdgStateHome: string;
  readonly workingDirectory: string;
}

export interface AgentPaths {
  readonly rootDir: string;
  readonly podLogsDir: string;
  /** Links to the logs of containers. */
  readonly containerLogsDir: string;
  readonly journalDir: string;
  /** Where the agent says that it runs. */
  readonly agentFile: string;
  readonly embedded: {
    readonly socketPath: string;
    readonly stateDirectory: string;
    readonly logFile: string;
  };
}

/**
 * Where everything of an agent lies. Root owns `/var/lib/rx-kubelet`, an ordinary user has a folder of the own state
 * directory. Pod logs of a real runtime lie where every tool looks for them; those of the embedded runtime lie below the
 * root directory, since a real kubelet on the same machine cleans up what it does not know in `/var/log/pods`. Links to logs
 * lie beside them, so that two agents with folders of their own do not meet.
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
  // The specification of these directories says that a relative one is to be ignored.
  return join(xdgStateHome.startsWith('/') ? xdgStateHome : join(home, '.local', 'state'), 'rx-kubelet');
};
