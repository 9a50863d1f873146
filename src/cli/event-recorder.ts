import { formatPod, podRef } from '../model/pod.js';
import type { Logger, RecordEvent, RecordJournal } from '../streams/ports.js';

/** Writes the events of the Kubernetes API into the journal and the log; without an API server nobody else hears. */
export const eventRecorder =
  (record: RecordJournal, log: Logger): RecordEvent =>
  ({ pod, container, type, reason, message, causes }) => {
    record({ kind: 'event', type, reason, message, container, pod: pod && podRef(pod), causes });
    const say = type === 'Warning' ? log.warn : log.info;
    const about = [pod ? formatPod(pod) : 'the node', container].filter((part) => part !== undefined).join('/');
    say({ reason }, `${about} ${reason}: ${message}`);
  };
