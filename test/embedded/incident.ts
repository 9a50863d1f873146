import { expect } from 'vitest';
import { isCriError } from '../../src/model/cri/cri-error.js';
import { sendSignal } from '../../src/runtime/embedded/confinement/process-tree.js';
import type { HealthServer } from '../support/health-server.js';
import { type Daemon, NODE_NAME } from './daemon.js';
import { eventually } from './eventually.js';
import { type PodOf } from './manifests.js';
import { type Dice, pause } from './seeded.js';

/** How long the churn of a recorded node goes on. */
export const RECORD_SECONDS = Number(process.env.RX_RECORD_SECONDS ?? 45);

/** How long an agent lives where agents are killed. */
export const LIFE_SECONDS = Number(process.env.RX_LIFE_SECONDS ?? 5);

export interface IncidentOptions {
  readonly server: HealthServer;
  readonly dice: Dice;
  readonly seconds: number;
  /** What a container does that waits for good and ends when asked to. */
  readonly wait: string;
  /** Brings a killed runtime back, or waits until another process has. */
  readonly revive: () => Promise<unknown>;
  /** Kills the agent that often and starts another one; unless given, it lives on. */
  readonly lives?: { readonly seconds: number; readonly next: () => Promise<unknown> };
}

const EAGER = { periodSeconds: 1, timeoutSeconds: 5, failureThreshold: 2 };
/** Now and then it fails, by the clock, without any help of the test. */
const MOODY = 'test $(($(date +%s) % 7)) -gt 1';

/**
 * Everything that happens to a node, in an unplanned order: manifests that come, change, break and go, containers that crash,
 * that are killed from outside, or taken away behind the back of the agent, probes that change their mind, and a runtime that is
 * killed. The result says how often each has happened.
 */
export const liveThrough = async (
  daemon: Daemon,
  { server, dice, seconds, wait, revive, lives }: IncidentOptions,
): Promise<Readonly<Record<string, number>>> => {
  const { between, oneOf } = dice;
  const host = '127.0.0.1';
  const http = (path: string) => ({ httpGet: { host, port: server.ports.http, path: `/${path}` } });
  const kinds: readonly ((name: string) => PodOf)[] = [
    (name) => ({ name, containers: [{ script: wait, readinessProbe: { ...EAGER, ...http(name) } }] }),
    (name) => ({ name, containers: [{ script: wait, livenessProbe: { ...EAGER, ...http(name) } }] }),
    (name) => ({
      name,
      containers: [
        {
          script: wait,
          startupProbe: { ...EAGER, failureThreshold: 30, tcpSocket: { host, port: server.ports.tcp } },
          readinessProbe: { ...EAGER, exec: { command: ['sh', '-c', MOODY] } },
          livenessProbe: { ...EAGER, grpc: { port: server.ports.grpc, service: name } },
          lifecycle: { preStop: { exec: { command: ['sleep', '0.3'] } } },
        },
      ],
      ...{ hostNetwork: true },
    }),
    (name) => ({ name, containers: [{ script: `sleep 0.${between(1, 9)}; exit ${between(1, 3)}` }] }),
    (name) => ({
      name,
      restartPolicy: 'Never',
      containers: [{ script: `sleep ${between(0, 3)}; exit ${between(0, 1)}` }],
    }),
    (name) => ({
      name,
      initContainers: [
        { name: 'first', script: 'sleep 0.2' },
        { name: 'side', script: wait, restartPolicy: 'Always' },
        { name: 'moody', script: MOODY },
      ],
      containers: [
        { script: wait, lifecycle: { postStart: http('hook') } },
        { name: 'deaf', script: "trap '' TERM; while :; do sleep 0.1; done" },
      ],
    }),
  ];
  const names = ['steady', 'alive', 'probed', 'looping', 'job', 'many', 'c0', 'c1', 'c2'];
  const placed = new Set<string>();
  let version = 0;
  const put = (name: string, kind = oneOf(kinds)): void => {
    version += 1;
    daemon.apply({ ...kind(name), labels: { version: `v${version}` }, terminationGracePeriodSeconds: 1 });
    placed.add(name);
  };
  kinds.forEach((kind, index) => put(names[index] ?? 'c0', kind));

  const counts: Record<string, number> = {};
  const running = async (): Promise<readonly { id: string; pod: string; name: string; sandboxId: string }[]> =>
    (await daemon.containers()).filter(({ state }) => state === 'CONTAINER_RUNNING');
  const steps: Readonly<Record<string, () => unknown>> = {
    changed: () => put(oneOf(names)),
    removed: () => {
      const name = oneOf([...placed]);
      daemon.withdraw(name);
      placed.delete(name);
      if (placed.size === 0) put(oneOf(names));
    },
    broken: () => daemon.write(`${oneOf(names)}.yaml`, oneOf(['{', 'kind: Pod\nspec: []\n', 'a: [1\n'])),
    sick: () => {
      const name = oneOf(names);
      if (!server.sick.delete(name)) server.sick.add(name);
    },
    killed: async () => {
      const alive = await running();
      if (alive.length === 0) return false;
      const { pod, name } = oneOf(alive);
      const processes = daemon.processesOf(pod.slice(0, -1 - NODE_NAME.length), name);
      for (const { pid } of processes) sendSignal(pid, 'SIGKILL');
      return processes.length > 0;
    },
    'taken away': async () => {
      const alive = await running();
      if (alive.length === 0) return false;
      const { id, sandboxId } = oneOf(alive);
      await daemon.ask((runtime) =>
        between(1, 2) === 1
          ? runtime.stopPodSandbox({ podSandboxId: sandboxId })
          : runtime.stopContainer({ containerId: id, timeout: 0n }),
      );
      return true;
    },
    'runtime killed': async () => {
      await daemon.killRuntime('SIGKILL');
      await revive();
    },
  };
  const often = ['changed', 'changed', 'removed', 'broken', 'sick', 'sick', 'killed', 'killed', 'taken away'];
  const isAway = (error: unknown): boolean =>
    (['unavailable', 'deadline-exceeded', 'not-found', 'unknown', 'cancelled'] as const).some((code) =>
      isCriError(error, code),
    );

  const end = performance.now() + seconds * 1_000;
  // Each of them happens at least once, however short the time is.
  const first = [...new Set(often), 'runtime killed'];
  const take = async (what: string): Promise<void> => {
    try {
      if ((await steps[what]?.()) !== false) counts[what] = (counts[what] ?? 0) + 1;
    } catch (error) {
      // What was looked at may be gone by now, and so may the runtime.
      if (!isAway(error)) throw error;
    }
  };
  let bornAt = performance.now();
  for (let turn = 0; performance.now() < end || turn < first.length; turn += 1) {
    await pause(between(20, 1_400));
    if (lives && performance.now() - bornAt >= lives.seconds * 1_000) {
      await daemon.kill('SIGKILL');
      counts['agent killed'] = (counts['agent killed'] ?? 0) + 1;
      // What happens without an agent is the next one's to find.
      for (let steps = between(0, 2); steps > 0; steps -= 1) await take(oneOf(often));
      await lives.next();
      bornAt = performance.now();
    }
    await take(first[turn] ?? (between(1, 25) === 1 ? 'runtime killed' : oneOf(often)));
  }
  // In the end everything is as the manifests want it.
  server.sick.clear();
  for (const name of names) put(name, kinds[0]);
  await eventually(
    'every pod is ready',
    async () => {
      const shown = await daemon.shownPods();
      for (const name of names) {
        const status = shown.find(({ metadata }) => metadata.name === `${name}-${NODE_NAME}`)?.status;
        const ready = status?.conditions?.find(({ type }) => type === 'Ready');
        expect([name, ready?.status]).toEqual([name, 'True']);
      }
      return true;
    },
    240_000,
  );
  return counts;
};
