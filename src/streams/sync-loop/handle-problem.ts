import type { PodConfigUpdate } from '../../model/config/pod-config.js';
import type { Logger } from '../ports/logger.js';
import type { LoopContext } from './loop-context.js';

/** Reports a problem of a source in the log, in the journal and, if it concerns a pod, as an event of that pod. */
export const handleProblem =
  ({ record, recordEvent, log }: Pick<LoopContext, 'record' | 'recordEvent' | 'log'>) =>
  ({ source, problem }: Extract<PodConfigUpdate, { readonly kind: 'problem' }>): void => {
    const { severity, message, from, continues, keeps, event } = problem;
    LEVELS[severity](log)({ source, from }, message);
    if (severity === 'debug') return;
    const cause =
      severity === 'info'
        ? record({ kind: 'config-recovered', source, from, causes: [] })
        : record({ kind: 'config-problem', source, problem: message, from, continues, keeps, causes: [] });
    if (event) recordEvent({ ...event, type: 'Warning', causes: [cause] });
  };

const LEVELS: Readonly<Record<'error' | 'warning' | 'info' | 'debug', (log: Logger) => Logger['info']>> = {
  error: (log) => log.error,
  warning: (log) => log.warn,
  info: (log) => log.info,
  debug: (log) => log.debug,
};
