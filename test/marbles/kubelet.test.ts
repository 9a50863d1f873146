import { NEVER, Subject } from 'rxjs';
import type { TestScheduler } from 'rxjs/testing';
import { describe, expect, it } from 'vitest';
import type { Pod } from '../../src/model/pod/pod.js';
import type { NodeCgroups } from '../../src/streams/cgroups/node-cgroups.js';
import { type FakeCgroups, fakeCgroups } from '../support/fake-cgroups.js';
import { expectLanes, linesOf } from './lanes.js';
import { forever, MINUTE, onNode, pod, SECOND, sets } from './virtual-node.js';

const SECONDS = { everyMs: SECOND };
/** A sandbox and its container start; the container is stopped and exits; its sandbox is stopped. */
const LEGEND = { s: 'sandbox web 0', c: 'start main 0', x: 'stop main 30', e: 'exit main 143', d: 'stop-sandbox web' };

describe('a pod', () => {
  it('starts at once, runs, and is looked at again only by the resync', () => {
    let pods: readonly Pod[] = [];
    const { fake, journal } = onNode({ untilMs: 3 * MINUTE }, ({ start, scheduler }) => {
      const agent = start({ sources: { file: forever(pod()) } });
      scheduler.schedule(() => (pods = agent.pods()), 2 * MINUTE);
    });
    // A pod is due 60 s after its last sync, and the tick after that reads it.
    expectLanes([...fake.history, ...linesOf(journal, 'work-due')], SECONDS).toBe({
      'sandbox web': '0 1m - 1m -',
      'start main': ' 0 1m - 1m -',
      'work-due': '   - 1m w 1m w',
    });
    expect(pods[0]?.status).toMatchObject({
      phase: 'Running',
      podIP: '10.0.0.1',
      containerStatuses: [{ name: 'main', ready: true }],
    });
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
    expectLanes(fake.history, SECONDS).toBe({
      'sandbox web': '     0-----',
      'start main': '      0-----',
      'exit main 0': '     -----e',
      'stop-sandbox web': '-----s',
    });
    expect(pods[0]?.status?.phase).toBe('Succeeded');
  });

  it('that keeps failing is started again after 0, 10, 20, 40, 80, 160, 300, 300 s', () => {
    const { fake, events } = onNode(
      { behaviours: { main: [{ exitsAfterMs: SECOND, exitCode: 1 }] }, untilMs: 20 * MINUTE },
      ({ start }) => {
        start({ sources: { file: forever(pod()) } });
      },
    );
    // Each instance runs for 1 s. When a wait ends, the pod is due, and the next tick starts the container.
    expectLanes(linesOf(fake.history, 'start main', 'exit main 1'), SECONDS).toBe({
      'start main': ' 01-----------2- 20s 3- 40s 4- 80s 5- 160s 6- 5m 7- 5m 8-',
      'exit main 1': '-ee-----------e 20s -e 40s -e 80s -e 160s -e 5m -e 5m -e',
    });
    // Reported when it begins and by each resync during the wait.
    expectLanes(linesOf(events, 'BackOff'), SECONDS).toBe({
      BackOff:
        '--B-----------B 21s B 41s B 1m B 20s B 1m B 1m B 39s B 1m B 1m B 1m B 1m B 57s B 1m B 1m B 1m B 1m B 57s B 1m B 1m B 1m B 1m B',
    });
  });

  it('of which one container asks for all to be started again is, within a second and not with the next routine sync', () => {
    const restartPolicyRules = [
      { action: 'RestartAllContainers', exitCodes: { operator: 'In' as const, values: [42] } },
    ] as const;
    // Alone, so that nothing of the reset ends: the runtime only says that something is gone, which wakes no worker.
    const containers = [{ name: 'main', image: 'host', restartPolicy: 'Never', restartPolicyRules }];
    const { fake } = onNode(
      { behaviours: { main: [{ exitsAfterMs: 10 * SECOND, exitCode: 42 }, {}] }, untilMs: 34 * SECOND },
      ({ start }) => {
        start({ sources: { file: forever(pod({ containers })) } });
      },
    );
    // The removed instances do not count: each start is number 0. The second restart waits for 10 s, as after any end.
    expectLanes(fake.history, SECONDS).toBe({
      'sandbox web': ' 0-----------------------------------------',
      'start main': '  0---------0--------------------0----------',
      'exit main 42': '----------e---------e--------------------e',
    });
  });

  it('keeps its back-off across a restart of the agent, which starts nothing again', () => {
    const { fake } = onNode(
      { behaviours: { main: [{ exitsAfterMs: SECOND, exitCode: 1 }] }, untilMs: 3 * MINUTE },
      ({ start, scheduler }) => {
        const first = start({ sources: { file: forever(pod()) } });
        // In the middle of the wait of 40 s.
        scheduler.schedule(() => first.subscription.unsubscribe(), 50 * SECOND);
        scheduler.schedule(() => start({ sources: { file: forever(pod()) } }), 55 * SECOND);
      },
    );
    expectLanes(fake.history, SECONDS).toBe({
      'sandbox web': '0-------------- 20s -- 40s -- 80s --',
      'start main': ' 01-----------2- 20s 3- 40s 4- 80s 5-',
      'exit main 1': '-ee-----------e 20s -e 40s -e 80s -e',
    });
  });

  it('that no source wants any more stops within its grace period', () => {
    const { fake } = onNode({ behaviours: { main: [{ stopsAfterMs: 3 * SECOND }] }, untilMs: MINUTE }, ({ start }) =>
      start({ sources: { file: sets([0, [pod()]], [10 * SECOND, []]) } }),
    );
    expectLanes(fake.history, SECONDS).toBe({
      'sandbox web': '     0-------------',
      'start main': '      0-------------',
      'stop main 30': '    ----------s---',
      'exit main 143': '   -------------e',
      'stop-sandbox web': '-------------s',
    });
  });

  it('that replaces another of the same name waits until that has gone, then starts at once', () => {
    const [old, fresh] = [pod({}, { uid: 'old' }), pod({}, { uid: 'new' })];
    const { fake } = onNode({ behaviours: { main: [{ stopsAfterMs: 3 * SECOND }] }, untilMs: MINUTE }, ({ start }) =>
      start({ sources: { file: sets([0, [old]], [10 * SECOND, [fresh]]) } }),
    );
    expectLanes(fake.history, SECONDS).toBe('(sc)---------x--(edsc)', LEGEND);
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
    expectLanes(fake.history, { everyMs: 500 }).toBe('(sc)-----------x--(edsc)', LEGEND);
  });

  it('starts the new revision though another source has sent nothing yet', () => {
    const [old, fresh] = [pod({}, { uid: 'old' }), pod({}, { uid: 'new' })];
    const { fake } = onNode({ untilMs: MINUTE }, ({ start, scheduler }) => {
      const first = start({ sources: { file: forever(old) } });
      scheduler.schedule(() => first.subscription.unsubscribe(), 5 * SECOND);
      scheduler.schedule(() => start({ sources: { file: forever(fresh), http: NEVER } }), 6 * SECOND);
    });
    expectLanes(fake.history, SECONDS).toBe('(sc)-----(xedsc)', LEGEND);
  });
});

describe('a source that has sent nothing', () => {
  const slowly = { behaviours: { main: [{ stopsAfterMs: 3 * SECOND }] }, untilMs: MINUTE };

  it('does not keep an edited pod of another source from being replaced', () => {
    const [old, fresh] = [pod({}, { uid: 'old' }), pod({}, { uid: 'new' })];
    const { fake } = onNode(slowly, ({ start }) =>
      start({ sources: { file: sets([0, [old]], [10 * SECOND, [fresh]]), http: NEVER } }),
    );
    expectLanes(fake.history, SECONDS).toBe('(sc)---------x--(edsc)', LEGEND);
  });

  it('does not keep a removed pod of another source from being stopped and forgotten', () => {
    const { fake, records } = onNode(slowly, ({ start }) =>
      start({ sources: { file: sets([0, [pod()]], [10 * SECOND, []]), http: NEVER } }),
    );
    expectLanes(fake.history, SECONDS).toBe('(sc)---------x--(ed)', LEGEND);
    expect(records.map(({ kind }) => kind)).toContain('forgotten');
  });

  it('keeps the directories of all pods: it may want those that do not run', () => {
    const { removed } = onNode({ podUids: ['gone', 'late'], untilMs: 7 * SECOND }, ({ start }) =>
      start({ sources: { file: forever(), http: sets([5 * SECOND, [pod({}, { uid: 'late' })]]) } }),
    );
    expect(removed).toEqual([expect.stringMatching(/^6000 .*\/pods\/gone$/)]);
  });

  it('does not keep a pod that is wanted again under its UID from starting over', () => {
    const { fake } = onNode(slowly, ({ start }) =>
      start({ sources: { file: sets([0, [pod()]], [10 * SECOND, []], [11 * SECOND, [pod()]]), http: NEVER } }),
    );
    // Housekeeping, at even seconds, starts it over.
    expectLanes(linesOf(fake.history, 'start main', 'exit main 143'), SECONDS).toBe({
      'start main': '   0-------------1',
      'exit main 143': '-------------e-',
    });
  });
});

describe('without runtime events', () => {
  it('a failed container is noticed by the next relist', () => {
    const behaviours = { main: [{ exitsAfterMs: 5_300, exitCode: 1 }, {}] };
    const { fake } = onNode({ behaviours, tellsEvents: false, untilMs: MINUTE }, ({ start }) => {
      start({ sources: { file: forever(pod()) } });
    });
    // Relists come at full seconds.
    expectLanes(linesOf(fake.history, 'start main', 'exit main 1'), { everyMs: 100 }).toBe({
      'start main': ' 0 5200ms -------1',
      'exit main 1': '- 5200ms e-------',
    });
  });
});

describe('housekeeping', () => {
  it('stops a running pod that no source wants, with the shortest grace', () => {
    const { fake } = onNode({ untilMs: MINUTE }, ({ start, scheduler }) => {
      const first = start({ sources: { file: forever(pod()) } });
      scheduler.schedule(() => first.subscription.unsubscribe(), 5 * SECOND);
      scheduler.schedule(() => start({ sources: { file: forever() } }), 6 * SECOND);
    });
    // The new agent starts at 6 s; its first housekeeping is at 8 s.
    expectLanes(fake.history, SECONDS).toBe({
      'sandbox web': '     0--------',
      'start main': '      0--------',
      'stop main 2': '     --------s',
      'exit main 143': '   --------e',
      'stop-sandbox web': '--------s',
    });
  });

  it('stops nothing while a source has sent nothing', () => {
    const { fake } = onNode({ untilMs: MINUTE }, ({ start, scheduler }) => {
      const first = start({ sources: { file: forever(pod()) } });
      scheduler.schedule(() => first.subscription.unsubscribe(), 5 * SECOND);
      scheduler.schedule(() => start({ sources: { file: forever(), http: NEVER } }), 6 * SECOND);
    });
    expectLanes(fake.history, SECONDS).toBe('(sc)', LEGEND);
  });

  it('starts a pod over whose UID was in use by a former one', () => {
    const fixed = pod();
    const { fake } = onNode({ behaviours: { main: [{ stopsAfterMs: 4 * SECOND }] }, untilMs: MINUTE }, ({ start }) =>
      start({ sources: { file: sets([0, [fixed]], [11 * SECOND, []], [13 * SECOND, [fixed]]) } }),
    );
    // The pod stops until 15 s. Housekeeping, at even seconds, starts it over.
    expectLanes(fake.history, SECONDS).toBe({
      'sandbox web': '     0---------------1',
      'start main': '      0---------------1',
      'stop main 30': '    -----------s-----',
      'exit main 143': '   ---------------e-',
      'stop-sandbox web': '---------------s-',
    });
  });
});

describe('when all pods are to stop', () => {
  it('the loop ends as soon as nothing runs any more', () => {
    const stop$ = new Subject<{ readonly reason: string }>();
    const { fake } = onNode(
      { behaviours: { main: [{ stopsAfterMs: 2 * SECOND }] }, untilMs: MINUTE },
      ({ start, scheduler, fake: { history } }) => {
        const { subscription } = start({ sources: { file: forever(pod()) }, stop$ });
        subscription.add(() => history.push(`${scheduler.now()} end`));
        scheduler.schedule(() => stop$.next({ reason: 'a test' }), 10 * SECOND);
      },
    );
    expectLanes(fake.history, SECONDS).toBe('(sc)---------x-(ed|)', { ...LEGEND, '|': 'end' });
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
    start({ sources: { file: forever(pod({ activeDeadlineSeconds: 21 })) } }),
  );
  // With the tick of that second.
  expectLanes([...fake.history, ...linesOf(events, 'DeadlineExceeded')], SECONDS).toBe({
    'sandbox web': '     0 20s -',
    'start main': '      0 20s -',
    DeadlineExceeded: '  - 20s D',
    'stop main 30': '    - 20s s',
    'exit main 143': '   - 20s e',
    'stop-sandbox web': '- 20s s',
  });
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
    // Its status is read at 0, 5, 10 and 15 s.
    expectLanes(fake.history, SECONDS).toBe('15s (sc)', LEGEND);
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
    // The status of 15 s shows a network; the retry is due each second, and a tick reads it each second second.
    expectLanes([...fake.history, ...linesOf(events, 'NetworkNotReady')], SECONDS).toBe({
      'sandbox host': ' 0----------------',
      'sandbox own': '  ----------------0',
      'start main': '   0---------------0',
      NetworkNotReady: 'N-N-N-N-N-N-N-N--',
    });
  });
});

describe('cgroups of pods', () => {
  const settings = {
    ...{ root: [], podPidsLimit: -1, enforced: ['pods'] as const, systemReserved: {}, kubeReserved: {} },
    ...{ systemReservedCgroup: '', kubeReservedCgroup: '' },
  };
  const PATH = '/kubepods/besteffort/poduid-1';

  it('are there before their pod and gone after it; those of unknown pods go after the first housekeeping', () => {
    let cgroups!: FakeCgroups;
    const nodeCgroups = (scheduler: TestScheduler): NodeCgroups => {
      cgroups = fakeCgroups(scheduler, ['/kubepods', '/kubepods/burstable', '/kubepods/burstable/podlost']);
      return { cgroups: cgroups.cgroups, settings, capacity: new Map() };
    };
    const { fake, events } = onNode({ nodeCgroups, untilMs: MINUTE }, ({ start, scheduler }) => {
      start({ sources: { file: sets([0, [pod()]], [20 * SECOND, []]) } });
      scheduler.schedule(() => expect(cgroups.there.has(PATH)).toBe(true), 19 * SECOND);
    });
    const ofPods = cgroups.did.filter((line) => line.includes('/pod')).map((line) => line.replace(/\/.*\//, ''));
    expectLanes([...fake.history, ...ofPods], SECONDS).toBe({
      'create poduid-1': ' c-- 17s -',
      'sandbox web': '     0-- 17s -',
      'start main': '      0-- 17s -',
      'stop main 30': '    --- 17s s',
      'exit main 143': '   --- 17s e',
      'stop-sandbox web': '--- 17s s',
      'kill poduid-1': '   --- 17s k',
      'remove poduid-1': ' --- 17s r',
      'kill podlost': '    --k 17s -',
      'remove podlost': '  --r 17s -',
    });
    expect([...cgroups.there].toSorted()).toEqual(['/', '/kubepods', '/kubepods/besteffort', '/kubepods/burstable']);
    expect(events.filter((event) => event.endsWith('NodeAllocatableEnforced'))).toEqual(['0 NodeAllocatableEnforced']);
  });

  it('stop the start when they cannot be made: no pod is touched', () => {
    const said: string[] = [];
    const nodeCgroups = (scheduler: TestScheduler): NodeCgroups => {
      const { cgroups } = fakeCgroups(scheduler);
      return { cgroups, settings: { ...settings, root: ['absent'] }, capacity: new Map() };
    };
    const { fake } = onNode({ nodeCgroups, untilMs: MINUTE }, ({ agent }) => {
      agent({ sources: { file: forever(pod()) } }).outcome$.subscribe({
        error: (error: unknown) => said.push(String(error)),
      });
    });
    expect(said).toEqual([
      'NodeCgroupsError: invalid configuration: cgroupRoot: cgroup ["absent"] has some missing paths: /absent',
    ]);
    expect(fake.history).toEqual([]);
  });
});
