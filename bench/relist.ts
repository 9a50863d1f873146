/**
 * The cost of a relist: `npx tsx bench/relist.ts [pods] [relists]`. A fake runtime in another process lists one sandbox and one container
 * per pod; the CPU time is that of the agent's side only.
 */
import { Server, ServerCredentials } from '@grpc/grpc-js';
import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { concat, lastValueFrom, NEVER, of, Subject, takeUntil, tap } from 'rxjs';
import {
  ContainerStatusResponse,
  ListContainersResponse,
  ListPodSandboxResponse,
  PodSandboxStatusResponse,
  type RuntimeServiceServer,
  RuntimeServiceService,
} from '../src/generated/runtime/v1/api.js';
import { GENERIC_PLEG } from '../src/model/pleg/pleg.js';
import { criClient } from '../src/runtime/cri-client.js';
import { pleg } from '../src/streams/pleg/pleg.js';
import type { PlegObservation } from '../src/streams/pleg/pleg-observation.js';
import { createPodCache } from '../src/streams/pleg/pod-cache.js';
import { runtimeReader } from '../src/streams/pleg/runtime-reader.js';

/** The number of relists before the measurement: then every pod is known and the code is hot. */
const WARM_UP = 50;

const [socket = '', count = '100'] = process.argv.slice(2);
if (process.send) await serve(socket, Number(count));
else await measure(Number(process.argv[2] ?? 100), Number(process.argv[3] ?? 200));

async function serve(path: string, pods: number): Promise<void> {
  const uids = Array.from({ length: pods }, (_, index) => `00000000-0000-4000-8000-${`${index}`.padStart(12, '0')}`);
  const id = (prefix: string, uid: string): string => `${prefix}${uid.replaceAll('-', '')}`.padEnd(64, '0');
  const labelsOf = (uid: string) => ({
    'io.kubernetes.pod.uid': uid,
    'io.kubernetes.pod.name': `web-${uid}`,
    'io.kubernetes.pod.namespace': 'default',
    'io.kubernetes.container.name': 'web',
    app: 'web',
    'pod-template-hash': '5d4f8c7b9',
  });
  const annotations = {
    'io.kubernetes.container.hash': '8e45cbd0',
    'io.kubernetes.container.restartCount': '0',
    'io.kubernetes.container.terminationMessagePath': '/dev/termination-log',
    'io.kubernetes.pod.terminationGracePeriod': '30',
  };
  const createdAt = 1_700_000_000_000_000_000n;
  const sandbox = (uid: string) => ({
    id: id('a', uid),
    metadata: { name: `web-${uid}`, uid, namespace: 'default', attempt: 0 },
    createdAt,
    labels: labelsOf(uid),
    annotations,
  });
  const containerStatus = (uid: string) => ({
    id: id('b', uid),
    metadata: { name: 'web', attempt: 0 },
    image: { image: 'docker.io/library/web:1' },
    imageRef: 'docker.io/library/web@sha256:0',
    state: 'CONTAINER_RUNNING' as const,
    createdAt,
    labels: labelsOf(uid),
    annotations,
  });
  const container = (uid: string) => ({ ...containerStatus(uid), podSandboxId: id('a', uid) });
  const of = (selector: { readonly [label: string]: string } | undefined): readonly string[] => {
    const uid = selector?.['io.kubernetes.pod.uid'];
    return uid === undefined ? uids : [uid];
  };
  const byId = new Map(uids.flatMap((uid) => [id('a', uid), id('b', uid)].map((key) => [key, uid] as const)));
  const uidOf = (key: string): string => byId.get(key) ?? '';
  const server = new Server();
  const handlers: Pick<
    RuntimeServiceServer,
    'listPodSandbox' | 'listContainers' | 'podSandboxStatus' | 'containerStatus'
  > = {
    listPodSandbox: (call, reply) =>
      reply(null, ListPodSandboxResponse.fromPartial({ items: of(call.request.filter?.labelSelector).map(sandbox) })),
    listContainers: (call, reply) =>
      reply(
        null,
        ListContainersResponse.fromPartial({ containers: of(call.request.filter?.labelSelector).map(container) }),
      ),
    podSandboxStatus: (call, reply) =>
      reply(null, PodSandboxStatusResponse.fromPartial({ status: sandbox(uidOf(call.request.podSandboxId)) })),
    containerStatus: (call, reply) =>
      reply(null, ContainerStatusResponse.fromPartial({ status: containerStatus(uidOf(call.request.containerId)) })),
  };
  server.addService(RuntimeServiceService, handlers);
  await new Promise<void>((resolve, reject) =>
    server.bindAsync(`unix://${path}`, ServerCredentials.createInsecure(), (error) =>
      error ? reject(error) : resolve(),
    ),
  );
  process.send?.('ready');
  process.on('disconnect', () => process.exit(0));
}

async function measure(pods: number, relists: number): Promise<void> {
  const directory = mkdtempSync(join(tmpdir(), 'bench-relist-'));
  const path = join(directory, 'runtime.sock');
  const server: ChildProcess = fork(fileURLToPath(import.meta.url), [path, `${pods}`]);
  const client = criClient({ endpoint: path });
  try {
    await once(server, 'message');
    const begin = process.cpuUsage();
    let startedAt = begin;
    let firstReadsCpuMs = 0;
    const seen = { relists: 0, reads: 0, events: 0 };
    const finished$ = new Subject<void>();
    const observe = ({ kind }: PlegObservation): void => {
      if (kind === 'pod-read') {
        seen.reads += 1;
        if (seen.reads === pods) firstReadsCpuMs = cpuMs(begin);
        return;
      }
      seen.relists += 1;
      if (seen.relists === WARM_UP) startedAt = process.cpuUsage();
      if (seen.relists === WARM_UP + relists) finished$.next();
    };
    const reader = runtimeReader(client.runtime);
    const event$ = pleg({
      reader,
      cache: createPodCache(),
      cadence$: concat(of({ ...GENERIC_PLEG, periodMs: 5 }), NEVER),
      observe,
    });
    const counted$ = event$.pipe(tap(() => (seen.events += 1)));
    await lastValueFrom(counted$.pipe(takeUntil(finished$)), { defaultValue: undefined });
    const perRelist = cpuMs(startedAt) / relists;
    console.log(`${pods} pods, ${2 * pods} items: ${perRelist.toFixed(2)} ms CPU per relist over ${relists} relists`);
    console.log(
      `first relist with ${seen.reads} reads and ${seen.events} events: ${firstReadsCpuMs.toFixed(0)} ms CPU, cold`,
    );
  } finally {
    client.close();
    server.kill();
    rmSync(directory, { recursive: true, force: true });
  }
}

function cpuMs(since: NodeJS.CpuUsage): number {
  const { user, system } = process.cpuUsage(since);
  return (user + system) / 1_000;
}
