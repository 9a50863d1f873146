import { errorText, isCriError } from '../../model/cri/cri-error.js';
import { MAX_STREAM_RETRIES, type RuntimeEventNews } from '../pleg/runtime-events.js';
import type { LoopContext } from './loop-context.js';

/** Measures the stream of container events, and logs when it opens, when it breaks and when relists replace it. */
export const observeRuntimeEvents =
  ({ metrics, log, wallClock }: Pick<LoopContext, 'metrics' | 'log' | 'wallClock'>) =>
  (news: RuntimeEventNews): void => {
    switch (news.kind) {
      case 'event':
        metrics.runtimeEvent(Math.max(0, wallClock() - Number(news.createdAt / 1_000n) / 1_000) / 1_000);
        return;
      case 'connected':
        metrics.runtimeEventsConnected();
        log.info({}, 'the stream of container events is open');
        return;
      case 'broken': {
        metrics.runtimeEventsBroken();
        const { failures } = news;
        const error = errorText(news.error);
        if (isCriError(news.error, 'unimplemented')) {
          if (failures === 1) log.info({ error }, 'the runtime has no container events; relists replace them');
        } else if (failures === 1) log.warn({ error }, 'the stream of container events broke');
        else if (failures === MAX_STREAM_RETRIES) log.warn({ error, failures }, 'relists replace container events');
      }
    }
  };
