import type { PodConfigUpdate } from '../../model/pod-config.js';
import type { Logger } from '../ports.js';
import type { LoopDesk } from './loop-desk.js';

/** Says what a source has to say, in the log, in the journal and, where a pod is meant, as an event of that pod. */
export const handleProblem =
  ({ record, recordEvent, log }: Pick<LoopDesk, 'record' | 'recordEvent' | 'log'>) =>
  ({ source, problem }: Extract<PodConfigUpdate, { readonly kind: 'problem' }>): void => {
    const { severity, message, from, keeps, event } = problem;
    LEVELS[severity](log)({ source, from }, message);
    if (severity === 'debug') return;
    const cause =
      severity === 'info'
        ? record({ kind: 'config-recovered', source, from, causes: [] })
        : record({ kind: 'config-problem', source, problem: message, from, keeps, causes: [] });
    if (event) recordEvent({ ...event, type: 'Warning', causes: [cause] });
  };

const LEVELS: Readonly<Record<'error' | 'warning' | 'info' | 'debug', (log: Logger) => Logger['info']>> = {
  error: (log) => log.error,
  warning: (log) => log.warn,
  info: (log) => log.info,
  debug: (log) => log.debug,
};
