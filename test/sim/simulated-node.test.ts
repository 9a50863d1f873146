import { createHash } from 'node:crypto';
import { merge, NEVER, Observable, tap, throwError } from 'rxjs';
import { describe, expect, it } from 'vitest';
import { kubelet } from '../../src/kubelet.js';
import type { Pod } from '../../src/model/pod/pod.js';
import {
  simulatedNode,
  type SimulatedNodeOptions,
  type SimulatedRejection,
} from '../../src/tools/sim/simulated-node.js';
import { simulatedSource } from '../../src/tools/sim/node/simulated-source.js';
import { VirtualScheduler } from '../../src/tools/sim/world/virtual-scheduler.js';
import type { WorldEvent } from '../../src/tools/sim/world/world-event.js';
import { aPod } from '../support/a-pod.js';

const SECOND = 1000;
const MINUTE = 60 * SECOND;

/** A node whose only source wants `pods`. */
const stage = (pods: readonly Pod[], { tell = () => undefined, ...options }: Partial<SimulatedNodeOptions> = {}) => {
  const told: WorldEvent[] = [];
  const hear = (event: WorldEvent) => {
    told.push(event);
    tell(event);
  };
  const scheduler = options.scheduler ?? new VirtualScheduler({ startMs: 0 });
  const file = simulatedSource('file', { scheduler, tell: hear }, pods);
  const node = simulatedNode({ seed: 1, scheduler, sources: { file: file.event$ }, tell: hear, ...options });
  const of = <Kind extends WorldEvent['kind']>(kind: Kind) =>
    told.filter((event): event is Extract<WorldEvent, { kind: Kind }> => event.kind === kind);
  return {
    ...{ node, file, told, scheduler, of },
    until: (ms: number) => scheduler.runUntil(ms),
    starts: () =>
      told.flatMap((event) => (event.kind === 'container-started' ? [`${event.container} ${event.attempt}`] : [])),
    statusOf: (name: string) => node.pods().find(({ metadata }) => metadata.name === name)?.status,
  };
};

/** A pod of another node. */
const ELSEWHERE = aPod({
  uid: 'uid-far',
  name: 'far',
  spec: { nodeName: 'edge', containers: [{ name: 'main', image: 'far' }] },
});

const WEB = aPod({
  uid: 'uid-web',
  name: 'web',
  spec: {
    containers: [
      {
        ...{ name: 'main', image: 'nginx', terminationMessagePath: '/dev/termination-log' },
        readinessProbe: {
          httpGet: { port: 80 },
          periodSeconds: 1,
          timeoutSeconds: 1,
          successThreshold: 1,
          failureThreshold: 3,
        },
      },
    ],
  },
});
const JOB = aPod({
  uid: 'uid-job',
  name: 'job',
  spec: { restartPolicy: 'OnFailure', containers: [{ name: 'work', image: 'job' }] },
});
const BEHAVIOURS = {
  containers: {
    main: [{ readyAfterMs: 12_000 }],
    work: [{ exitsAfterMs: 20_000, exitCode: 1 }, { exitsAfterMs: 5000 }],
  },
  images: { nginx: { pullMs: 8000 } },
};

describe('a node in virtual time', () => {
  it('runs pods with the agent as it is', () => {
    const { node, until, statusOf, starts } = stage([WEB, JOB], { behaviours: BEHAVIOURS });
    node.start();
    until(10 * SECOND);
    expect(statusOf('web')?.phase).toBe('Running');
    expect(statusOf('web')?.containerStatuses?.[0]).toMatchObject({ ready: false, started: true });
    until(MINUTE);
    expect(statusOf('web')?.containerStatuses?.[0]).toMatchObject({ ready: true, restartCount: 0 });
    expect(statusOf('job')?.phase).toBe('Succeeded');
    expect(starts()).toEqual(['work 0', 'main 0', 'work 1']);
    expect(node.health()).toBeUndefined();
  });

  it('emits the journal of the agent, and its statuses', () => {
    const { node, until, of } = stage([WEB], { behaviours: BEHAVIOURS });
    node.start();
    until(MINUTE);
    const entries = of('journal').map(({ entry }) => entry);
    expect(entries.map(({ id }) => id)).toEqual(entries.map((_, index) => `1-${index + 1}`));
    expect(entries).toContainEqual(expect.objectContaining({ kind: 'event', reason: 'Started', container: 'main' }));
    const last = of('status').at(-1);
    expect(last).toMatchObject({ uid: 'uid-web', pod: { status: { phase: 'Running' } } });
  });

  describe('is the same for the same seed', () => {
    const history = (seed: number) => {
      const { node, file, until, told, scheduler } = stage([WEB, JOB], {
        ...{ seed, behaviours: BEHAVIOURS, scheduler: new VirtualScheduler({ startMs: 0 }) },
      });
      node.start();
      until(9 * SECOND);
      node.kill();
      until(11 * SECOND);
      node.start();
      until(30 * SECOND);
      node.runtime.restart(3 * SECOND);
      node.jumpClock(90 * SECOND);
      scheduler.schedule(() => file.want([WEB]), 20 * SECOND);
      until(3 * MINUTE);
      node.stop('the end');
      until(4 * MINUTE);
      return told
        .map((event) => JSON.stringify(event, (_, value: unknown) => (typeof value === 'bigint' ? `${value}n` : value)))
        .join('\n');
    };
    const digest = (text: string) => createHash('sha256').update(text).digest('hex');

    it('to the byte', () => {
      for (const seed of [1, 2, 3]) expect(history(seed)).toBe(history(seed));
    });

    it('and not for another', () => {
      const histories = Array.from({ length: 20 }, (_, seed) => digest(history(seed)));
      expect(new Set(histories).size).toBe(20);
    });
  });

  describe('whose agent is killed', () => {
    it('goes on without it, and the next one takes over what runs', () => {
      const { node, until, starts, of, statusOf } = stage([WEB], { behaviours: BEHAVIOURS });
      node.start();
      until(MINUTE);
      const before = of('journal').length;
      node.kill();
      expect([node.isAlive(), node.pods(), node.health()]).toEqual([false, [], undefined]);
      until(5 * MINUTE);
      expect(of('journal').length).toBe(before);
      expect(node.runtime.liveContainers()).toHaveLength(1);
      node.start();
      until(6 * MINUTE);
      expect(starts()).toEqual(['main 0']);
      expect(statusOf('web')?.containerStatuses?.[0]).toMatchObject({ ready: true, restartCount: 0 });
      expect(of('journal').at(-1)?.entry.id).toMatch(/^2-/);
    });

    it('finds out how its containers ended meanwhile', () => {
      const { node, until, statusOf } = stage([WEB], { behaviours: BEHAVIOURS });
      node.start();
      until(MINUTE);
      node.kill();
      node.runtime.crash(node.runtime.liveContainers()[0]!.containerId, 139);
      until(2 * MINUTE);
      node.start();
      until(3 * MINUTE);
      expect(statusOf('web')?.containerStatuses?.[0]).toMatchObject({
        restartCount: 1,
        lastState: { terminated: { exitCode: 139 } },
      });
    });

    it('leaves nothing behind, whenever that is', () => {
      // At each of the first thousand steps, with and without a pod that starts, runs and ends.
      for (let steps = 0; steps < 1000; steps += 13) {
        const { node, scheduler, told } = stage([WEB, JOB], { behaviours: BEHAVIOURS });
        node.start();
        for (let step = 0; step < steps; step++) scheduler.step();
        node.kill();
        expect(told.at(-1)).toMatchObject({ kind: 'agent-killed', actionsLeft: 0 });
        expect(node.lives()).toEqual([{ life: 1, isAlive: false, pendingActions: 0, openCalls: 0 }]);
      }
    });

    it('does what the runtime received, but not what never arrived', () => {
      const { node, until, scheduler, starts } = stage([aPod()], {
        behaviours: { containers: { '*': [{ startsAfterMs: 5000 }] }, images: { '*': { isPresent: true } } },
      });
      node.start();
      while (node.runtime.containers().length === 0) scheduler.step();
      until(scheduler.now() + 100);
      expect(starts()).toEqual([]);
      node.kill();
      until(MINUTE);
      expect(starts()).toEqual(['main 0']);
    });

    it('has its probes begin where they were', () => {
      const { node, until, of } = stage([WEB], { behaviours: BEHAVIOURS });
      node.start();
      until(MINUTE);
      node.kill();
      until(MINUTE + SECOND);
      const before = of('status').length;
      node.start();
      until(2 * MINUTE);
      const ready = of('status')
        .slice(before)
        .map(({ pod }) => pod?.status?.containerStatuses?.[0]?.ready);
      expect(ready).not.toContain(false);
    });
  });

  it('stops every pod when it is asked to, and then its agent ends', () => {
    const { node, until, told } = stage([WEB, JOB], {
      behaviours: { containers: { '*': [{ onStop: { kind: 'hangs' } }] } },
    });
    node.start();
    until(MINUTE);
    node.stop('the end', 5);
    until(MINUTE + 4 * SECOND);
    expect(node.isAlive()).toBe(true);
    until(2 * MINUTE);
    expect(node.isAlive()).toBe(false);
    expect(node.runtime.liveContainers()).toEqual([]);
    expect(told.at(-1)).toMatchObject({ kind: 'agent-stopped', life: 1, actionsLeft: 0 });
    node.start();
    until(3 * MINUTE);
    expect(node.runtime.liveContainers()).toHaveLength(2);
  });

  it('has one agent at a time', () => {
    const { node } = stage([]);
    node.start();
    expect(() => node.start()).toThrow('the agent of node-1 lives already');
    node.kill();
    node.start();
    node.dispose();
    expect(node.isAlive()).toBe(false);
  });

  it('goes through a restart of its runtime', () => {
    const { node, until, starts, statusOf } = stage([WEB], { behaviours: BEHAVIOURS });
    node.start();
    until(MINUTE);
    node.runtime.restart(20 * SECOND);
    until(MINUTE + 10 * SECOND);
    expect(node.runtime.isUp()).toBe(false);
    expect(statusOf('web')?.containerStatuses?.[0]?.ready).toBe(true);
    until(3 * MINUTE);
    expect(starts()).toEqual(['main 0']);
    expect(statusOf('web')?.containerStatuses?.[0]).toMatchObject({ ready: true, restartCount: 0 });
    expect(node.health()).toBeUndefined();
  });

  it('has one time of day for all programs on it, and waits by another', () => {
    const { node, until, of, scheduler } = stage([WEB], { behaviours: BEHAVIOURS });
    node.start();
    until(MINUTE);
    node.jumpClock(10 * MINUTE);
    expect(of('clock-set')).toEqual([{ kind: 'clock-set', at: MINUTE, aheadMs: 10 * MINUTE }]);
    node.runtime.crash(node.runtime.liveContainers()[0]!.containerId, 1);
    until(MINUTE + 10 * SECOND);
    expect(scheduler.now()).toBe(MINUTE + 10 * SECOND);
    expect(node.wallClock()).toBe(11 * MINUTE + 10 * SECOND);
    const { at, entry } = of('journal').at(-1)!;
    expect(entry.at - at).toBe(10 * MINUTE);
    const restarted = of('status').at(-1)?.pod?.status?.containerStatuses?.[0];
    expect(restarted?.state?.running?.startedAt).toMatch(/^1970-01-01T00:11:0/);
  });

  describe('lets errors out', () => {
    it('of a listener', () => {
      const { node, until } = stage([WEB], {
        tell: (event) => {
          if (event.kind === 'container-started') throw new Error('a monitor broke');
        },
      });
      node.start();
      expect(() => until(MINUTE)).toThrow('a monitor broke');
    });

    it('of the agent', () => {
      const broken: typeof kubelet = (ports, options) => {
        const agent = kubelet(ports, options);
        return {
          ...agent,
          outcome$: merge(
            agent.outcome$,
            throwError(() => new Error('a bug')),
          ),
        };
      };
      const { node, until } = stage([WEB], { makeKubelet: broken });
      node.start();
      expect(() => until(MINUTE)).toThrow('a bug');
      expect(node.isAlive()).toBe(false);
    });

    it('of a listener of its outcomes', () => {
      const broken: typeof kubelet = (ports, options) => {
        const agent = kubelet(ports, options);
        const pods = () => {
          throw new Error('no pods');
        };
        return { ...agent, pods };
      };
      const { node, until } = stage([WEB], { makeKubelet: broken });
      node.start();
      expect(() => until(MINUTE)).toThrow('no pods');
    });
  });

  it('counts what an agent leaves behind', () => {
    const leaking: typeof kubelet = (ports, options) => {
      const agent = kubelet(ports, options);
      const leak = () => {
        ports.scheduler.schedule(() => undefined, MINUTE);
        ports.runtime.containerEvents().subscribe();
        merge(ports.runtime.execSync({}), NEVER).subscribe({ error: () => undefined });
      };
      return { ...agent, outcome$: agent.outcome$.pipe(tap({ subscribe: leak })) };
    };
    const { node, until, told } = stage([], { makeKubelet: leaking });
    node.start();
    until(10 * SECOND);
    node.kill();
    expect(node.lives()).toEqual([{ life: 1, isAlive: false, pendingActions: 1, openCalls: 1 }]);
    until(10 * SECOND);
    expect(told.at(-1)).toMatchObject({ kind: 'agent-killed', actionsLeft: 2 });
  });

  it('does not take for left behind what an agent takes back that dies in the middle of something', () => {
    for (let call = 1; call < 60; call++) {
      let calls = 0;
      const { node, until, told, of } = stage([WEB], {
        behaviours: BEHAVIOURS,
        tell: (event) => {
          if (event.kind === 'call' && ++calls === call) node.kill();
        },
      });
      node.start();
      until(MINUTE);
      expect(told.some(({ kind }) => kind === 'agent-killed')).toBe(true);
      expect(of('call-given-up').length).toBeGreaterThan(0);
      expect(told.find(({ kind }) => kind === 'agent-killed')).toMatchObject({ actionsLeft: 0 });
    }
  });

  it('does nothing for an agent that is dead', () => {
    let late!: () => void;
    const heard: string[] = [];
    const undead: typeof kubelet = (ports, options) => {
      late = () => {
        ports.scheduler.schedule(() => heard.push('timer'));
        ports.runtime.version({}).subscribe(() => heard.push('answer'));
        ports.files.makeDirectory('/undead', 0o755).subscribe({ complete: () => heard.push('made') });
        heard.push(ports.record({ kind: 'work-due', causes: [] }));
      };
      return { ...kubelet(ports, options), outcome$: new Observable() };
    };
    const { node, until, told } = stage([], { makeKubelet: undead });
    node.start();
    node.kill();
    const before = told.length;
    late();
    until(MINUTE);
    expect(heard).toEqual(['1-1']);
    expect(told.length).toBe(before);
    expect(node.disk.paths()).not.toContain('/undead');
  });
});

describe('a pod that a simulated node rejects', () => {
  it('a rejected pod without a listener is an error of the simulation, with its name and the reason', () => {
    const { node, until } = stage([ELSEWHERE]);
    node.start();
    expect(() => until(MINUTE)).toThrow(
      "the simulated node node-1 rejects the pod default/far: NodeName: Predicate NodeName failed: node(s) didn't match the requested node name",
    );
  });

  it('the listener for rejections receives a rejected pod once, and the others run', () => {
    const rejections: SimulatedRejection[] = [];
    const { node, until, starts } = stage([ELSEWHERE, JOB], { rejected: (one) => rejections.push(one) });
    node.start();
    until(MINUTE);
    expect(rejections).toMatchObject([{ pod: { name: 'far', namespace: 'default' }, reason: 'NodeName' }]);
    expect(starts()).toContain('work 0');
  });

  it('a pod of the node of the option nodeName is not rejected', () => {
    const { node, until, starts } = stage([ELSEWHERE], { nodeName: 'edge' });
    node.start();
    until(MINUTE);
    expect(starts()).toEqual(['main 0']);
  });
});
