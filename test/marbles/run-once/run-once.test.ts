import { EMPTY, map, NEVER, type Observable, of, throwError } from 'rxjs';
import { expect, it } from 'vitest';
import type { Pod } from '../../../src/model/pod/pod.js';
import type { PodConfigUpdate } from '../../../src/model/config/pod-config.js';
import type { RuntimePodStatus } from '../../../src/model/pleg/runtime-pod.js';
import {
  runOnce,
  RunOnceError,
  type RunOnceOptions,
  type RunOnceResult,
} from '../../../src/streams/run-once/run-once.js';
import { aPod } from '../../support/a-pod.js';
import { aContainer, aRuntimeStatus } from '../../support/a-runtime-status.js';
import { inTurn, marbles } from '../marbles.js';

const add = (...pods: readonly Pod[]): PodConfigUpdate => ({ kind: 'pods', op: 'ADD', source: 'file', pods });
const problem: PodConfigUpdate = { kind: 'problem', source: 'file', problem: { severity: 'error', message: 'bad' } };
const up = aRuntimeStatus([aContainer({ name: 'main' })]);
const down = aRuntimeStatus([]);

const optionsWith = (options: Partial<RunOnceOptions> & Pick<RunOnceOptions, 'scheduler'>): RunOnceOptions => ({
  config$: of(add(aPod())),
  work: { syncPod: () => of({ isTerminal: false }) },
  reader: { podStatus: () => of(up) },
  admit: () => undefined,
  record: () => 'id',
  recordEvent: () => undefined,
  ...options,
});
const brief = ({ pod, rejected, error }: RunOnceResult) => error?.message ?? rejected ?? `${pod.metadata.uid} runs`;
const results = (options: RunOnceOptions) => runOnce(options).pipe(map(brief));

it(
  'takes the first update, despite problems before and updates after it',
  marbles(({ hot, expectObservable, scheduler }) => {
    const config$ = hot('--x-a-b', { x: problem, a: add(aPod()), b: add(aPod({ uid: 'late' })) });
    expectObservable(results(optionsWith({ scheduler, config$ }))).toBe('----(r|)', { r: 'uid-1 runs' });
  }),
);

it(
  'waits one second for it',
  marbles(({ expectObservable, scheduler }) => {
    const message$ = runOnce(optionsWith({ scheduler, config$: NEVER })).pipe(map(brief));
    expectObservable(message$).toBe('1s #', undefined, new RunOnceError('no pod manifest update after 1s'));
  }),
);

const TIMED_OUT = 'timeout error: pod "web_default(uid-1)" containers not running after 10 retries';
const FAILED = new RunOnceError('error running pods: [web_default(uid-1)]');

it(
  'looks 11 times in all: 1, 2, 4 ... 512 s apart',
  marbles(({ cold, expectObservable, scheduler, expectSubscriptions }) => {
    const status = cold<RuntimePodStatus>('(s|)', { s: down });
    const { reader } = { reader: { podStatus: () => status } };
    expectObservable(results(optionsWith({ scheduler, reader }))).toBe('1023s (e#)', { e: TIMED_OUT }, FAILED);
    const looks = [0, 1, 3, 7, 15, 31, 63, 127, 255, 511, 1023].map((at) => (at === 0 ? '(^!)' : `${at}s (^!)`));
    expectSubscriptions(status.subscriptions).toBe(looks);
  }),
);
it(
  'syncs between the looks, and is content once every regular container runs',
  marbles(({ cold, expectObservable, expectSubscriptions, scheduler }) => {
    const status$ = inTurn<RuntimePodStatus>(of(down), of(down), of(up));
    const syncing = cold<{ isTerminal: boolean }>('-(r|)', { r: { isTerminal: false } });
    const options = optionsWith({ scheduler, reader: { podStatus: () => status$ }, work: { syncPod: () => syncing } });
    expectObservable(results(options)).toBe('3002ms (r|)', { r: 'uid-1 runs' });
    expectSubscriptions(syncing.subscriptions).toBe(['^!', '1001ms ^!']);
  }),
);

it(
  'reports rejected pods first and without an error, others as they come up, and failed ones at the end together',
  marbles(({ cold, expectObservable, scheduler }) => {
    const [slow, bad, no] = ['slow', 'bad', 'no'].map((uid) => aPod({ uid })) as [Pod, Pod, Pod];
    const reads: Readonly<Record<string, Observable<RuntimePodStatus>>> = {
      slow: cold('----(s|)', { s: up }),
      bad: throwError(() => new Error('the runtime is away')),
    };
    const options = optionsWith({
      scheduler,
      config$: of(add(slow, bad, no)),
      reader: { podStatus: ({ uid }) => reads[uid] ?? EMPTY },
      admit: ({ metadata }, active) => {
        if (metadata.uid !== 'no') return undefined;
        expect(active).toEqual([slow, bad]);
        return { reason: 'OutOfpods', message: 'full' };
      },
    });
    expectObservable(results(options)).toBe(
      '(nb)(s#)',
      { n: 'full', b: 'unable to get status for pod "web_default(bad)": the runtime is away', s: 'slow runs' },
      new RunOnceError('error running pods: [web_default(bad)]'),
    );
  }),
);
