import { formatPod, podRef } from '../model/pod.js';
import type { Logger, RecordEvent, RecordJournal } from '../streams/ports.js';

/** Writes the events of the Kubernetes API about pods into the journal and the log; without an API server nobody else hears. */
export const eventRecorder =
  (record: RecordJournal, log: Logger): RecordEvent =>
  ({ pod, container, type, reason, message, causes }) => {
    record({ kind: 'event', type, reason, message, container, pod: podRef(pod), causes });
    const say = type === 'Warning' ? log.warn : log.info;
    const about = container === undefined ? formatPod(pod) : `${formatPod(pod)}/${container}`;
    say({ reason }, `${about} ${reason}: ${message}`);
  };
