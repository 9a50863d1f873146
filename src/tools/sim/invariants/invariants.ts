import { apiDeletionsFinish } from './api-deletions-finish.js';
import { apiPodsOutliveContainers } from './api-pods-outlive-containers.js';
import { apiShowsWhatRuns } from './api-shows-what-runs.js';
import { apiStatusGoesForward } from './api-status-goes-forward.js';
import { attemptsRise } from './attempts-rise.js';
import { bootIsKnown } from './boot-is-known.js';
import { causes } from './causes.js';
import { deadlinesAreReal } from './deadlines-are-real.js';
import { endsAreTrue } from './ends-are-true.js';
import { endsAreReported } from './ends-are-reported.js';
import { evictionsAreDue } from './evictions-are-due.js';
import { fewStatusWrites } from './few-status-writes.js';
import { graceOnlyShrinks } from './grace-only-shrinks.js';
import { initOrder } from './init-order.js';
import { journalIsTrue } from './journal-is-true.js';
import { mirrorsMatch } from './mirrors-match.js';
import type { Invariant } from './monitor.js';
import { newestWantedRuns } from './newest-wanted-runs.js';
import { noCallStorm } from './no-call-storm.js';
import { noRemovalInUse } from './no-removal-in-use.js';
import { noRetryWithinARun } from './no-retry-within-a-run.js';
import { noStartAfterTermination } from './no-start-after-termination.js';
import { nodeStaysAlive } from './node-stays-alive.js';
import { nothingForbidden } from './nothing-forbidden.js';
import { nothingLeaks } from './nothing-leaks.js';
import { onlyCrashesWait } from './only-crashes-wait.js';
import { oneLiveInstance } from './one-live-instance.js';
import { oneRun } from './one-run.js';
import { oneRevision } from './one-revision.js';
import { probesArePatient } from './probes-are-patient.js';
import { probesGoOn } from './probes-go-on.js';
import { promisesAreKept } from './promises-are-kept.js';
import { pullBackOff } from './pull-back-off.js';
import { pullsAreRecorded } from './pulls-are-recorded.js';
import { readyIsProven } from './ready-is-proven.js';
import { removalsAreDue } from './removals-are-due.js';
import { restartBackOff } from './restart-back-off.js';
import { roomIsMade } from './room-is-made.js';
import { restartPolicyKept } from './restart-policy-kept.js';
import { shutdownInOrder } from './shutdown-in-order.js';
import { statusGoesForward } from './status-goes-forward.js';
import { stopOrder } from './stop-order.js';
import { unwantedIsGone } from './unwanted-is-gone.js';
import { volumesInPlace } from './volumes-in-place.js';
import { waitsEnd } from './waits-end.js';
import { wantedRunsOn } from './wanted-runs-on.js';

/** Every invariant that a world has to keep, in the order of docs/simulation.md. */
export const INVARIANTS: readonly Invariant[] = [
  oneLiveInstance,
  oneRevision,
  oneRun,
  noRetryWithinARun,
  newestWantedRuns,
  unwantedIsGone,
  wantedRunsOn,
  graceOnlyShrinks,
  noStartAfterTermination,
  stopOrder,
  shutdownInOrder,
  evictionsAreDue,
  roomIsMade,
  initOrder,
  restartPolicyKept,
  restartBackOff,
  onlyCrashesWait,
  pullBackOff,
  pullsAreRecorded,
  waitsEnd,
  attemptsRise,
  deadlinesAreReal,
  endsAreReported,
  endsAreTrue,
  statusGoesForward,
  readyIsProven,
  probesGoOn,
  probesArePatient,
  promisesAreKept,
  noRemovalInUse,
  removalsAreDue,
  volumesInPlace,
  noCallStorm,
  nothingLeaks,
  journalIsTrue,
  causes,
  apiShowsWhatRuns,
  apiDeletionsFinish,
  apiStatusGoesForward,
  apiPodsOutliveContainers,
  mirrorsMatch,
  fewStatusWrites,
  nothingForbidden,
  nodeStaysAlive,
  bootIsKnown,
];
