import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { catchError, concat, lastValueFrom, map, type Observable, of, toArray } from 'rxjs';
import { describe, expect, it } from 'vitest';
import { logFiles } from '../../src/host/logs/log-files.js';
import { nodeFiles } from '../../src/host/files/node-files.js';
import { podFiles } from '../../src/host/files/pod-files.js';
import type { ProbeRecord } from '../../src/model/probes/probe-record.js';
import { seededRandom } from '../../src/tools/sim/world/seeded-random.js';
import { type DiskPorts, simulatedDisk } from '../../src/tools/sim/disk/simulated-disk.js';
import { VirtualScheduler } from '../../src/tools/sim/world/virtual-scheduler.js';

type FilePorts = Pick<DiskPorts, 'files' | 'podFiles' | 'logFiles'>;

const stage = (latencyMs = { min: 1, max: 1 }) => {
  const scheduler = new VirtualScheduler({ startMs: 0 });
  const disk = simulatedDisk({ scheduler, random: seededRandom(1), latencyMs, capacityBytes: 1000n });
  const life = scheduler.share();
  return { scheduler, disk, life, ports: disk.ports(life) };
};

/** What a call comes to, once time has passed. */
const outcome = (scheduler: VirtualScheduler, call$: Observable<unknown>): unknown => {
  let result: unknown = 'nothing';
  call$
    .pipe(toArray())
    .subscribe({ next: (values) => (result = values), error: (error: unknown) => (result = codeOf(error)) });
  scheduler.runUntil(scheduler.now() + 10);
  return result;
};

const codeOf = (error: unknown): string => (error as NodeJS.ErrnoException).code ?? String(error);

/** How large a directory is depends on the file system. */
const fileSize = (bytes: bigint | undefined) => (bytes !== undefined && bytes > 5n ? 'a directory' : bytes);

const NAMES = ['a', 'b', '0.log', '0.log.1', '0.log.1.gz', '1.log'];
const aPath = fc.array(fc.constantFrom(...NAMES), { minLength: 1, maxLength: 3 }).map((names) => names.join('/'));
type Op = (ports: FilePorts, root: string) => Observable<unknown>;
const named = (name: string, ...ops: readonly Op[]): Op => Object.assign(ops[0]!, { toString: () => name });
const anOp: fc.Arbitrary<Op> = fc.oneof(
  aPath.map((path) => named(`mkdir ${path}`, ({ files }, root) => files.makeDirectory(`${root}/${path}`, 0o755))),
  aPath.map((path) => named(`list ${path}`, ({ files }, root) => files.listDirectory(`${root}/${path}`))),
  aPath.map((path) => named(`remove ${path}`, ({ files }, root) => files.remove(`${root}/${path}`))),
  aPath.map((path) => named(`removeLog ${path}`, ({ files }, root) => files.removeLog(`${root}/${path}`))),
  fc
    .tuple(aPath, aPath)
    .map(([target, path]) =>
      named(`link ${target} ${path}`, ({ files }, root) => files.link(`${root}/${target}`, `${root}/${path}`)),
    ),
  aPath.map((path) => named(`dangling ${path}`, ({ files }, root) => files.danglingLinks(`${root}/${path}`))),
  fc
    .tuple(aPath, fc.constantFrom('', 'x', 'hello'))
    .map(([path, text]) =>
      named(`write ${path} ${text}`, (ports, root) => ports.podFiles.write(`${root}/${path}`, text, 0o644)),
    ),
  aPath.map((path) => named(`read ${path}`, (ports, root) => ports.podFiles.read(`${root}/${path}`))),
  aPath.map((path) =>
    named(`size ${path}`, (ports, root) => ports.logFiles.size(`${root}/${path}`).pipe(map(fileSize))),
  ),
  aPath.map((path) => named(`rotated ${path}`, (ports, root) => ports.logFiles.rotated(`${root}/${path}`))),
  fc
    .tuple(aPath, aPath)
    .map(([from, to]) =>
      named(`rename ${from} ${to}`, (ports, root) => ports.logFiles.rename(`${root}/${from}`, `${root}/${to}`)),
    ),
  aPath.map((path) => named(`removeFile ${path}`, (ports, root) => ports.logFiles.remove(`${root}/${path}`))),
);

describe('simulatedDisk', () => {
  it('does with files what the file system of this machine does', { timeout: 300_000 }, async () => {
    const real: FilePorts = { files: nodeFiles, podFiles, logFiles };
    const onMachine = async (root: string, op: Op): Promise<unknown> => {
      const result = await lastValueFrom(op(real, root).pipe(toArray())).catch(codeOf);
      return JSON.parse(text(result).replaceAll(root, '/root')) as unknown;
    };
    await fc.assert(
      fc.asyncProperty(fc.array(anOp, { minLength: 1, maxLength: 12 }), async (ops) => {
        const root = await mkdtemp(join(tmpdir(), 'disk-'));
        const { scheduler, ports } = stage();
        outcome(scheduler, ports.files.makeDirectory('/root', 0o755));
        try {
          for (const op of ops) {
            const simulated = JSON.parse(text(outcome(scheduler, op(ports, '/root')))) as unknown;
            expect({ op: String(op), simulated }).toEqual({ op: String(op), simulated: await onMachine(root, op) });
          }
        } finally {
          await rm(root, { recursive: true });
        }
      }),
      { numRuns: 300 },
    );
  });

  it.each([
    ['before', '0.log', '0.log.1'],
    ['after', '0.log.1', '0.log'],
  ])('removes all files of a log %s a directory that it cannot remove', async (_, directory, file) => {
    const root = await mkdtemp(join(tmpdir(), 'disk-'));
    const { scheduler, ports } = stage();
    outcome(scheduler, ports.files.makeDirectory('/root', 0o755));
    const removeOn = ({ files, podFiles: { write } }: FilePorts, at: string) =>
      concat(
        files.makeDirectory(`${at}/${directory}`, 0o755),
        write(`${at}/${file}`, 'x', 0o644),
        files.removeLog(`${at}/0.log`).pipe(catchError((error: unknown) => of(codeOf(error)))),
        files.listDirectory(at),
      );
    try {
      const simulated = outcome(scheduler, removeOn(ports, '/root'));
      const onMachine = await lastValueFrom(removeOn({ files: nodeFiles, podFiles, logFiles }, root).pipe(toArray()));
      expect({ simulated, onMachine }).toEqual({
        simulated: ['ERR_FS_EISDIR', [directory]],
        onMachine: ['ERR_FS_EISDIR', [directory]],
      });
    } finally {
      await rm(root, { recursive: true });
    }
  });

  it('takes a moment for each call, and goes on when its caller has gone, but not when the agent has died', () => {
    const { scheduler, disk, life, ports } = stage({ min: 5, max: 5 });
    let isDone = false;
    ports.files.makeDirectory('/done', 0o755).subscribe({ complete: () => (isDone = true) });
    ports.files.makeDirectory('/left', 0o755).subscribe().unsubscribe();
    scheduler.runUntil(4);
    expect([isDone, disk.paths().includes('/done')]).toEqual([false, false]);
    scheduler.runUntil(5);
    expect([isDone, disk.paths().includes('/done'), disk.paths().includes('/left')]).toEqual([true, true, true]);
    ports.files.makeDirectory('/never', 0o755).subscribe();
    scheduler.runUntil(9);
    life.close();
    scheduler.runUntil(100);
    expect(disk.paths()).not.toContain('/never');
  });

  it('keeps what an agent wrote for the next one', () => {
    const { scheduler, disk, life, ports } = stage();
    const record: ProbeRecord = {
      ...{ type: 'readiness', uid: 'u', container: 'main', containerId: 'c1', result: 'success' },
    };
    const pulled = { lastUpdatedTime: '2026-01-01T00:00:00Z', imageRef: 'sha256:1' };
    outcome(scheduler, ports.podFiles.write('/words', 'hello', 0o644));
    outcome(scheduler, ports.probeRecords.write([record]));
    outcome(scheduler, ports.pullRecords.writePulled(pulled));
    outcome(scheduler, ports.pullRecords.writeIntent('nginx'));
    outcome(scheduler, ports.pullRecords.writeIntent('redis'));
    outcome(scheduler, ports.pullRecords.removeIntent('nginx'));
    life.close();
    const next = disk.ports(scheduler.share());
    expect(outcome(scheduler, next.podFiles.read('/words'))).toEqual(['hello']);
    expect(outcome(scheduler, next.probeRecords.read())).toEqual([[record]]);
    expect(outcome(scheduler, next.pullRecords.pulled('sha256:1'))).toEqual([pulled]);
    expect(outcome(scheduler, next.pullRecords.pulled('sha256:2'))).toEqual([undefined]);
    expect(outcome(scheduler, next.pullRecords.everyPulled())).toEqual([[pulled]]);
    expect(outcome(scheduler, next.pullRecords.intents())).toEqual([['redis']]);
    outcome(scheduler, next.pullRecords.removePulled('sha256:1'));
    expect(outcome(scheduler, next.pullRecords.everyPulled())).toEqual([[]]);
  });

  it('reads the end of a file', () => {
    const { scheduler, ports } = stage();
    outcome(scheduler, ports.podFiles.write('/words', 'hello', 0o644));
    const tail = (path: string, bytes: number) =>
      (outcome(scheduler, ports.podFiles.readTail(path, bytes)) as readonly (Uint8Array | undefined)[]).map((one) =>
        one ? new TextDecoder().decode(one) : one,
      );
    expect([tail('/words', 3), tail('/words', 99), tail('/none', 3)]).toEqual([['llo'], ['hello'], [undefined]]);
  });

  describe('logs', () => {
    const size = ({ scheduler, ports }: ReturnType<typeof stage>, path: string) => {
      const [bytes] = outcome(scheduler, ports.logFiles.size(path)) as readonly (bigint | undefined)[];
      return bytes === undefined ? undefined : Number(bytes);
    };

    it('grow while a container writes them', () => {
      const at = stage({ min: 0, max: 0 });
      at.disk.writeLog('/logs/0.log', 100);
      at.scheduler.runUntil(2000);
      expect(size(at, '/logs/0.log')).toBe(200);
      at.disk.endLog('/logs/0.log');
      at.scheduler.runUntil(9000);
      expect(size(at, '/logs/0.log')).toBe(201);
    });

    it('go on growing under another name until they are opened again', () => {
      const at = stage({ min: 0, max: 0 });
      at.disk.writeLog('/logs/0.log', 100);
      at.scheduler.runUntil(1000);
      outcome(at.scheduler, at.ports.logFiles.rename('/logs/0.log', '/logs/0.log.1'));
      at.scheduler.runUntil(2000);
      expect(size(at, '/logs/0.log')).toBe(undefined);
      at.disk.writeLog('/logs/0.log', 100);
      at.scheduler.runUntil(4010);
      expect([size(at, '/logs/0.log'), size(at, '/logs/0.log.1')]).toEqual([200, 201]);
    });

    it('become smaller when they are compressed', () => {
      const at = stage({ min: 0, max: 0 });
      at.disk.writeLog('/logs/0.log', 100);
      at.scheduler.runUntil(10_000);
      at.disk.endLog('/logs/0.log');
      outcome(at.scheduler, at.ports.logFiles.compress('/logs/0.log'));
      expect([size(at, '/logs/0.log'), size(at, '/logs/0.log.gz')]).toEqual([undefined, 100]);
      expect(outcome(at.scheduler, at.ports.logFiles.compress('/logs/0.log'))).toBe('ENOENT');
    });

    it('take room on the disk', () => {
      const at = stage({ min: 0, max: 0 });
      at.disk.writeLog('/logs/0.log', 100);
      const free = () => outcome(at.scheduler, at.ports.diskSpace('/logs'));
      at.scheduler.runUntil(5000);
      expect(free()).toEqual([{ capacityBytes: 1000n, availableBytes: 480n }]);
      at.scheduler.runUntil(50_000);
      expect(free()).toEqual([{ capacityBytes: 1000n, availableBytes: 0n }]);
    });
  });
});

const text = (value: unknown): string =>
  JSON.stringify(value, (_, one: unknown) =>
    typeof one === 'bigint' ? Number(one) : Array.isArray(one) ? [...(one as unknown[])].sort() : one,
  );
