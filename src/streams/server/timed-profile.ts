import { catchError, defer, map, type Observable, of, type SchedulerLike, timer } from 'rxjs';
import { errorText } from '../../model/cri/cri-error.js';
import { limitByKey } from '../operators/limit-by-key.js';
import type { CommandReply } from '../ports/container-command.js';
import type { RecordProfile, TakeProfile } from '../ports/record-profile.js';

export interface TimedProfileOptions {
  readonly record: RecordProfile;
  readonly scheduler: SchedulerLike;
}

/** A profile slows the whole process, and two would measure each other. */
const LIMITS = { inAll: 1, perKey: 1 };

/**
 * Returns the taker of profiles for `/debug/pprof`, one at a time.
 *
 * Errors: none; a profile that fails is a reply.
 * Source: pkg/kubelet/server/server.go InstallProfilingHandler
 */
export const timedProfile = ({ record, scheduler }: TimedProfileOptions): TakeProfile => {
  const limited = limitByKey({
    ...LIMITS,
    tooMany: () => new TooManyProfiles('a profile is being taken already'),
  });
  return ({ kind, seconds }) =>
    defer(() => record(kind, timer(seconds * 1_000, scheduler))).pipe(
      limited('profile'),
      map((body): CommandReply => ({ status: 200, type: 'application/json', body })),
      catchError((error: unknown): Observable<CommandReply> =>
        of({ status: error instanceof TooManyProfiles ? 429 : 500, body: `${errorText(error)}\n` }),
      ),
    );
};

class TooManyProfiles extends Error {}
