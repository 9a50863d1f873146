import { mkdirSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { randomUUID } from 'node:crypto';
import { concatMap, defer, from, lastValueFrom, map, mergeMap, type Observable, tap } from 'rxjs';
import {
  CreateContainerRequest,
  ImageStatusRequest,
  RunPodSandboxRequest,
} from '../../src/generated/runtime/v1/api.js';
import { criClient } from '../../src/runtime/cri-client.js';

/** The requests of the agent that started one pod, in base64. */
export interface PodRequests {
  readonly imageStatus: string;
  readonly runPodSandbox: string;
  readonly createContainer: string;
}
/** Starts `pods` pods, `atOnce` at a time. */
export interface DriverRun {
  readonly pods: number;
  readonly atOnce: number;
  readonly requests: PodRequests;
}
/** The time of the first call, in Unix milliseconds, and the duration of each pod. */
export interface DriverResult {
  readonly startedAt: number;
  readonly podMs: readonly number[];
}

/**
 * Starts pods with the necessary calls only, and the requests that the agent sent for one of its pods: the least that an agent can
 * do. Serves runs for the parent process until that ends.
 */
export const serveRuns = (endpoint: string): void => {
  const { runtime, images } = criClient({ endpoint });
  const startPod = ({ imageStatus, runPodSandbox, createContainer }: PodRequests): Observable<number> =>
    defer(() => {
      const startedAt = performance.now();
      const uid = randomUUID().replaceAll('-', '');
      const sandbox = RunPodSandboxRequest.decode(bytes(runPodSandbox));
      const { name = '', uid: templateUid = '' } = sandbox.config?.metadata ?? {};
      const own = (text: string) => text.replaceAll(templateUid, uid).replaceAll(name, `bare-${uid.slice(0, 12)}`);
      const config = renamed(sandbox.config, own);
      const container = renamed(CreateContainerRequest.decode(bytes(createContainer)).config, own);
      const logPath = join(config?.logDirectory ?? '', container?.logPath ?? '');
      return images.imageStatus(ImageStatusRequest.decode(bytes(imageStatus))).pipe(
        tap(() => mkdirSync(dirname(logPath), { recursive: true })),
        concatMap(() => runtime.runPodSandbox({ config, runtimeHandler: sandbox.runtimeHandler })),
        concatMap(({ podSandboxId }) =>
          runtime.createContainer({ podSandboxId, config: container, sandboxConfig: config }),
        ),
        concatMap(({ containerId }) => runtime.startContainer({ containerId })),
        map(() => performance.now() - startedAt),
      );
    });
  const run = async ({ pods, atOnce, requests }: DriverRun): Promise<DriverResult> => {
    await lastValueFrom(runtime.version({}));
    const startedAt = performance.timeOrigin + performance.now();
    const podMs: number[] = [];
    const all$ = from(Array.from({ length: pods })).pipe(mergeMap(() => startPod(requests), atOnce));
    await lastValueFrom(all$.pipe(tap((ms) => podMs.push(ms))), { defaultValue: 0 });
    return { startedAt, podMs };
  };
  process.on('message', (message) => void run(message as DriverRun).then((result) => process.send?.(result)));
  process.on('disconnect', () => process.exit());
};

const bytes = (base64: string): Buffer => Buffer.from(base64, 'base64');

/** The same request with other texts, except the mounts, whose files belong to the recorded pod. */
const renamed = <T>(value: T, rename: (text: string) => string): T => {
  if (typeof value === 'string') return rename(value) as T;
  if (value instanceof Uint8Array || value === null || typeof value !== 'object') return value;
  if (Array.isArray(value)) return value.map((one: unknown) => renamed(one, rename)) as T;
  const fields = Object.entries(value as object).map(([key, one]: [string, unknown]) => [
    key,
    key === 'hostPath' ? one : renamed(one, rename),
  ]);
  return Object.fromEntries(fields) as T;
};
