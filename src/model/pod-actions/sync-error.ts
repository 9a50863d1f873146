import { earliestEnd, isStartWait, type StartWait } from './start-wait.js';

/** A newer update cancelled the sync. No work is lost: that update waits already. */
export class SyncCancelled extends Error {
  override readonly name = 'SyncCancelled';
  constructor() {
    super('the run was cancelled by a newer update');
  }
}

/** The runtime's network is not ready, and the pod needs one. Source: pkg/kubelet/errors.go NetworkNotReadyErrorMsg */
export class NetworkNotReady extends Error {
  override readonly name = 'NetworkNotReady';
  constructor(detail: string) {
    super(`network is not ready: ${detail}`);
  }
}

/**
 * One container that could not be started or stopped, by the reason that the API status shows.
 *
 * Source: pkg/kubelet/container/sync_result.go SyncResult
 */
export class ContainerSyncError extends Error {
  override readonly name = 'ContainerSyncError';

  constructor(
    readonly container: string,
    /** `ErrImagePull`, `RunContainerError`, ... */
    readonly reason: string,
    message: string,
    options: ErrorOptions = {},
  ) {
    super(message, options);
  }
}

/** The failures of one sync, one per container or sandbox, in order; and between them the containers that wait. */
export class PodSyncError extends Error {
  override readonly name = 'PodSyncError';
  /** The earliest end of a wait, Unix milliseconds. */
  readonly waitsUntil: number | undefined;

  constructor(readonly problems: readonly (Error | StartWait)[]) {
    super(problemsText(problems));
    this.waitsUntil = earliestEnd(problems.filter(isStartWait));
  }
}

/** Returns one text for all `problems` of a sync. */
export const problemsText = (problems: readonly (Error | StartWait)[]): string =>
  problems.length === 1 ? describe(problems[0]!) : `[${problems.map(describe).join(', ')}]`;

const describe = (problem: Error | StartWait): string =>
  problem instanceof ContainerSyncError || isStartWait(problem)
    ? `container "${problem.container}": ${problem.reason}: ${problem.message}`
    : problem.message;

export const isNetworkNotReady = (error: unknown): boolean =>
  error instanceof NetworkNotReady || (error instanceof PodSyncError && error.problems.some(isNetworkNotReady));
