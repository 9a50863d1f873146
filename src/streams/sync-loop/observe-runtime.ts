import type { LoopContext } from './loop-context.js';

/**
 * Returns whether pods can be synced now. Records and logs each change once, with its reason.
 *
 * Source: pkg/kubelet/kubelet.go syncLoop
 */
export const observeRuntime = (
  { record, log }: Pick<LoopContext, 'record' | 'log'>,
  problemNow: () => string | undefined,
): (() => boolean) => {
  let recorded: string | undefined;
  return () => {
    const message = problemNow();
    if (message !== recorded) {
      recorded = message;
      record({ kind: 'runtime-health', healthy: message === undefined, message, causes: [] });
      if (message === undefined) log.info({}, 'the runtime is healthy, pods are synced');
      else log.error({ error: message }, 'the runtime is not healthy, pods are not synced');
    }
    return message === undefined;
  };
};
