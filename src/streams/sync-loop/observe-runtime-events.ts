import { errorText, isCriError } from '../../model/cri-error.js';
import { MAX_STREAM_RETRIES, type RuntimeEventNews } from '../runtime-events.js';
import type { LoopDesk } from './loop-desk.js';

/** Measures the stream of container events, and says what becomes of it: when it is there, when it breaks, when it is given up. */
export const observeRuntimeEvents =
  ({ metrics, log, wallClock }: Pick<LoopDesk, 'metrics' | 'log' | 'wallClock'>) =>
  (news: RuntimeEventNews): void => {
    switch (news.kind) {
      case 'event':
        metrics.runtimeEvent(Math.max(0, wallClock() - Number(news.createdAt / 1_000n) / 1_000) / 1_000);
        return;
      case 'connected':
        metrics.runtimeEventsConnected();
        log.info({}, 'the runtime tells what happens to containers');
        return;
      case 'broken': {
        metrics.runtimeEventsBroken();
        const { failures } = news;
        const error = errorText(news.error);
        if (isCriError(news.error, 'unimplemented')) {
          if (failures === 1) log.info({ error }, 'the runtime has no events of containers; it is asked by relists');
        } else if (failures === 1) log.warn({ error }, 'the stream of container events broke');
        else if (failures === MAX_STREAM_RETRIES) log.warn({ error, failures }, 'relists replace container events');
      }
    }
  };
