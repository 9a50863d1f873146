import { delay, EMPTY, Observable, of, Subject, Subscription } from 'rxjs';
import { describe, expect, it } from 'vitest';
import type { ContainerEventResponse } from '../../../src/generated/runtime/v1/api.js';
import type { KubeletPorts } from '../../../src/kubelet-options.js';
import { CriError } from '../../../src/model/cri/cri-error.js';
import type { Fault } from '../../../src/tools/sim/faults/fault.js';
import { withFaults } from '../../../src/tools/sim/faults/with-faults.js';
import { seededRandom } from '../../../src/tools/sim/world/seeded-random.js';
import type { ProbeTarget } from '../../../src/streams/ports/probe-handlers.js';
import { memoryProbeRecords } from '../../support/memory-probe-records.js';
import { noFiles, noPodFiles, noVolumeFiles } from '../../support/sync-context.js';
import { VirtualScheduler } from '../../../src/tools/sim/world/virtual-scheduler.js';

const ALWAYS = { fromMs: 0, untilMs: 1_000_000, rate: 1 };

interface Heard {
  /** What came, each with its time in milliseconds. */
  readonly lines: string[];
  /** What was done at the far side. */
  readonly done: string[];
}

/** A world in which every call takes 10 ms and is done at the end of them, behind faults. */
const stageOf = (...faults: readonly Fault[]) => {
  const scheduler = new VirtualScheduler({ startMs: 0 });
  const heard: Heard = { lines: [], done: [] };
  const event$ = new Subject<ContainerEventResponse>();
  const at = (what: string) => `${scheduler.now()} ${what}`;
  const call = (name: string) => () =>
    new Observable((subscriber) => {
      const done = scheduler.schedule(() => {
        heard.done.push(at(name));
        subscriber.next({});
        subscriber.complete();
      }, 10);
      return done;
    });
  const world = {
    runtime: {
      startContainer: call('StartContainer'),
      stopContainer: call('StopContainer'),
      containerStatus: call('ContainerStatus'),
      containerEvents: () => event$,
    },
    images: { pullImage: call('PullImage') },
    files: { ...noFiles, listDirectory: () => of(['a']), makeDirectory: () => EMPTY },
    podFiles: noPodFiles,
    volumeFiles: noVolumeFiles,
    logFiles: { utcOffsetMinutes: () => 60 },
    pullRecords: { hashOf: () => 'hash' },
    probeRecords: memoryProbeRecords(),
    probeHandlers: { probe: () => of({ result: 'success', output: '' } as const).pipe(delay(10, scheduler)) },
    httpRequest: () => of({ status: 200, body: '' }).pipe(delay(10, scheduler)),
    scheduler,
  } as unknown as KubeletPorts;
  const detached = new Subscription();
  const ports = withFaults(faults, seededRandom(1))(world, { scheduler, startMs: 0, detached });
  const hear = (what: string) => ({
    next: () => heard.lines.push(at(`${what} answers`)),
    error: (error: unknown) =>
      heard.lines.push(at(`${what} ${error instanceof CriError ? error.code : String(error)}`)),
    complete: () => undefined,
  });
  return { ports, scheduler, heard, hear, event$, detached };
};

const start = (stage: ReturnType<typeof stageOf>): Subscription =>
  stage.ports.runtime.startContainer({ containerId: 'c' }).subscribe(stage.hear('start'));

describe('a call of the runtime', () => {
  it.each<[string, Fault, string[], string[]]>([
    [
      'that no fault is about',
      { kind: 'refused', code: 'unknown', calls: ['StopContainer'], ...ALWAYS },
      ['10 start answers'],
      ['10 StartContainer'],
    ],
    [
      'after the fault',
      { kind: 'refused', code: 'unknown', fromMs: 0, untilMs: 0, rate: 1 },
      ['10 start answers'],
      ['10 StartContainer'],
    ],
    [
      'that never meets it',
      { kind: 'refused', code: 'unknown', ...ALWAYS, rate: 0 },
      ['10 start answers'],
      ['10 StartContainer'],
    ],
    [
      'whose request is late is done late',
      { kind: 'late-request', minMs: 30, maxMs: 30, ...ALWAYS },
      ['40 start answers'],
      ['40 StartContainer'],
    ],
    [
      'whose reply is late is done in time',
      { kind: 'late-reply', minMs: 30, maxMs: 30, ...ALWAYS },
      ['40 start answers'],
      ['10 StartContainer'],
    ],
    ['that is refused is not done', { kind: 'refused', code: 'unavailable', ...ALWAYS }, ['0 start unavailable'], []],
    [
      'whose reply is lost is done all the same',
      { kind: 'reply-lost', code: 'unknown', ...ALWAYS },
      ['10 start unknown'],
      ['10 StartContainer'],
    ],
    [
      'that hangs ends by its deadline',
      { kind: 'hangs', isDone: false, ...ALWAYS },
      ['120000 start deadline-exceeded'],
      [],
    ],
    [
      'that hangs may be done',
      { kind: 'hangs', isDone: true, ...ALWAYS },
      ['120000 start deadline-exceeded'],
      ['10 StartContainer'],
    ],
    [
      'that is late beyond its deadline fails',
      { kind: 'late-reply', minMs: 200_000, maxMs: 200_000, ...ALWAYS },
      ['120000 start deadline-exceeded'],
      ['10 StartContainer'],
    ],
  ])('%s', (_, fault, lines, done) => {
    const stage = stageOf(fault);
    start(stage);
    stage.scheduler.runUntil(500_000);
    expect(stage.heard).toEqual({ lines, done });
  });

  it('has the deadline of its kind', () => {
    const stage = stageOf({ kind: 'hangs', isDone: false, ...ALWAYS });
    stage.ports.runtime.stopContainer({ containerId: 'c', timeout: 30n }).subscribe(stage.hear('stop'));
    stage.ports.images.pullImage({}).subscribe(stage.hear('pull'));
    stage.scheduler.runUntil(500_000);
    expect(stage.heard.lines).toEqual(['150000 stop deadline-exceeded', '300000 pull unavailable']);
  });

  it('that was given up before it was sent is never done', () => {
    const stage = stageOf({ kind: 'late-request', minMs: 50, maxMs: 50, ...ALWAYS });
    const subscription = start(stage);
    stage.scheduler.schedule(() => subscription.unsubscribe(), 20);
    stage.scheduler.runUntil(1000);
    expect(stage.heard).toEqual({ lines: [], done: [] });
    expect(stage.scheduler.pending).toBe(0);
  });

  it('draws again for each of its calls, but the same in every world of a seed', () => {
    const draws = () => {
      const stage = stageOf({ kind: 'refused', code: 'unknown', ...ALWAYS, rate: 0.5 });
      for (let count = 0; count < 20; count++) start(stage);
      stage.scheduler.runUntil(1000);
      return stage.heard.lines;
    };
    expect(new Set(draws())).toEqual(new Set(['0 start unknown', '10 start answers']));
    expect(draws()).toEqual(draws());
  });

  it('that is given up goes on without a subscriber', () => {
    const stage = stageOf({ kind: 'cancel-unheard', ...ALWAYS });
    let isGivenUp = false;
    const startContainer = stage.ports.runtime.startContainer({}).subscribe(stage.hear('start'));
    startContainer.add(() => (isGivenUp = true));
    startContainer.unsubscribe();
    expect(isGivenUp).toBe(true);
    stage.scheduler.runUntil(1000);
    expect(stage.heard).toEqual({ lines: [], done: ['10 StartContainer'] });
  });
});

describe('events of the runtime', () => {
  const listen = (...faults: readonly Fault[]) => {
    const stage = stageOf(...faults);
    stage.ports.runtime.containerEvents().subscribe(stage.hear('event'));
    for (const at of [10, 20, 30]) {
      stage.scheduler.schedule(() => stage.event$.next({} as ContainerEventResponse), at);
    }
    stage.scheduler.runUntil(100_000);
    return stage;
  };

  it.each<[string, Fault, string[]]>([
    ['are lost', { kind: 'event-lost', ...ALWAYS, fromMs: 15, untilMs: 25 }, ['10 event answers', '30 event answers']],
    [
      'come twice',
      { kind: 'event-doubled', ...ALWAYS, fromMs: 25 },
      ['10 event answers', '20 event answers', '30 event answers', '30 event answers'],
    ],
    [
      'end with the stream',
      { kind: 'events-break', atMs: 25 },
      ['10 event answers', '20 event answers', '25 event unavailable'],
    ],
    [
      'are not ended by a break that is over',
      { kind: 'events-break', atMs: 0 },
      ['10 event answers', '20 event answers', '30 event answers'],
    ],
  ])('%s', (_, fault, lines) => {
    expect(listen(fault).heard.lines).toEqual(lines);
  });

  it('are late, each by as much as it draws, so that they overtake each other', () => {
    const { heard } = listen({ kind: 'event-late', maxMs: 1000, ...ALWAYS });
    expect(heard.lines.length).toBe(3);
    for (const line of heard.lines) expect(Number.parseInt(line, 10)).toBeGreaterThan(10);
  });

  it('leave no timer of a break behind with a subscriber that has left', () => {
    const stage = stageOf({ kind: 'events-break', atMs: 500 });
    stage.ports.runtime.containerEvents().subscribe(stage.hear('event')).unsubscribe();
    expect(stage.scheduler.pending).toBe(0);
  });
});

describe('the disk', () => {
  const outcome = (source: { subscribe: (observer: object) => unknown }): string => {
    let said = '';
    source.subscribe({
      next: (value: unknown) => (said += JSON.stringify(value)),
      error: (error: NodeJS.ErrnoException) => (said += `${error.code}: ${error.message}`),
      complete: () => (said += '|'),
    });
    return said;
  };

  it.each<['EIO' | 'ENOSPC' | 'EROFS', string]>([
    ['EIO', "EIO: EIO: i/o error, listDirectory '/d'"],
    ['ENOSPC', '["a"]|'],
    ['EROFS', '["a"]|'],
  ])('that fails with %s is read as %s', (code, said) => {
    const { ports } = stageOf({ kind: 'disk-fails', code, ...ALWAYS });
    expect(outcome(ports.files.listDirectory('/d'))).toBe(said);
    expect(outcome(ports.files.makeDirectory('/d', 0o755))).toMatch(new RegExp(`^${code}: .*makeDirectory '/d'`));
    expect(outcome(ports.probeRecords!.write([]))).toMatch(new RegExp(`^${code}: `));
  });

  it('answers what asks no disk', () => {
    const { ports } = stageOf({ kind: 'disk-fails', code: 'EIO', ...ALWAYS });
    expect(ports.logFiles.utcOffsetMinutes(0)).toBe(60);
    expect(ports.pullRecords.hashOf({ username: 'u', password: 'p' })).toBe('hash');
  });
});

describe('a probe', () => {
  const ask = (kind: ProbeTarget['kind'], ...faults: readonly Fault[]): readonly string[] => {
    const stage = stageOf(...faults);
    const target = { kind, timeoutSeconds: 2, probe: { exec: { command: ['x'] } } } as unknown as ProbeTarget;
    stage.ports.probeHandlers!.probe(target).subscribe({
      next: ({ result }) => stage.heard.lines.push(`${stage.scheduler.now()} ${result}`),
      error: (error: unknown) => stage.heard.lines.push(`${stage.scheduler.now()} ${String(error)}`),
    });
    stage.scheduler.runUntil(500_000);
    return stage.heard.lines;
  };

  it.each<[string, ProbeTarget['kind'], Fault, string]>([
    [
      'over a slow network is slow',
      'httpGet',
      { kind: 'network-slow', minMs: 500, maxMs: 500, ...ALWAYS },
      '510 success',
    ],
    [
      'over a network that is too slow fails in its time',
      'grpc',
      { kind: 'network-slow', minMs: 5000, maxMs: 5000, ...ALWAYS },
      '2000 failure',
    ],
    ['into the void fails in its time', 'tcpSocket', { kind: 'network-silent', ...ALWAYS }, '2000 failure'],
    ['by a command goes over no network', 'exec', { kind: 'network-silent', ...ALWAYS }, '10 success'],
    [
      'by a command finds out nothing when the runtime refuses it',
      'exec',
      { kind: 'refused', code: 'unavailable', ...ALWAYS },
      '0 ProbeErrored: unavailable, as the history has it',
    ],
    [
      'by a command that hangs fails by its deadline',
      'exec',
      { kind: 'hangs', isDone: false, ...ALWAYS },
      '122000 failure',
    ],
    ['over the network needs no runtime', 'httpGet', { kind: 'refused', code: 'unavailable', ...ALWAYS }, '10 success'],
  ])('%s', (_, kind, fault, line) => {
    expect(ask(kind, fault)).toEqual([line]);
  });
});

it('a hook over a silent network is given up when no connection comes about', () => {
  const stage = stageOf({ kind: 'network-silent', ...ALWAYS });
  const request = { scheme: 'http', host: '10.0.0.1', port: 80, target: '/', headers: [] } as const;
  stage.ports.httpRequest(request, { maxBodyBytes: 1 }).subscribe(stage.hear('hook'));
  stage.scheduler.runUntil(100_000);
  expect(stage.heard.lines).toEqual(['30000 hook HttpFailure: Get "http://10.0.0.1:80/": dial tcp: i/o timeout']);
});
