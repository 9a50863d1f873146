import type { LoopDesk } from './loop-desk.js';

/**
 * Whether pods can be synchronised now; every change of the answer is said once, with its reason.
 *
 * Source: pkg/kubelet/kubelet.go syncLoop
 */
export const observeRuntime = (
  { record, log }: Pick<LoopDesk, 'record' | 'log'>,
  problemNow: () => string | undefined,
): (() => boolean) => {
  let said: string | undefined;
  return () => {
    const message = problemNow();
    if (message !== said) {
      said = message;
      record({ kind: 'runtime-health', healthy: message === undefined, message, causes: [] });
      if (message === undefined) log.info({}, 'the runtime is well, pods are synchronised');
      else log.error({ error: message }, 'pods are not synchronised');
    }
    return message === undefined;
  };
};
