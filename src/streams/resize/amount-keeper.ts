import { concat, concatMap, defer, EMPTY, ignoreElements, map, type Observable, of, tap } from 'rxjs';
import { errorText } from '../../model/cri/cri-error.js';
import {
  CHECKPOINT_NAMES,
  type CheckpointName,
  formatActuated,
  formatAllocated,
  parseActuated,
  parseAllocated,
} from '../../model/resize/checkpoints.js';
import type { KeptAmounts } from '../../model/resize/pod-resizes.js';
import { NO_RESIZES } from '../../model/resize/pod-resizes.js';
import { inSlots } from '../operators/in-slots.js';
import type { Checkpoints } from '../ports/checkpoints.js';
import type { KubeletState } from '../sync-loop/kubelet-state.js';

/** The amounts of resized pods on the disk. */
export interface AmountKeeper {
  /**
   * Reads what an earlier agent has kept. Errors: a checkpoint cannot be read; then what runs may have other amounts than the node counts.
   */
  readonly restore$: Observable<never>;
  /** Completes when the checkpoints have the newest amounts; at once if they do. Several callers share a write. Errors: of the write. */
  readonly save$: Observable<never>;
}

/** Source: pkg/kubelet/allocation/state/state_checkpoint.go */
export const amountKeeper = (
  state: Pick<KubeletState, 'value' | 'apply'>,
  checkpoints: Checkpoints | undefined,
): AmountKeeper => {
  if (!checkpoints) return { restore$: EMPTY, save$: EMPTY };
  const oneByOne = inSlots({ count: 1 });
  const { allocated, actuated } = CHECKPOINT_NAMES;
  const read = <T>(name: CheckpointName, parse: (text: string) => T, none: T): Observable<T> =>
    checkpoints.read(name).pipe(
      concatMap((text) => {
        try {
          return of(text === undefined ? none : parse(text));
        } catch (error) {
          throw unreadable(checkpoints.pathOf(name), error);
        }
      }),
    );
  const write = (name: CheckpointName, isSaved: boolean, content: () => string): Observable<never> =>
    isSaved ? EMPTY : checkpoints.write(name, content());
  return {
    restore$: read(allocated, parseAllocated, NO_RESIZES.allocated).pipe(
      concatMap((given) =>
        read(actuated, parseActuated, NO_RESIZES.actuated).pipe(map((have) => ({ allocated: given, actuated: have }))),
      ),
      tap((kept) => state.apply({ kind: 'resizes-restored', ...kept })),
      ignoreElements(),
    ),
    save$: defer(() => {
      const { saved, ...now } = state.value.resizes;
      const kept: KeptAmounts = { allocated: now.allocated, actuated: now.actuated };
      const isSaved = { allocated: saved.allocated === kept.allocated, actuated: saved.actuated === kept.actuated };
      if (isSaved.allocated && isSaved.actuated) return EMPTY;
      return concat(
        write(allocated, isSaved.allocated, () => formatAllocated(kept)),
        write(actuated, isSaved.actuated, () => formatActuated(kept)),
        defer(() => {
          state.apply({ kind: 'resizes-saved', ...kept });
          return EMPTY;
        }),
      );
    }).pipe(oneByOne()),
  };
};

const unreadable = (path: string, cause: unknown): Error =>
  new Error(
    `could not restore state from checkpoint: ${path}: ${errorText(cause)}, please drain this node and delete pod resource information checkpoint file "${path}" before restarting`,
    { cause },
  );
