import { execFile, execFileSync } from 'node:child_process';
import { existsSync, readdirSync, readFileSync, rmdirSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { catchError, EMPTY, from, lastValueFrom, map, mergeMap, type Observable, toArray } from 'rxjs';
import { criClient } from '../../src/runtime/cri-client.js';

const run = promisify(execFile);
const script = (name: string): string => fileURLToPath(new URL(`../../test/containerd/stage/${name}`, import.meta.url));

/** A containerd of the benchmark. */
export interface Stage {
  readonly endpoint: string;
  readonly pid: number;
  /** The parent of the cgroups of pods. */
  readonly cgroupRoot: string;
  /** The name and version of the runtime. */
  readonly runtime: string;
  /** The starts of the running containers, in Unix milliseconds, by the names of their pods. */
  readonly startTimes: () => Promise<ReadonlyMap<string, number>>;
  /** The process ids of the running containers, by the names of their pods. */
  readonly processes: () => Promise<ReadonlyMap<string, number>>;
  /** Resolves when `count` containers run. */
  readonly running: (count: number) => Promise<void>;
  /** Kills and removes all pods with their cgroups; resolves when none is listed. */
  readonly clear: () => Promise<void>;
  readonly down: () => Promise<void>;
}

const LOOK_EVERY_MS = 250;
const LONGEST_MS = 300_000;
const IN_PARALLEL = 8;

/** `CONTAINERD` names another binary than that of the PATH. */
export const bringUp = async (folder: string): Promise<Stage> => {
  const interrupted = (): void => {
    execFileSync(script('down.sh'), [folder]);
    process.exit(1);
  };
  for (const signal of ['SIGINT', 'SIGTERM']) process.once(signal, interrupted);
  const endpoint = (await run(script('up.sh'), [folder])).stdout.trim();
  const { runtime, close } = criClient({ endpoint });
  const ask = <T>(call$: Observable<T>): Promise<T> => lastValueFrom(call$);
  const running = { filter: { state: { state: 'CONTAINER_RUNNING' as const } } };
  const cgroupRoot = readFileSync(join(folder, 'cgroup-root'), 'utf8').trim();
  const { runtimeName, runtimeVersion } = await ask(runtime.version({}));

  const startTimes: Stage['startTimes'] = async () => {
    const { containers } = await ask(runtime.listContainers(running));
    const statuses = await ask(
      from(containers).pipe(
        mergeMap(({ id }) => runtime.containerStatus({ containerId: id }), IN_PARALLEL),
        toArray(),
      ),
    );
    return new Map(
      statuses.flatMap(({ status }) =>
        status
          ? [[status.labels['io.kubernetes.pod.name'] ?? status.id, Number(status.startedAt / 1_000n) / 1_000]]
          : [],
      ),
    );
  };
  const processes: Stage['processes'] = async () => {
    const { containers } = await ask(runtime.listContainers(running));
    const found = await ask(
      from(containers).pipe(
        mergeMap(
          ({ id, labels }) =>
            runtime.containerStatus({ containerId: id, verbose: true }).pipe(
              map(({ info }) => {
                const { pid } = JSON.parse(info.info ?? '') as { readonly pid: number };
                return [labels['io.kubernetes.pod.name'] ?? id, pid] as const;
              }),
            ),
          IN_PARALLEL,
        ),
        toArray(),
      ),
    );
    return new Map(found);
  };
  const clear: Stage['clear'] = async () => {
    for (;;) {
      const { items } = await ask(runtime.listPodSandbox({}));
      if (items.length === 0) return removeCgroupsBelow(cgroupRoot);
      const removals$ = from(items).pipe(
        mergeMap(
          ({ id }) =>
            runtime.stopPodSandbox({ podSandboxId: id }).pipe(
              catchError(() => EMPTY),
              toArray(),
              mergeMap(() => runtime.removePodSandbox({ podSandboxId: id })),
              catchError(() => EMPTY),
            ),
          IN_PARALLEL,
        ),
      );
      await lastValueFrom(removals$, { defaultValue: undefined });
    }
  };
  return {
    endpoint,
    cgroupRoot,
    pid: Number(readFileSync(join(folder, 'containerd.pid'), 'utf8')),
    runtime: `${runtimeName} ${runtimeVersion}`,
    startTimes,
    processes,
    running: async (count) => {
      const deadline = performance.now() + LONGEST_MS;
      for (;;) {
        const { containers } = await ask(runtime.listContainers(running));
        if (containers.length >= count) return;
        if (performance.now() > deadline)
          throw new Error(`${containers.length} of ${count} containers run after ${LONGEST_MS} ms`);
        await pause(LOOK_EVERY_MS);
      }
    },
    clear,
    down: async () => {
      close();
      await run(script('down.sh'), [folder]);
      for (const signal of ['SIGINT', 'SIGTERM']) process.off(signal, interrupted);
    },
  };
};

const CGROUPS = '/sys/fs/cgroup';

/** Removes the cgroups of an agent that was killed, so that the next one starts in the same state as the first. */
const removeCgroupsBelow = (root: string): void => {
  for (const hierarchy of ['.', ...readdirSync(CGROUPS)]) {
    const path = join(CGROUPS, hierarchy, root, 'kubepods');
    if (existsSync(path)) removeCgroups(path);
  }
};
const removeCgroups = (path: string): void => {
  for (const entry of readdirSync(path, { withFileTypes: true }))
    if (entry.isDirectory()) removeCgroups(join(path, entry.name));
  rmdirSync(path);
};
