import { NEVER, Subject } from 'rxjs';
import type { TestScheduler } from 'rxjs/testing';
import { describe, expect, it } from 'vitest';
import type { Pod } from '../../src/model/pod.js';
import type { NodeCgroups } from '../../src/streams/cgroups/node-cgroups.js';
import { type FakeCgroups, fakeCgroups } from '../support/fake-cgroups.js';
import { forever, MINUTE, onNode, pod, SECOND, sets, starts } from './virtual-node.js';

describe('a pod', () => {
  it('starts at once, runs, and is looked at again only by the resync', () => {
    let pods: readonly Pod[] = [];
    const { fake, records } = onNode({ untilMs: 3 * MINUTE }, ({ start, scheduler }) => {
      const agent = start({ sources: { file: forever(pod()) } });
      scheduler.schedule(() => (pods = agent.pods()), 2 * MINUTE);
    });
    expect(fake.history).toEqual(['4 sandbox web 0', '8 start main 0']);
    expect(pods[0]?.status).toMatchObject({
      phase: 'Running',
      podIP: '10.0.0.1',
      containerStatuses: [{ name: 'main', ready: true }],
    });
    const dues = records.filter(({ kind }) => kind === 'work-due').length;
    expect(dues).toBeGreaterThanOrEqual(2);
    expect(dues).toBeLessThanOrEqual(3);
  });

  it('that completes is cleaned up and not started again', () => {
    let pods: readonly Pod[] = [];
    const { fake } = onNode(
      { behaviours: { main: [{ exitsAfterMs: 5 * SECOND }] }, untilMs: 5 * MINUTE },
      ({ start, scheduler }) => {
        const agent = start({ sources: { file: forever(pod({ restartPolicy: 'OnFailure' })) } });
        scheduler.schedule(() => (pods = agent.pods()), 4 * MINUTE);
      },
    );
    expect(starts(fake.history, 'main')).toEqual([0]);
    expect(fake.history.at(-1)).toMatch(/stop-sandbox web$/);
    expect(pods[0]?.status?.phase).toBe('Succeeded');
  });

  it('that keeps failing is started again after 0, 10, 20, 40, 80, 160, 300, 300 s', () => {
    const { fake, events } = onNode(
      { behaviours: { main: [{ exitsAfterMs: SECOND, exitCode: 1 }] }, untilMs: 20 * MINUTE },
      ({ start }) => {
        start({ sources: { file: forever(pod()) } });
      },
    );
    const at = starts(fake.history, 'main');
    const gaps = at.slice(1).map((start, index) => start - at[index]!);
    // Each instance runs for 1 s, and the queue is looked at once a second.
    const table = [1, 11, 21, 41, 81, 161, 301, 301];
    expect(gaps.length).toBe(table.length);
    const lateness = gaps.map((gap, index) => gap - table[index]!);
    expect(lateness.filter((late) => late < 0 || late > 2)).toEqual([]);
    expect(events.filter((event) => event.endsWith(' BackOff')).length).toBeGreaterThanOrEqual(7);
  });

  it('of which one container asks for all to be started again is, within a second and not with the next routine sync', () => {
    const restartPolicyRules = [
      { action: 'RestartAllContainers', exitCodes: { operator: 'In' as const, values: [42] } },
    ] as const;
    // Alone, so that nothing of the reset ends: the runtime only says that something is gone, which wakes nobody.
    const containers = [{ name: 'main', image: 'host', restartPolicy: 'Never', restartPolicyRules }];
    const { fake } = onNode(
      { behaviours: { main: [{ exitsAfterMs: 10 * SECOND, exitCode: 42 }, {}] }, untilMs: 30 * SECOND },
      ({ start }) => {
        start({ sources: { file: forever(pod({ containers })) } });
      },
    );
    // What it removes counts from 0 again.
    expect(starts(fake.history, 'main')).toEqual([0, 10, 20]);
  });

  it('keeps its back-off across a restart of the agent, which starts nothing anew', () => {
    const { fake } = onNode(
      { behaviours: { main: [{ exitsAfterMs: SECOND, exitCode: 1 }] }, untilMs: 3 * MINUTE },
      ({ start, scheduler }) => {
        const first = start({ sources: { file: forever(pod()) } });
        // In the middle of the wait of 40 s.
        scheduler.schedule(() => first.subscription.unsubscribe(), 50 * SECOND);
        scheduler.schedule(() => start({ sources: { file: forever(pod()) } }), 55 * SECOND);
      },
    );
    const at = starts(fake.history, 'main');
    const gaps = at.slice(1).map((start, index) => start - at[index]!);
    expect(gaps.slice(0, 5).map((gap, index) => gap - [1, 11, 21, 41, 81][index]!)).toSatisfy((late: number[]) =>
      late.every((seconds) => seconds >= 0 && seconds <= 2),
    );
    expect(fake.sandboxes.size).toBe(1);
  });

  it('that nobody wants any more stops within its grace period', () => {
    const { fake } = onNode({ behaviours: { main: [{ stopsAfterMs: 3 * SECOND }] }, untilMs: MINUTE }, ({ start }) =>
      start({ sources: { file: sets([0, [pod()]], [10 * SECOND, []]) } }),
    );
    const after = fake.history
      .slice(2)
      .map((line) => line.replace(/^(\d+) /, (_, ms) => `${Math.floor(Number(ms) / SECOND)} `));
    expect(after).toEqual(['10 stop main 30', '13 exit main 143', '13 stop-sandbox web']);
  });

  it('that replaces another of the same name waits until that has gone, then starts at once', () => {
    const [old, fresh] = [pod({}, { uid: 'old' }), pod({}, { uid: 'new' })];
    const { fake } = onNode({ behaviours: { main: [{ stopsAfterMs: 3 * SECOND }] }, untilMs: MINUTE }, ({ start }) =>
      start({ sources: { file: sets([0, [old]], [10 * SECOND, [fresh]]) } }),
    );
    const kinds = fake.history.map((line) => line.split(' ')[1]);
    expect(kinds).toEqual(['sandbox', 'start', 'stop', 'exit', 'stop-sandbox', 'sandbox', 'start']);
    const [gone, next] = [4, 5].map((index) => Number(fake.history[index]!.split(' ')[0]));
    expect(next! - gone!).toBeLessThan(100);
  });
});

describe('a manifest that was edited while no agent ran', () => {
  it('never has two revisions running side by side', () => {
    const [old, fresh] = [pod({}, { uid: 'old' }), pod({}, { uid: 'new' })];
    const { fake } = onNode(
      { behaviours: { main: [{ stopsAfterMs: 1_500 }] }, untilMs: MINUTE },
      ({ start, scheduler }) => {
        const first = start({ sources: { file: forever(old) } });
        scheduler.schedule(() => first.subscription.unsubscribe(), 5 * SECOND);
        scheduler.schedule(() => start({ sources: { file: forever(fresh) } }), 6 * SECOND);
      },
    );
    const kinds = fake.history.slice(2).map((line) => line.split(' ')[1]);
    expect(kinds.slice(0, 3)).toEqual(['stop', 'exit', 'stop-sandbox']);
    expect(kinds.slice(-2)).toEqual(['sandbox', 'start']);
    expect(kinds.filter((kind) => kind === 'start')).toHaveLength(1);
  });

  it('starts the new revision though another source has not been heard yet', () => {
    const [old, fresh] = [pod({}, { uid: 'old' }), pod({}, { uid: 'new' })];
    const { fake } = onNode({ untilMs: MINUTE }, ({ start, scheduler }) => {
      const first = start({ sources: { file: forever(old) } });
      scheduler.schedule(() => first.subscription.unsubscribe(), 5 * SECOND);
      scheduler.schedule(() => start({ sources: { file: forever(fresh), http: NEVER } }), 6 * SECOND);
    });
    expect(fake.history.slice(2).map((line) => line.split(' ')[1])).toEqual([
      'stop',
      'exit',
      'stop-sandbox',
      'sandbox',
      'start',
    ]);
  });
});

describe('without runtime events', () => {
  it('a failed container is noticed by the next relist', () => {
    const behaviours = { main: [{ exitsAfterMs: 5 * SECOND, exitCode: 1 }, {}] };
    const { fake } = onNode({ behaviours, tellsEvents: false, untilMs: MINUTE }, ({ start }) => {
      start({ sources: { file: forever(pod()) } });
    });
    const [exited, restarted] = ['exit main', 'start main 1'].map((what) =>
      Number(fake.history.find((line) => line.includes(what))?.split(' ')[0]),
    );
    expect(restarted! - exited!).toBeGreaterThan(0);
    expect(restarted! - exited!).toBeLessThanOrEqual(1_100);
  });
});

describe('housekeeping', () => {
  it('stops what runs and nobody wants, with the shortest grace', () => {
    const { fake } = onNode({ untilMs: MINUTE }, ({ start, scheduler }) => {
      const first = start({ sources: { file: forever(pod()) } });
      scheduler.schedule(() => first.subscription.unsubscribe(), 5 * SECOND);
      scheduler.schedule(() => start({ sources: { file: forever() } }), 6 * SECOND);
    });
    expect(fake.history.slice(2).map((line) => line.slice(line.indexOf(' ') + 1))).toEqual([
      'stop main 2',
      'exit main 143',
      'stop-sandbox web',
    ]);
    expect(Number(fake.history[2]!.split(' ')[0])).toBeLessThan(8_100);
  });

  it('stops nothing while a source has not been heard', () => {
    const { fake } = onNode({ untilMs: MINUTE }, ({ start, scheduler }) => {
      const first = start({ sources: { file: forever(pod()) } });
      scheduler.schedule(() => first.subscription.unsubscribe(), 5 * SECOND);
      scheduler.schedule(() => start({ sources: { file: forever(), http: NEVER } }), 6 * SECOND);
    });
    expect(fake.history.length).toBe(2);
  });

  it('starts a pod over whose UID was in use by a former one', () => {
    const fixed = pod();
    const { fake } = onNode({ untilMs: MINUTE }, ({ start }) =>
      start({ sources: { file: sets([0, [fixed]], [10 * SECOND, []], [10_001, [fixed]]) } }),
    );
    expect(starts(fake.history, 'main')).toEqual([0, 10]);
  });
});

describe('when all pods are to stop', () => {
  it('the loop ends as soon as nothing runs any more', () => {
    const stop$ = new Subject<{ readonly reason: string }>();
    let endedAt = 0;
    const { fake } = onNode(
      { behaviours: { main: [{ stopsAfterMs: 2 * SECOND }] }, untilMs: MINUTE },
      ({ start, scheduler }) => {
        const { subscription } = start({ sources: { file: forever(pod()) }, stop$ });
        subscription.add(() => (endedAt = scheduler.now()));
        scheduler.schedule(() => stop$.next({ reason: 'a test' }), 10 * SECOND);
      },
    );
    expect(fake.history.at(-1)).toMatch(/stop-sandbox web$/);
    expect(endedAt).toBeGreaterThanOrEqual(12 * SECOND);
    expect(endedAt).toBeLessThan(12 * SECOND + 100);
  });

  it('it ends at once when there is nothing to stop', () => {
    const stop$ = new Subject<{ readonly reason: string }>();
    let endedAt = 0;
    onNode({ untilMs: MINUTE }, ({ start, scheduler }) => {
      const { subscription } = start({ sources: { file: forever() }, stop$ });
      subscription.add(() => (endedAt = scheduler.now()));
      scheduler.schedule(() => stop$.next({ reason: 'a test' }), 10 * SECOND);
    });
    expect(endedAt).toBe(10 * SECOND);
  });
});

it('a pod past its active deadline fails and stops', () => {
  const { fake, events } = onNode({ untilMs: MINUTE }, ({ start }) =>
    start({ sources: { file: forever(pod({ activeDeadlineSeconds: 20 })) } }),
  );
  const at = Number(fake.history.find((line) => line.includes('stop main'))?.split(' ')[0]);
  expect(at).toBeGreaterThanOrEqual(20 * SECOND);
  expect(at).toBeLessThanOrEqual(21 * SECOND + 100);
  expect(events.some((event) => event.endsWith('DeadlineExceeded'))).toBe(true);
});

describe('a runtime that is not well', () => {
  it('holds up every pod until it says that it is ready; pods are known, and the reason is shown', () => {
    const seen: unknown[] = [];
    const { fake, records } = onNode(
      { ready: (at) => ({ runtime: at > 12 * SECOND, network: true }), untilMs: MINUTE },
      ({ start, scheduler }) => {
        const agent = start({ sources: { file: forever(pod()) } });
        const look = () => seen.push([agent.pods().length, agent.health()]);
        for (const at of [6, 30]) scheduler.schedule(look, at * SECOND);
      },
    );
    const why =
      '[container runtime status check may not have completed yet, ' +
      'container runtime not ready: RuntimeReady=false reason:Test message:as the test says]';
    expect(seen).toEqual([
      [1, why],
      [1, undefined],
    ]);
    // Asked at 0, 5.001, 10.002 and 15.003 s; a sandbox takes a few calls more.
    expect(fake.history).toEqual(['15006 sandbox web 0', '15010 start main 0']);
    const told = records.flatMap((entry) => (entry.kind === 'runtime-health' ? [entry.message] : []));
    expect(told).toEqual([expect.stringContaining('yet to be successful'), expect.any(String), why, undefined]);
  });

  it('without a network lets only pods of the host network start', () => {
    const { fake, events } = onNode(
      { ready: (at) => ({ runtime: true, network: at > 12 * SECOND }), untilMs: MINUTE },
      ({ start }) =>
        start({
          sources: {
            file: forever(
              pod({ hostNetwork: true }, { name: 'host', uid: 'u-host' }),
              pod({}, { name: 'own', uid: 'u-own' }),
            ),
          },
        }),
    );
    const sandboxes = fake.history.filter((line) => line.includes(' sandbox '));
    expect(sandboxes.map((line) => line.split(' ')[2])).toEqual(['host', 'own']);
    expect(Number(sandboxes[0]?.split(' ')[0])).toBeLessThan(SECOND);
    expect(Number(sandboxes[1]?.split(' ')[0])).toBeGreaterThan(15 * SECOND);
    expect(events.filter((event) => event.endsWith(' NetworkNotReady')).length).toBeGreaterThan(5);
  });
});

describe('cgroups of pods', () => {
  const settings = {
    ...{ root: [], podPidsLimit: -1, enforced: ['pods'] as const, systemReserved: {}, kubeReserved: {} },
    ...{ systemReservedCgroup: '', kubeReservedCgroup: '' },
  };
  const PATH = '/kubepods/besteffort/poduid-1';

  it('are there before their pod and gone after it; those of pods that nobody knows go after the first housekeeping', () => {
    let cgroups!: FakeCgroups;
    const nodeCgroups = (scheduler: TestScheduler): NodeCgroups => {
      cgroups = fakeCgroups(scheduler, ['/kubepods', '/kubepods/burstable', '/kubepods/burstable/podlost']);
      return { cgroups: cgroups.cgroups, settings, capacity: new Map() };
    };
    const { fake, events } = onNode({ nodeCgroups, untilMs: MINUTE }, ({ start, scheduler }) => {
      start({ sources: { file: sets([0, [pod()]], [20 * SECOND, []]) } });
      scheduler.schedule(() => expect(cgroups.there.has(PATH)).toBe(true), 19 * SECOND);
    });
    expect(fake.history.slice(0, 2)).toEqual(['4 sandbox web 0', '8 start main 0']);
    const about = (path: string) => cgroups.did.filter((line) => line.endsWith(path)).map((line) => line.split(' '));
    const pathEvents = about(PATH).map(([at, call]) => `${Math.round(Number(at) / SECOND)} ${call}`);
    expect(pathEvents).toEqual(['0 create', '20 kill', '20 remove']);
    const lost = about('podlost').map(([, call]) => call);
    expect(lost).toEqual(['kill', 'remove']);
    expect([...cgroups.there].toSorted()).toEqual(['/', '/kubepods', '/kubepods/besteffort', '/kubepods/burstable']);
    expect(events.filter((event) => event.endsWith('NodeAllocatableEnforced'))).toEqual(['0 NodeAllocatableEnforced']);
  });

  it('stop the start when they cannot be made: no pod is touched', () => {
    const said: string[] = [];
    const nodeCgroups = (scheduler: TestScheduler): NodeCgroups => {
      const { cgroups } = fakeCgroups(scheduler);
      return { cgroups, settings: { ...settings, root: ['nobody'] }, capacity: new Map() };
    };
    const { fake } = onNode({ nodeCgroups, untilMs: MINUTE }, ({ agent }) => {
      agent({ sources: { file: forever(pod()) } }).outcome$.subscribe({
        error: (error: unknown) => said.push(String(error)),
      });
    });
    expect(said).toEqual([
      'NodeCgroupsError: invalid configuration: cgroupRoot: cgroup ["nobody"] has some missing paths: /nobody',
    ]);
    expect(fake.history).toEqual([]);
  });
});
