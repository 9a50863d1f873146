import { distinctUntilChanged, map } from 'rxjs';
import { expect, it } from 'vitest';
import { forever, onNode, pod, SECOND } from './virtual-node.js';

it('state$ has the state of each life of the agent, which begins without pods', () => {
  const seen: string[] = [];
  onNode({ untilMs: 20 * SECOND }, ({ agent, scheduler }) => {
    const { outcome$, state$ } = agent({ sources: { file: forever(pod()) } });
    const phase$ = state$.pipe(
      map(({ wanted, statuses }) => `${wanted.pods.byUid.size} ${[...statuses.stored.values()][0]?.status.phase}`),
      distinctUntilChanged(),
    );
    phase$.subscribe((phase) => seen.push(`${scheduler.now()} ${phase}`));
    for (const atMs of [SECOND, 10 * SECOND]) {
      scheduler.schedule(() => {
        const life = outcome$.subscribe();
        scheduler.schedule(() => life.unsubscribe(), 5 * SECOND);
      }, atMs);
    }
  });
  expect(seen).toEqual([
    '1000 0 undefined',
    '1000 1 undefined',
    '1000 1 Pending',
    '1000 1 Running',
    '10000 0 undefined',
    '10000 1 undefined',
    '10000 1 Running',
  ]);
});

it('health$ has the health from before the start of the agent, and over two lives of it', () => {
  const REASONS = /not started|status check|yet to be successful|as the test says/g;
  const seen: (readonly [number, string | undefined])[] = [];
  onNode(
    { ready: (at) => ({ runtime: at > 4 * SECOND, network: true }), untilMs: 20 * SECOND },
    ({ agent, scheduler }) => {
      const { outcome$, health$ } = agent({ sources: { file: forever(pod()) } });
      const following = health$.subscribe((problem) =>
        seen.push([scheduler.now(), problem === undefined ? 'healthy' : problem.match(REASONS)?.join(', ')]),
      );
      const start = () => outcome$.subscribe();
      scheduler.schedule(() => {
        const first = start();
        scheduler.schedule(() => first.unsubscribe(), 9 * SECOND);
      }, SECOND);
      scheduler.schedule(() => {
        const second = start();
        scheduler.schedule(() => second.unsubscribe(), 5 * SECOND);
        scheduler.schedule(() => following.unsubscribe(), 5 * SECOND);
      }, 12 * SECOND);
    },
  );
  expect(seen).toEqual([
    [0, 'not started'],
    [1_000, 'status check, yet to be successful'],
    [1_000, 'status check, yet to be successful, as the test says'],
    [1_000, 'status check, as the test says'],
    [6_000, 'healthy'],
    [12_000, 'status check, yet to be successful'],
    [12_000, 'yet to be successful'],
    [12_000, 'healthy'],
  ]);
});

it('node$ says that there is no Node where there is no API server, once before the start of the agent and once after it', () => {
  const seen: unknown[] = [];
  onNode({ untilMs: 5 * SECOND }, ({ agent, scheduler }) => {
    const { outcome$, node$ } = agent({ sources: { file: forever(pod()) } });
    node$.subscribe((node) => seen.push([scheduler.now(), node]));
    scheduler.schedule(() => {
      const life = outcome$.subscribe();
      scheduler.schedule(() => life.unsubscribe(), SECOND);
    }, SECOND);
  });
  expect(seen).toEqual([
    [0, undefined],
    [1_000, undefined],
  ]);
});

it('state$ has the run of each worker while it goes on, and the time at which its pod is due again', () => {
  const seen: unknown[] = [];
  onNode({ untilMs: 80 * SECOND }, ({ agent, scheduler }) => {
    const { outcome$, state$ } = agent({ sources: { file: forever(pod()) } });
    const activity$ = state$.pipe(
      map(({ activity }) => [...activity.values()][0]),
      distinctUntilChanged(),
    );
    const following = activity$.subscribe(({ running, dueAt } = {}) =>
      seen.push([scheduler.now(), running ? `${running.work} since ${running.since}` : 'rests', dueAt]),
    );
    const life = outcome$.subscribe();
    scheduler.schedule(() => {
      following.unsubscribe();
      life.unsubscribe();
    }, 75 * SECOND);
  });
  const due = 60 * SECOND;
  const next = 61 * SECOND;
  expect(seen.slice(0, 6)).toEqual([
    [0, 'rests', undefined],
    [0, 'sync since 0', undefined],
    [0, 'rests', undefined],
    [0, 'rests', due],
    [0, 'sync since 0', due],
    [0, 'rests', due],
  ]);
  // The tick after that time takes the pod from the queue, and its worker runs at once.
  expect(seen.slice(6)).toEqual([
    [next, 'rests', undefined],
    [next, `sync since ${next}`, undefined],
    [next, 'rests', undefined],
    [next, 'rests', next + due],
  ]);
});

it('runtimePod$ has the UID of a pod after each read of it, when findRunning shows what was read', () => {
  const seen: unknown[] = [];
  onNode({ untilMs: 20 * SECOND }, ({ agent, scheduler }) => {
    const made = agent({ sources: { file: forever(pod()) } });
    const ref = { uid: 'uid-1', namespace: 'default', name: 'web' };
    made.runtimePod$.subscribe((uid) =>
      seen.push(
        `${uid} ${made
          .findRunning(ref)
          ?.containers.map(({ state }) => state)
          .join()}`,
      ),
    );
    const life = made.outcome$.subscribe();
    scheduler.schedule(() => life.unsubscribe(), 5 * SECOND);
  });
  expect([...new Set(seen)]).toEqual(['uid-1 running']);
});
