import { expect } from 'vitest';
import { eventually } from '../embedded/eventually.js';
import { QUICK_RESTARTS } from '../embedded/quick-restarts.js';
import { watchRuntime } from '../embedded/watch.js';
import { killProcess } from '../support/kill-process.js';
import { metricsOf } from '../support/metrics-of.js';
import type { CriProxy } from '../support/cri-proxy.js';
import { type ContainerdNode, itOver } from './containerd-node.js';
import { violationsOfAgent } from './leftovers.js';
import { overContainerd } from './missing.js';
import { newerContainerd, overNewerContainerd } from './newer.js';
import { it as withoutEvents, proxied, startOver } from './proxied-node.js';

const SLOW_MACHINE_MS = 420_000;
const LONG_MS = 180_000;
const EVENTED = { ...QUICK_RESTARTS, featureGates: { ...QUICK_RESTARTS.featureGates, EventedPLEG: true } };
const LISTS = ['listPodSandbox', 'listContainers'] as const;

const withEvents = proxied(itOver(newerContainerd));

const numbers = async (node: ContainerdNode) => {
  const metrics = await metricsOf(node);
  return {
    relists: metrics('kubelet_pleg_relist_duration_seconds_count'),
    connected: metrics('kubelet_evented_pleg_connection_success_count'),
    broken: metrics('kubelet_evented_pleg_connection_error_count'),
  };
};
const relistsOf = async (node: ContainerdNode): Promise<number> => (await numbers(node)).relists;

/** The runtime has sent its events `times` times, and the listing that follows has been made. */
const connected = (node: ContainerdNode, times: number): Promise<unknown> =>
  eventually(
    `the stream of events was there ${times} times`,
    async () => (await numbers(node)).connected >= times,
    LONG_MS,
  );

/** Resolves when the agent has asked the runtime `times` times how it is, which it does every five seconds. */
const asked = (proxy: CriProxy, times: number): Promise<unknown> => {
  const seen = proxy.asked.length;
  const polls = () => proxy.asked.slice(seen).filter((call) => call.startsWith('status '));
  return eventually(`the runtime was asked ${times} times how it is`, () => polls().length >= times, LONG_MS);
};

/** How often everything is listed while the agent asks `times` times how the runtime is. */
const relistsWhile = async (node: ContainerdNode, proxy: CriProxy, times: number): Promise<number> => {
  // A listing that is under way comes to its end in five seconds.
  await asked(proxy, 2);
  const before = await relistsOf(node);
  await asked(proxy, times);
  return (await relistsOf(node)) - before;
};

/**
 * Resolves when nothing was listed while the agent asked `times` times how the runtime is. Errors: something was, twice in a row: one
 * listing comes every five minutes all the same.
 */
const listsNothing = async (node: ContainerdNode, proxy: CriProxy, times: number): Promise<void> => {
  if ((await relistsWhile(node, proxy, times)) > 0) expect(await relistsWhile(node, proxy, times)).toBe(0);
};

/** Kills the process of a pod's container from outside; resolves when the next instance runs. */
const killed = async (node: ContainerdNode, pod: string, attempt: number): Promise<void> => {
  const { id } = await node.reached(pod, 'CONTAINER_RUNNING', { attempt: attempt - 1 });
  killProcess(await node.pidOf(id));
  await node.reached(pod, 'CONTAINER_RUNNING', { attempt });
  expect(await node.status(id)).toMatchObject({ state: 'CONTAINER_EXITED', exitCode: 137 });
};

overNewerContainerd(
  'events with the gate EventedPLEG',
  () => {
    withEvents(
      'are all that it takes: a death is noticed though no listing is answered, and listings are rare',
      { timeout: SLOW_MACHINE_MS },
      async ({ node, proxy }) => {
        const pods = ['one', 'two', 'three'];
        for (const name of pods) node.apply({ name });
        await startOver(node, proxy, EVENTED);
        for (const pod of pods) await node.reached(pod, 'CONTAINER_RUNNING');
        await connected(node, 1);
        // Two at the start, of which one is that with which events took over; none in three rounds of five seconds.
        await listsNothing(node, proxy, 3);
        const silent = proxy.hold({ methods: LISTS, ofAll: true });
        const before = await relistsOf(node);
        for (const pod of pods) await killed(node, pod, 1);
        await killed(node, 'one', 2);
        node.apply({ name: 'new' });
        await node.reached('new', 'CONTAINER_RUNNING');
        node.delete('two.yaml');
        await eventually('the pod that is not wanted has stopped', async () =>
          (await node.containersOf('two')).every(({ state }) => state === 'CONTAINER_EXITED'),
        );
        expect(await relistsOf(node)).toBe(before);
        silent.release();
        expect(await node.kill('SIGTERM')).toEqual({ code: 0, signal: null });
      },
    );

    withEvents(
      'are replaced by a listing every second while they are refused, and take over again afterwards',
      { timeout: SLOW_MACHINE_MS },
      async ({ node, proxy }) => {
        node.apply({ name: 'web' });
        await startOver(node, proxy, EVENTED);
        await node.reached('web', 'CONTAINER_RUNNING');
        await connected(node, 1);
        const { relists, broken } = await numbers(node);
        proxy.refuseEvents(true);
        // Each failure lists at once, and is followed by others only after 1, 2, 4, 8 and 16 s.
        await eventually('there are more listings than failures', async () => {
          const now = await numbers(node);
          return now.relists - relists >= 5 + now.broken - broken;
        });
        await killed(node, 'web', 1);
        proxy.refuseEvents(false);
        await connected(node, 2);
        await listsNothing(node, proxy, 2);
        // One that is cut in the middle comes back within seconds.
        proxy.cut();
        await connected(node, 3);
        await listsNothing(node, proxy, 2);
        const silent = proxy.hold({ methods: LISTS, ofAll: true });
        // containerd 1.7 gives the next event to the stream that was cut; let it be one of which nothing depends.
        node.apply({ name: 'other' });
        await node.reached('other', 'CONTAINER_RUNNING');
        await killed(node, 'web', 2);
        silent.release();
      },
    );

    withEvents(
      'of a containerd that was killed are received again when it is back; nothing healthy is touched',
      { timeout: SLOW_MACHINE_MS },
      async ({ node, proxy }) => {
        const pods = ['one', 'two', 'three'];
        for (const name of pods) node.apply({ name });
        await startOver(node, proxy, EVENTED);
        const before = new Map<string, string>();
        for (const pod of pods) before.set(pod, (await node.reached(pod, 'CONTAINER_RUNNING')).id);
        await connected(node, 1);
        const watch = watchRuntime(node);
        const processes = await Promise.all([...before.values()].map((id) => node.pidOf(id)));
        const { broken } = await numbers(node);
        await node.killRuntime('SIGKILL');
        await eventually(
          'the agent knows that the stream has broken',
          async () => (await numbers(node)).broken > broken,
        );
        // Dies while no event can be sent.
        killProcess(processes[2]);
        await node.startRuntime();
        await connected(node, 2);
        await node.reached('three', 'CONTAINER_RUNNING', { attempt: 1 });
        await listsNothing(node, proxy, 3);
        for (const pod of ['one', 'two'])
          expect(await node.reached(pod, 'CONTAINER_RUNNING')).toMatchObject({ id: before.get(pod) });
        expect(await Promise.all(['one', 'two'].map((pod) => node.pidOf(before.get(pod) ?? '')))).toEqual(
          processes.slice(0, 2),
        );
        const silent = proxy.hold({ methods: LISTS, ofAll: true });
        await killed(node, 'one', 1);
        silent.release();
        expect(violationsOfAgent(node, watch)).toEqual([]);
      },
    );
  },
  { alone: true },
);

overContainerd(
  'the gate EventedPLEG without events',
  () => {
    withoutEvents(
      'changes nothing: listings go on every second',
      { timeout: SLOW_MACHINE_MS },
      async ({ node, proxy }) => {
        node.apply({ name: 'web' });
        await startOver(node, proxy, EVENTED);
        await node.reached('web', 'CONTAINER_RUNNING');
        expect(await relistsWhile(node, proxy, 2)).toBeGreaterThanOrEqual(3);
        await killed(node, 'web', 1);
        expect(await numbers(node)).toMatchObject({ connected: 0, broken: 1 });
        expect(node.log).toContain('the runtime has no container events; relists replace them');
      },
    );
  },
  { alone: true },
);

overNewerContainerd(
  'events without the gate',
  () => {
    const name = 'are hints: a death is noticed while a listing hangs, and listings go on';
    withEvents(name, { timeout: SLOW_MACHINE_MS }, async ({ node, proxy }) => {
      node.apply({ name: 'web' });
      await startOver(node, proxy);
      await node.reached('web', 'CONTAINER_RUNNING');
      const hanging = proxy.hold({ methods: LISTS, ofAll: true });
      await eventually('everything is being listed', () => hanging.hits() > 0);
      await killed(node, 'web', 1);
      hanging.release();
      const before = await relistsOf(node);
      await eventually('it goes on', async () => (await relistsOf(node)) > before + 2);
    });
  },
  { alone: true },
);
