import { concatMap, from, type Observable, type SchedulerLike } from 'rxjs';
import { describe, expect, it } from 'vitest';
import type { JournalRecord } from '../../src/model/journal/journal.js';
import type { Pod, PodSpec } from '../../src/model/pod/pod.js';
import type { Behaviour, FakeRuntime } from '../support/fake-runtime.js';
import { expectLanes, linesOf } from './lanes.js';
import { forever, MINUTE, onNode, pod, SECOND } from './virtual-node.js';

const SECONDS = { everyMs: SECOND };
const failsAfter = (seconds: number) => ({ exitsAfterMs: seconds * SECOND, exitCode: 1 });
const FAILING: Behaviour = [failsAfter(1)];
const OLD_LOGS = ['0.log', '1.log'];

/** Runs an agent in each of the spans, given in seconds. */
const lives =
  (spans: readonly (readonly [from: number, to: number])[], wanted: (life: number) => Pod = () => pod()) =>
  ({ start, scheduler }: Parameters<Parameters<typeof onNode>[1]>[0]): void => {
    for (const [life, [begin, end]] of spans.entries()) {
      scheduler.schedule(() => {
        const { subscription } = start({ sources: { file: forever(wanted(life)) } });
        scheduler.schedule(() => subscription.unsubscribe(), (end - begin) * SECOND);
      }, begin * SECOND);
    }
  };

/** An administrator removes what has ended: all of it, or the oldest instance. */
const removeAt = (
  scheduler: SchedulerLike,
  { runtime, containers, sandboxes }: FakeRuntime,
  what: 'all' | 'oldest',
  atSeconds: number,
) => {
  const remove = (): Observable<unknown> => {
    const ids = [...containers.keys()].slice(0, what === 'all' ? undefined : 1);
    const removed$ = from(ids).pipe(concatMap((containerId) => runtime.removeContainer({ containerId })));
    if (what === 'all') {
      from([...sandboxes.keys()])
        .pipe(concatMap((podSandboxId) => runtime.removePodSandbox({ podSandboxId })))
        .subscribe();
    }
    return removed$;
  };
  scheduler.schedule(() => remove().subscribe(), atSeconds * SECOND);
};

/** The starts and the ends of `main`. */
const runs = ({ history }: FakeRuntime) => linesOf(history, 'start main', 'exit main');

const uncounted = (records: readonly JournalRecord[]) =>
  records.flatMap((record) => (record.kind === 'end-not-counted' ? [record.because] : []));

/** What the sandbox took with it. */
const WITH_SANDBOX = 'is no reason to wait, since its sandbox has ended too';

describe('the back-off of a container of which only old log files are left', () => {
  it('begins with its first end', () => {
    const { fake } = onNode({ behaviours: { main: FAILING }, logFiles: OLD_LOGS, untilMs: MINUTE }, lives([[0, 60]]));
    expectLanes(runs(fake), SECONDS).toBe({
      'start main': '23-----------4- 20s 5-',
      'exit main': ' -11-----------1 20s -1',
    });
  });

  it('begins so too when another agent sees that end', () => {
    const behaviours = { main: [failsAfter(5), failsAfter(5), failsAfter(5), failsAfter(1)] };
    const { fake } = onNode(
      { behaviours, logFiles: OLD_LOGS, untilMs: MINUTE },
      lives([
        [0, 2],
        [3, 60],
      ]),
    );
    expectLanes(runs(fake), SECONDS).toBe({
      'start main': '2----3-----------4- 20s 5-',
      'exit main': ' -----11-----------1 20s -1',
    });
  });

  it('goes by the ends that were seen in another agent, not by the count', () => {
    // Started as 2, 3 and 4: the agent ends in the wait of 10 s after the second end.
    const { fake } = onNode(
      { behaviours: { main: FAILING }, logFiles: ['0.log', '99.log'], untilMs: MINUTE },
      lives([
        [0, 4],
        [5, 60],
      ]),
    );
    expectLanes(runs(fake), SECONDS).toBe({
      'start main 100': 's-------------- 20s --',
      'start main 101': '-s------------- 20s --',
      'start main 102': '-------------s- 20s --',
      'start main 103': '--------------- 20s s-',
      'exit main 1': '   -ee-----------e 20s -e',
    });
  });

  it('begins again after a reboot that leaves nothing in the runtime, with any count of the status', () => {
    const status = { containerStatuses: [{ name: 'main', restartCount: 7 }] } as unknown as NonNullable<Pod['status']>;
    const { fake } = onNode({ behaviours: { main: FAILING }, logFiles: ['7.log'], untilMs: 2 * MINUTE }, (stage) => {
      lives(
        [
          [0, 50],
          [55, 120],
        ],
        (life) => (life === 0 ? pod() : { ...pod(), status }),
      )(stage);
      removeAt(stage.scheduler, stage.fake, 'all', 52);
    });
    // The first agent ends at 50 s, the second one starts at 55 s.
    expectLanes(runs(fake), SECONDS).toBe({
      'start main': '   89------------- 20s -- 18s 89------------- 20s --',
      'start main 10': '-------------s- 20s -- 18s -------------s- 20s --',
      'start main 11': '--------------- 20s s- 18s --------------- 20s s-',
      'exit main': '    -11-----------1 20s -1 18s -11-----------1 20s -1',
    });
  });
});

/** The machine goes down: everything ends, and the runtime keeps the records of it. */
const goesDownAt = (scheduler: SchedulerLike, { runtime, sandboxes }: FakeRuntime, atSeconds: number): void => {
  const stop = () =>
    from([...sandboxes.keys()]).pipe(concatMap((podSandboxId) => runtime.stopPodSandbox({ podSandboxId })));
  scheduler.schedule(() => stop().subscribe(), atSeconds * SECOND);
};

describe('the back-off after a reboot of which the runtime has kept what was', () => {
  /** The first agent ends at 50 s with the machine, the second one starts at 55 s. */
  const booted = (main: Behaviour, logFiles: readonly string[] = []) =>
    onNode({ behaviours: { main }, logFiles, untilMs: 3 * MINUTE }, (stage) => {
      goesDownAt(stage.scheduler, stage.fake, 50);
      lives([
        [0, 50],
        [55, 180],
      ])(stage);
    });

  it('begins again after ends of the boot before', () => {
    const { fake, records } = booted(FAILING);
    expectLanes(runs(fake), SECONDS).toBe({
      'start main': '01-----------2- 20s 3- 18s 45-----------6- 20s 7- 40s 8-',
      'exit main': ' -11-----------1 20s -1 18s -11-----------1 20s -1 40s -1',
    });
    expect(uncounted(records)).toEqual([WITH_SANDBOX]);
  });

  it('begins with the first end after the reboot, where the container had run till then', () => {
    const { fake, records } = booted([{}, {}, {}, failsAfter(1), failsAfter(1), {}], OLD_LOGS);
    expectLanes(runs(fake), SECONDS).toBe({
      'start main 2': '  s 49s --------------------',
      'exit main 137': ' - 49s e-------------------',
      'start main 3': '  - 49s -----s--------------',
      'exit main 1': '   - 49s ------ee------------',
      'start main 4': '  - 49s ------s-------------',
      'start main 5': '  - 49s ------------------s-',
    });
    expect(uncounted(records)).toEqual([WITH_SANDBOX]);
  });
});

describe('the back-off of a container that was restarted once before its agent was', () => {
  const behaviours = { main: [failsAfter(1), failsAfter(5), failsAfter(1)] };
  const twoLives = lives([
    [0, 3],
    [4, 60],
  ]);

  it('goes on while the instance before is left', () => {
    const { fake, records } = onNode({ behaviours, untilMs: MINUTE }, twoLives);
    expectLanes(runs(fake), SECONDS).toBe({
      'start main': '01---------------2- 20s 3-',
      'exit main': ' -1----1-----------1 20s -1',
    });
    expect(records.find(({ kind }) => kind === 'back-off')).toMatchObject({ delayMs: 10 * SECOND, from: 'runtime' });
    expect(uncounted(records)).toEqual([]);
  });

  it('goes on where that is gone, too', () => {
    const { fake } = onNode({ behaviours, untilMs: MINUTE }, (stage) => {
      twoLives(stage);
      removeAt(stage.scheduler, stage.fake, 'oldest', 3.5);
    });
    expectLanes(runs(fake), SECONDS).toBe({
      'start main': '01---------------2- 20s 3-',
      'exit main': ' -1----1-----------1 20s -1',
    });
  });

  it('is remembered by an agent that has seen it, when the instance before is removed', () => {
    const { fake, records } = onNode({ behaviours, untilMs: MINUTE }, (stage) => {
      lives([[0, 60]])(stage);
      removeAt(stage.scheduler, stage.fake, 'oldest', 3.5);
    });
    expectLanes(runs(fake), SECONDS).toBe({
      'start main': '01---------------2- 20s 3-',
      'exit main': ' -1----1-----------1 20s -1',
    });
    expect(records.find(({ kind }) => kind === 'back-off')).not.toHaveProperty('from');
  });
});

describe('the back-off of a container whose end restarts all containers', () => {
  const restartPolicyRules = [{ action: 'RestartAllContainers', exitCodes: { operator: 'In', values: [1] } }];
  const main = { name: 'main', image: 'host', restartPolicy: 'Never', restartPolicyRules };
  const other = { name: 'other', image: 'host' };
  // A restart of all containers keeps the logs, from which the number of an attempt is read; the files of this node have none.
  const onItsNode = (spec: Partial<PodSpec>, spans: Parameters<typeof lives>[0] = [[0, 60]]) =>
    onNode(
      { behaviours: { main: FAILING }, untilMs: MINUTE },
      lives(spans, () => pod(spec)),
    );

  it('is that of any end, although nothing is left of the instance; the others start at once', () => {
    const { fake, records } = onItsNode({ containers: [main, other] });
    expectLanes(linesOf(fake.history, 'start main', 'exit main 1', 'start other', 'exit other'), SECONDS).toBe({
      'start main': '  00-----------0- 20s 0-',
      'exit main 1': ' -ee-----------e 20s -e',
      'start other': ' 000-----------0 20s -0',
      'exit other': '  -ee-----------e 20s -e',
    });
    expect(records.filter(({ kind }) => kind === 'back-off')).not.toEqual([]);
  });

  it('holds up what comes after an init container', () => {
    const { fake } = onItsNode({ initContainers: [main], containers: [other] });
    expectLanes(runs(fake), SECONDS).toBe({
      'start main': '00-----------0- 20s 0-',
      'exit main': ' -11-----------1 20s -1',
    });
    expect(linesOf(fake.history, 'start other')).toEqual([]);
  });

  it('begins again in another agent, which finds nothing of it', () => {
    const { fake } = onItsNode({ containers: [main] }, [
      [0, 4],
      [5, 60],
    ]);
    expectLanes(runs(fake), SECONDS).toBe({
      'start main': '00---00-----------0- 20s 0-',
      'exit main': ' -11---11-----------1 20s -1',
    });
  });
});

it('an init container waits on in another agent, though only its newest instance is ever kept', () => {
  const containers = [{ name: 'app', image: 'host' }];
  const initContainers = [{ name: 'main', image: 'host' }];
  const { fake, records } = onNode(
    { behaviours: { main: FAILING }, untilMs: 3 * MINUTE },
    lives(
      [
        [0, 50],
        [55, 180],
      ],
      () => pod({ containers, initContainers }),
    ),
  );
  expectLanes(runs(fake), SECONDS).toBe({
    'start main': '01-----------2- 20s 3- 40s 4- 80s 5-',
    'exit main': ' -11-----------1 20s -1 40s -1 80s -1',
  });
  expect(uncounted(records)).toEqual([]);
});
