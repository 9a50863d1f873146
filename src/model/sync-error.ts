/** A run that was asked to stop by a newer update; the work is not lost, since that update is waiting already. */
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
    /** `CrashLoopBackOff`, `ErrImagePull`, `RunContainerError`, ... */
    readonly reason: string,
    message: string,
    readonly options: ErrorOptions & { readonly backOffUntil?: number } = {},
  ) {
    super(message, options);
  }
}

/** What went wrong in one pass over a pod, one error per container or sandbox. */
export class PodSyncError extends Error {
  override readonly name = 'PodSyncError';

  constructor(readonly errors: readonly Error[]) {
    super(errors.length === 1 ? describe(errors[0]!) : `[${errors.map(describe).join(', ')}]`);
  }
}

const describe = (error: Error): string =>
  error instanceof ContainerSyncError
    ? `container "${error.container}": ${error.reason}: ${error.message}`
    : error.message;

/** When the earliest of the back-offs in `error` ends (ms); undefined when there is none. */
export const backOffUntil = (error: unknown): number | undefined => {
  if (error instanceof ContainerSyncError) return error.options.backOffUntil;
  if (!(error instanceof PodSyncError)) return undefined;
  const ends = error.errors.map(backOffUntil).filter((end) => end !== undefined);
  return ends.length > 0 ? Math.min(...ends) : undefined;
};

export const isNetworkNotReady = (error: unknown): boolean =>
  error instanceof NetworkNotReady || (error instanceof PodSyncError && error.errors.some(isNetworkNotReady));
