import { formatPod, podRef } from '../../model/pod/pod.js';
import type { Logger } from '../../streams/ports/logger.js';
import type { RecordEvent } from '../../streams/ports/record-event.js';
import type { RecordJournal } from '../../streams/ports/record-journal.js';

/** Writes the events of the Kubernetes API into the journal and the log; without an API server they go nowhere else. */
export const eventRecorder =
  (record: RecordJournal, log: Logger): RecordEvent =>
  ({ pod, container, type, reason, message, causes }) => {
    record({ kind: 'event', type, reason, message, container, pod: pod && podRef(pod), causes });
    const say = type === 'Warning' ? log.warn : log.info;
    const about = [pod ? formatPod(pod) : 'the node', container].filter((part) => part !== undefined).join('/');
    say({ reason }, `${about} ${reason}: ${message}`);
  };
