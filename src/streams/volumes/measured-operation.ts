import { defer, ignoreElements, type Observable, type SchedulerLike, tap } from 'rxjs';
import { errorText } from '../../model/cri/cri-error.js';
import type { JournalId } from '../../model/journal/journal.js';
import type { Volume } from '../../model/manifest/volume-defaults.js';
import { type Pod, podRef } from '../../model/pod/pod.js';
import { volumePluginOf } from '../../model/volumes/volume-plugin.js';
import type { Metrics } from '../ports/metrics.js';
import type { RecordJournal } from '../ports/record-journal.js';

export interface MeasuredOperationPorts {
  readonly record: RecordJournal;
  readonly metrics: Pick<Metrics, 'storageOperation'>;
  readonly scheduler: SchedulerLike;
  readonly causes: (uid: string) => readonly JournalId[];
}

export type VolumeStep = 'mount' | 'update' | 'unmount';

/**
 * Runs an operation on a volume with its duration in the metrics. The journal has each mount and unmount, and an update only if it
 * failed: most of them change nothing. An update that emits `unchanged` is not measured, since nothing was done.
 */
export const measuredOperation =
  ({ record, metrics, scheduler, causes }: MeasuredOperationPorts) =>
  (step: VolumeStep, pod: Pod, volume: Volume, operation$: Observable<'unchanged'>): Observable<never> =>
    defer(() => {
      const startedAt = scheduler.now();
      let isUnchanged = false;
      const end = (error?: unknown): void => {
        if (isUnchanged && error === undefined) return;
        const durationMs = scheduler.now() - startedAt;
        metrics.storageOperation({
          plugin: volumePluginOf(volume)?.name ?? '',
          operation: step === 'unmount' ? 'volume_unmount' : 'volume_mount',
          failed: error !== undefined,
          seconds: durationMs / 1_000,
        });
        if (step === 'update' && error === undefined) return;
        record({
          kind: 'volume',
          volume: volume.name,
          step,
          durationMs,
          ...(error !== undefined && { error: errorText(error) }),
          // A pod of which only the UID is known was of an earlier life.
          ...(pod.metadata.name !== '' && { pod: podRef(pod) }),
          causes: causes(pod.metadata.uid),
        });
      };
      return operation$.pipe(
        tap({ next: () => (isUnchanged = true), complete: () => end(), error: end }),
        ignoreElements(),
      );
    });
