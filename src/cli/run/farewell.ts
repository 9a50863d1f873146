import { isTerminalPhase, type Pod } from '../../model/pod/pod.js';

export interface Leaving {
  /** The pods of the agent. */
  readonly pods: readonly Pod[];
  readonly stopsPods: boolean;
  /** The process ID of the embedded runtime, if it is known: this agent has started it, or has found it running. */
  readonly runtimePid: number | undefined;
}

/** The processes that keep running after the agent, and the command that stops them; undefined if there are none. */
export const farewell = ({ pods, stopsPods, runtimePid }: Leaving): string | undefined => {
  if (stopsPods) {
    return runtimePid === undefined
      ? undefined
      : `the embedded runtime (pid ${runtimePid}) keeps running for the next start; kill ${runtimePid} ends it`;
  }
  const count = pods.filter(({ status }) => !isTerminalPhase(status?.phase)).length;
  if (count === 0) return undefined;
  return `${count === 1 ? '1 pod goes' : `${count} pods go`} on running without the agent, and the next start finds ${count === 1 ? 'it' : 'them'} again; to stop ${count === 1 ? 'it' : 'them'}, start the agent again with --stop-pods-on-exit and end it`;
};
