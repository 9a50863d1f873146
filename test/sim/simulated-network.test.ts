import type { Observable } from 'rxjs';
import { describe, expect, it } from 'vitest';
import { httpGetRequest } from '../../src/model/config/http-get.js';
import type { Container, Probe } from '../../src/model/pod/pod.js';
import type { ProbeType } from '../../src/model/probes/probe-type.js';
import type { InstanceBehaviour } from '../../src/tools/sim/world/behaviour.js';
import { seededRandom } from '../../src/tools/sim/world/seeded-random.js';
import { simulatedNetwork } from '../../src/tools/sim/network/simulated-network.js';
import { simulatedProbes } from '../../src/tools/sim/network/simulated-probes.js';
import type { WorldEvent } from '../../src/tools/sim/world/world-event.js';
import type { ProbeOutcome } from '../../src/model/probes/probe-outcome.js';
import { aPod } from '../support/a-pod.js';
import { runtimeStage } from './runtime/runtime-stage.js';

const NODE_IP = '192.0.2.1';

/** A container that has just started, and its client. */
const stage = (
  main: InstanceBehaviour,
  { spec, isOnNodeNetwork = false }: { spec?: Partial<Container>; isOnNodeNetwork?: boolean } = {},
) => {
  const asked: WorldEvent[] = [];
  const at = runtimeStage({ containers: { main: [main] } });
  const { scheduler, simulated } = at;
  const network = simulatedNetwork({
    ...{ scheduler, store: simulated.store, nodeIps: [NODE_IP], random: seededRandom(1) },
    latencyMs: { min: 1, max: 1 },
    tell: (event) => asked.push(event),
  });
  const sandboxId = at.sandbox({ isOnNodeNetwork });
  const containerId = at.run(sandboxId, { spec });
  const ip = isOnNodeNetwork ? NODE_IP : simulated.sandboxes()[0]!.ip;
  const probes = simulatedProbes({ runtime: simulated, network, scheduler });
  const startMs = scheduler.now() - 1;

  /** The result of a probe of the container that begins `atMs` after the start, and its duration. */
  const probe = (type: ProbeType, handler: Probe, atMs = 0, timeoutSeconds = 1) => {
    scheduler.runUntil(startMs + atMs);
    const container = { name: 'main', image: 'nginx', ...spec, [`${type}Probe`]: handler };
    const pod = aPod({ spec: { containers: [container] } });
    const kind = (['exec', 'httpGet', 'tcpSocket', 'grpc'] as const).find((one) => handler[one] !== undefined)!;
    return outcome(
      probes.probe({ type, kind, probe: handler, pod, container, containerId, podIp: ip, timeoutSeconds }),
    );
  };
  const outcome = (found$: Observable<ProbeOutcome>): string => {
    const began = scheduler.now();
    const { heard } = at.ask(found$);
    while (heard() === 'nothing yet' && scheduler.now() < began + 60_000 && scheduler.step());
    const end = heard();
    if (end === 'nothing yet') return 'nothing';
    if ('error' in end) return `error ${end.error}`;
    return `${end.at - began} ${end.value.result} ${end.value.output}`.trim();
  };
  return { ...at, network, probe, ip, containerId, sandboxId, asked, outcome };
};

const HTTP: Probe = { httpGet: { port: 80, path: '/healthz' } };
const TCP: Probe = { tcpSocket: { port: 80 } };
const GRPC: Probe = { grpc: { port: 80 } };
const EXEC: Probe = { exec: { command: ['check'] } };

describe('probes in a simulated world', () => {
  it.each([
    ['httpGet', HTTP, '1 success ok'],
    ['tcpSocket', TCP, '1 success'],
    ['grpc', GRPC, '1 success service healthy'],
    ['exec', EXEC, '2 success'],
  ])('succeed by %s when the container is ready', (_, handler, found) => {
    expect(stage({}).probe('readiness', handler)).toBe(found);
  });

  it('find no server before the container is ready', () => {
    const { probe, ip } = stage({ readyAfterMs: 10_000 });
    const refused = `dial tcp ${ip}:80: connect: connection refused`;
    expect(probe('readiness', HTTP)).toBe(`1 failure Get "http://${ip}:80/healthz": ${refused}`);
    expect(probe('readiness', TCP, 100)).toBe(`1 failure ${refused}`);
    expect(probe('readiness', EXEC, 200)).toBe('2 failure not healthy');
    expect(probe('readiness', GRPC, 300, 2)).toBe(
      `1 failure error: health rpc probe failed: rpc error: code = Unavailable desc = connection error: desc = "transport: Error while dialing: ${refused}"`,
    );
    expect(probe('readiness', HTTP, 9_999)).toMatch(/refused/);
    expect(probe('readiness', HTTP, 10_000)).toBe('1 success ok');
  });

  it('fail in the windows in which they should, and only those that should', () => {
    const { probe } = stage({
      probeFailures: [
        { fromMs: 1000, toMs: 2000, kind: 'httpGet' },
        { fromMs: 3000, toMs: 4000, which: 'liveness' },
        { fromMs: 5000, toMs: 6000, path: '/healthz' },
        { fromMs: 7000, toMs: 8000, port: 81 },
        { fromMs: 9000 },
      ],
    });
    const other: Probe = { httpGet: { port: 80, path: '/other?x=1' } };
    const found = [
      probe('readiness', HTTP, 999),
      probe('readiness', HTTP, 1000),
      probe('readiness', TCP, 1500),
      probe('readiness', HTTP, 2000),
      probe('readiness', HTTP, 3000),
      probe('liveness', HTTP, 3100),
      probe('startup', EXEC, 3200),
      probe('liveness', EXEC, 3300),
      probe('readiness', other, 5000),
      probe('readiness', HTTP, 5100),
      probe('readiness', TCP, 7000),
      probe('readiness', { tcpSocket: { port: 81 } }, 7100),
      probe('readiness', EXEC, 9000),
      probe('readiness', HTTP, 99_000),
    ].map((line) => line.split(' ')[1]);
    const [s, f] = ['success', 'failure'];
    expect(found).toEqual([s, f, s, s, s, f, s, f, s, f, s, f, f, f]);
  });

  it.each([
    ['fails', HTTP, '1 failure HTTP probe failed with statuscode: 500'],
    ['fails', GRPC, '1 failure service unhealthy (responded with "NOT_SERVING")'],
    ['fails', EXEC, '2 failure not healthy'],
    ['hangs', HTTP, /^1000 failure .*context deadline exceeded/],
    ['hangs', TCP, /^1000 failure .*i\/o timeout/],
    ['hangs', GRPC, /^1000 failure .*timeout/],
    ['hangs', EXEC, /^1002 failure command timed out/],
    ['refuses', HTTP, /^1 failure .*connection refused/],
    ['refuses', TCP, /^1 failure .*connection refused/],
  ] as const)('see how a container %s (%j)', (how, handler, found) => {
    expect(stage({ probeFailures: [{ how }] }).probe('liveness', handler)).toMatch(found);
  });

  it('are late when the container takes longer than they wait', () => {
    const slow = stage({ answersAfterMs: 1500 });
    expect(slow.probe('readiness', HTTP)).toMatch(/^1000 failure .*deadline exceeded/);
    expect(slow.probe('readiness', HTTP, 5000, 2)).toBe('1501 success ok');
    // The kernel takes a connection, however busy the container is.
    expect(slow.probe('readiness', TCP, 10_000)).toBe('1 success');
    expect(slow.probe('readiness', EXEC, 20_000)).toMatch(/^1002 failure command timed out/);
    expect(slow.probe('readiness', GRPC, 30_000)).toMatch(/^1000 failure timeout/);
  });

  it('find no server where the container has ended, and no way to where the sandbox has', () => {
    const { probe, simulated, answer, containerId, sandboxId } = stage({});
    answer(simulated.runtime.stopContainer({ containerId, timeout: 0n }));
    expect(probe('readiness', HTTP, 0, 5)).toMatch(/^1 failure .*connection refused/);
    expect(probe('readiness', EXEC, 0, 5)).toMatch(
      /error failed to exec in container: container is in CONTAINER_EXITED/,
    );
    answer(simulated.runtime.stopPodSandbox({ podSandboxId: sandboxId }));
    expect(probe('readiness', HTTP, 0, 5)).toMatch(/^3000 failure .*connect: no route to host/);
    expect(probe('readiness', TCP, 0, 1)).toMatch(/^1000 failure .*i\/o timeout/);
  });

  it('find containers on the network of the node by its address', () => {
    expect(stage({}, { isOnNodeNetwork: true }).probe('readiness', HTTP)).toBe('1 success ok');
  });

  it('report to the world which container was asked, which probe it was, and what came of it', () => {
    const { probe, asked, containerId, told } = stage({ probeFailures: [{ which: 'liveness' }] });
    probe('readiness', HTTP);
    probe('liveness', TCP, 100);
    probe('startup', EXEC, 200);
    const all = [...asked, ...told.filter(({ kind }) => kind === 'asked')];
    expect(all).toMatchObject([
      { kind: 'asked', how: 'http', which: 'readiness', ok: true, containerId },
      { kind: 'asked', how: 'tcp', which: 'liveness', ok: false },
      { kind: 'asked', how: 'exec', which: 'startup', ok: true },
    ]);
  });
});

describe('commands in a simulated container', () => {
  it('do what they are set to, whether or not the container is ready', () => {
    const { simulated, answer, scheduler, containerId, told } = stage({
      readyAfterMs: 60_000,
      commands: [{ contains: 'drain --all', takesMs: 3000, exitCode: 4, output: 'drained' }],
    });
    const run = (...cmd: readonly string[]) => {
      const began = scheduler.now();
      const { exitCode, stdout } = answer(simulated.runtime.execSync({ containerId, cmd: [...cmd], timeout: 0n }));
      return [scheduler.now() - began, exitCode, new TextDecoder().decode(stdout)];
    };
    expect(run('sh', '-c', 'drain --all now')).toEqual([3002, 4, 'drained']);
    expect(run('true')).toEqual([2, 0, '']);
    expect(told.filter(({ kind }) => kind === 'asked').map((event) => 'which' in event)).toEqual([false, false]);
  });

  it('die with their container', () => {
    const { simulated, ask, scheduler, containerId } = stage({ commands: [{ contains: 'drain', takesMs: 60_000 }] });
    const drain = ask(simulated.runtime.execSync({ containerId, cmd: ['drain'], timeout: 0n }));
    scheduler.runUntil(scheduler.now() + 100);
    simulated.crash(containerId, 139);
    scheduler.runUntil(scheduler.now() + 10);
    expect(drain.heard()).toMatchObject({ value: { exitCode: 137 } });
  });
});

describe('ports of a simulated pod', () => {
  it('belong to the container that declares them, with any container as target', () => {
    const at = runtimeStage({ containers: { broken: [{ readyAfterMs: 1e9 }], good: [{}] } });
    const sandboxId = at.sandbox();
    const broken = at.run(sandboxId, { name: 'broken', spec: { ports: [{ containerPort: 80 }] } });
    const good = at.run(sandboxId, { name: 'good', spec: { ports: [{ containerPort: 81 }] } });
    const network = simulatedNetwork({ ...at, store: at.simulated.store, nodeIps: [], random: seededRandom(1) });
    const container = { name: 'any', image: 'x' };
    const get = (port: number, containerId: string) => {
      const request = httpGetRequest({ port }, { container, podIp: at.simulated.sandboxes()[0]!.ip, purpose: 'probe' });
      return at.answer(network({ containerId }).httpRequest(request, { timeoutMs: 1000, maxBodyBytes: 1 }));
    };
    expect(get(81, broken)).toEqual({ status: 200, body: 'o' });
    expect(() => get(80, good)).toThrow(/refused/);
    // A port that no container declares may be that of any container.
    expect(get(90, good)).toMatchObject({ status: 200 });
    expect(() => get(90, broken)).toThrow(/refused/);
  });
});
