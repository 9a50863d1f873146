import { join } from 'node:path';
import { writeFileSync } from 'node:fs';
import { describe, expect } from 'vitest';
import type { ContainerStatus } from '../../src/generated/runtime/v1/api.js';
import type { ContainerPlan, InstancePlan, Plan, PodPlan } from '../../src/tools/sim/plan/plan.js';
import { type Daemon, it, NODE_NAME } from './daemon.js';
import { eventually } from './eventually.js';
import { type Watch, watchRuntime } from './watch.js';

const A_MINUTE = 60_000;
const TEST_MS = 420_000;
/** Of probes, of the loop that looks what is due, and of listings. */
const TICK_MS = 1000;

/** What `plan` says about the manifests of a daemon. */
const planOf = async (daemon: Daemon, scenario: string, span: string): Promise<Plan> => {
  const file = join(daemon.directory, 'scenario.yaml');
  writeFileSync(file, scenario);
  const { code, stdout, stderr } = await daemon.run(
    ...['plan', daemon.manifests, '--scenario', file, '--for', span, '-o', 'json'],
  );
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
  return JSON.parse(stdout) as Plan;
};

const podIn = ({ pods }: Plan, name: string): PodPlan => pods.find((pod) => pod.name === name)!;
const containerIn = (plan: Plan, pod: string, name: string): ContainerPlan =>
  podIn(plan, pod).containers.find((container) => container.name === name)!;

/** What was seen of the instances of a container, in their order. Milliseconds of the machine's clock. */
const seenOf = ({ ends, seen }: Watch, pod: string, name: string) =>
  [...seen.values()]
    .filter((container) => container.pod === `${pod}-${NODE_NAME}` && container.name === name)
    .toSorted((one, other) => one.attempt - other.attempt)
    .map(({ id, attempt }) => {
      const end = ends.get(id);
      return { attempt, exitCode: end?.exitCode, startedMs: ms(end?.startedAt), endedMs: ms(end?.finishedAt) };
    });
const ms = (nanos: ContainerStatus['startedAt'] | undefined): number => Number(nanos ?? NaN) / 1e6;

/** The waits that the agent has decided on, each with when it meant to look again. */
const waitsIn = (daemon: Daemon) => {
  const entries = daemon.journal();
  return entries.flatMap((entry, index) => {
    if (entry.kind !== 'back-off') return [];
    const next = entries.slice(index).find((later) => later.kind === 'sync-ended');
    if (next?.kind !== 'sync-ended' || next.next.kind !== 'retry') throw new Error('a back-off without a next sync');
    const { delayMs, until } = entry;
    return entries.slice(0, index).some((earlier) => earlier.kind === 'back-off' && earlier.until === until)
      ? []
      : [{ delayMs, until, dueAt: next.next.dueAt }];
  });
};

/** How long an instance had to wait after the one before, in whole ticks. */
const waitTicks = (instance: Pick<InstancePlan, 'startedMs'>, before: Pick<InstancePlan, 'endedMs'>): number =>
  Math.floor((instance.startedMs - (before.endedMs ?? NaN)) / TICK_MS);

/** Containers of a pod in the order in which something of them happened. */
const order = (containers: readonly { readonly name: string; readonly at: number | undefined }[]): readonly string[] =>
  containers.toSorted((one, other) => (one.at ?? NaN) - (other.at ?? NaN)).map(({ name }) => name);

describe.concurrent('what was planned is what the embedded runtime sees', () => {
  it(
    'of a container that keeps failing: restarts, their back-offs, and how long they wait',
    async ({ daemon }) => {
      daemon.apply({ name: 'crash', containers: [{ script: 'sleep 1; exit 3' }] });
      const plan = await planOf(daemon, 'containers: {main: {exitsAfter: 1s, exitCode: 3}}', '1m30s');
      const planned = containerIn(plan, 'crash', 'main').instances.slice(0, 4);
      const watch = watchRuntime(daemon);
      await daemon.start();
      const seen = await eventually(
        'the fourth instance has ended',
        () => {
          const instances = seenOf(watch, 'crash', 'main').slice(0, 4);
          return instances.length === 4 && instances.every(({ exitCode }) => exitCode !== undefined) && instances;
        },
        2 * A_MINUTE,
      );
      expect(watch.violations).toEqual([]);
      expect(seen.map(({ attempt, exitCode }) => ({ attempt, exitCode }))).toEqual(
        planned.map(({ attempt, exitCode }) => ({ attempt, exitCode })),
      );

      const decided = daemon
        .journal()
        .flatMap((entry) => (entry.kind === 'back-off' ? [`${entry.delayMs} ${entry.step} of ${entry.steps}`] : []));
      const foreseen = planned.flatMap(({ backOff }) =>
        backOff ? [`${backOff.delayMs} ${backOff.step} of ${backOff.steps}`] : [],
      );
      expect(foreseen).toEqual(['10000 1 of 6', '20000 2 of 6']);
      expect([...new Set(decided)].slice(0, 2)).toEqual(foreseen);

      for (const index of [1, 2, 3]) {
        // A busy machine is late; by the rule itself nothing is early, in ticks.
        const least = Math.floor((planned[index]?.backOff?.delayMs ?? 0) / TICK_MS);
        expect(waitTicks(seen[index]!, seen[index - 1]!)).toBeGreaterThanOrEqual(least);
        expect(waitTicks(planned[index]!, planned[index - 1]!)).toBeGreaterThanOrEqual(least);
      }
      for (const [index, { delayMs, until, dueAt }] of waitsIn(daemon).slice(0, 2).entries()) {
        const [before, after] = [seen[index + 1]!, seen[index + 2]!];
        // What the table says, on a machine with any load: both clocks count whole milliseconds. Then jitter, and then the next tick.
        expect(Math.abs(until - delayMs - Math.trunc(before.endedMs))).toBeLessThanOrEqual(1);
        expect(dueAt).toBeGreaterThanOrEqual(until);
        expect(dueAt).toBeLessThanOrEqual(until + delayMs / 2);
        expect(after.startedMs).toBeGreaterThanOrEqual(until);
        const foreseenMs = (planned[index + 2]?.startedMs ?? NaN) - (planned[index + 1]?.endedMs ?? NaN);
        expect(foreseenMs).toBeLessThanOrEqual(delayMs * 1.5 + TICK_MS);
      }
    },
    TEST_MS,
  );

  it(
    'of a job that fails once: restarts at once, and nothing after its success',
    async ({ daemon }) => {
      const once = join(daemon.directory, 'once');
      daemon.apply({
        name: 'job',
        restartPolicy: 'OnFailure',
        containers: [{ script: `sleep 1; [ -e ${once} ] || { touch ${once}; exit 1; }` }],
      });
      const scenario = 'containers: {main: [{exitsAfter: 1s, exitCode: 1}, {exitsAfter: 1s}]}';
      const plan = await planOf(daemon, scenario, '1m30s');
      const watch = watchRuntime(daemon);
      await daemon.start();
      const phases = () =>
        daemon
          .journal()
          .flatMap((entry) => (entry.kind === 'phase' && entry.pod?.name === `job-${NODE_NAME}` ? [entry.to] : []));
      const foreseen = podIn(plan, 'job').phases.map(({ phase }) => phase);
      expect(foreseen.at(-1)).toBe('Succeeded');
      await eventually('the job has succeeded', () => phases().at(-1) === 'Succeeded', 2 * A_MINUTE);
      await watch.stop();
      const planned = containerIn(plan, 'job', 'main').instances;
      expect(watch.violations).toEqual([]);
      expect(seenOf(watch, 'job', 'main').map(({ attempt, exitCode }) => ({ attempt, exitCode }))).toEqual(
        planned.map(({ attempt, exitCode }) => ({ attempt, exitCode })),
      );
      expect([...new Set(phases())]).toEqual(foreseen);
    },
    TEST_MS,
  );

  it(
    'of sidecars: the order of starts, attempts of a startup probe, and the order of the end',
    async ({ daemon }) => {
      const attempts = join(daemon.directory, 'attempts');
      // Says yes from its fourth attempt on; the plan has it ready between the third and the fourth one.
      const ask = `echo x >> ${attempts}; [ $(wc -l < ${attempts}) -ge 4 ]`;
      const late = (seconds: number): string => `trap 'sleep ${seconds}; exit 0' TERM; while :; do sleep 0.05; done`;
      const exec = { command: ['/bin/sh', '-c', ask] };
      daemon.apply({
        name: 'cars',
        terminationGracePeriodSeconds: 60,
        initContainers: [
          { name: 'log', restartPolicy: 'Always', script: late(0) },
          {
            ...{ name: 'proxy', restartPolicy: 'Always', script: late(0) },
            startupProbe: { exec, periodSeconds: 1, timeoutSeconds: 20, failureThreshold: 60 },
          },
          { name: 'prepare', script: 'sleep 1' },
        ],
        containers: [
          { name: 'app', script: late(3) },
          { name: 'web', script: late(1) },
        ],
      });
      // `host` is no image that the runtime has to fetch.
      const scenario = `images: {host: {pull: 0}}
containers:
  proxy: {readyAfter: 2500ms, stopExitCode: 0}
  log: {stopExitCode: 0}
  prepare: {exitsAfter: 1s}
  app: {stopsAfter: 3s, stopExitCode: 0}
  web: {stopsAfter: 1s, stopExitCode: 0}
`;
      const plan = await planOf(daemon, scenario, '30s');
      const { containers: planned } = podIn(plan, 'cars');
      const watch = watchRuntime(daemon);
      await daemon.start();
      await daemon.reached('cars', 'CONTAINER_RUNNING', { name: 'web' });
      daemon.delete('cars.yaml');
      const names = planned.map(({ name }) => name);
      await eventually(
        'all have ended',
        () => names.every((name) => seenOf(watch, 'cars', name).some(({ exitCode }) => exitCode !== undefined)),
        2 * A_MINUTE,
      );
      const seen = names.map((name) => ({ name, instances: seenOf(watch, 'cars', name) }));
      const endsOf = (
        all: readonly { name: string; instances: readonly { endedMs?: number; exitCode?: number }[] }[],
      ) => order(all.map(({ name, instances }) => ({ name, at: instances[0]?.endedMs })));
      const startsOf = (all: readonly { name: string; instances: readonly { startedMs: number }[] }[]) =>
        order(all.map(({ name, instances }) => ({ name, at: instances[0]?.startedMs })));

      expect(watch.violations).toEqual([]);
      expect(seen.map(({ instances }) => instances.length)).toEqual([1, 1, 1, 1, 1]);
      expect(startsOf(seen)).toEqual(startsOf(planned));
      expect(startsOf(planned)).toEqual(['log', 'proxy', 'prepare', 'app', 'web']);
      expect(endsOf(seen)).toEqual(endsOf(planned));
      expect(endsOf(planned)).toEqual(['prepare', 'web', 'app', 'proxy', 'log']);
      expect(seen.map(({ instances }) => instances[0]?.exitCode)).toEqual(
        planned.map(({ instances }) => instances[0]?.exitCode),
      );

      // As many attempts as planned, each a period after the one before: the next container waits for as many ticks.
      const probe = planned.find(({ name }) => name === 'proxy')?.probes[0];
      expect(probe).toMatchObject({ attempts: 4, failures: 3 });
      const unhealthy = daemon
        .journal()
        .filter((entry) => entry.kind === 'event' && entry.reason === 'Unhealthy' && entry.container === 'proxy');
      expect(unhealthy).toHaveLength(probe?.failures ?? NaN);
      const between = (all: readonly { name: string; instances: readonly { startedMs: number }[] }[]) => {
        const [proxy, prepare] = ['proxy', 'prepare'].map((name) => all.find((one) => one.name === name));
        return Math.floor(
          ((prepare?.instances[0]?.startedMs ?? NaN) - (proxy?.instances[0]?.startedMs ?? NaN)) / TICK_MS,
        );
      };
      expect(between(planned)).toBe(3);
      expect(between(seen)).toBeGreaterThanOrEqual(between(planned));
    },
    TEST_MS,
  );
});
