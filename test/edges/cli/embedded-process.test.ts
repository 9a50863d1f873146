import { once } from 'node:events';
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { ReplaySubject, filter, firstValueFrom, skip, type Subscription, take, toArray } from 'rxjs';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { embeddedRuntime, type EmbeddedRuntimeEvent } from '../../../src/cli/runtime/embedded-process.js';
import { isProcess } from '../../../src/processes/send-signal.js';
import { isAlive, processId } from '../../../src/runtime/embedded/confinement/process-tree.js';
import { eventually } from '../../embedded/eventually.js';
import { killProcess } from '../../support/kill-process.js';
import { endRuntime } from '../embedded/end-runtime.js';

// Stands in for a runtime: says its pid, takes the place of one that is gone, and then serves the socket.
const SERVER = `
  const { existsSync, readFileSync, renameSync, rmSync, writeFileSync } = require('node:fs');
  const socket = process.argv[3];
  const file = socket + '.pids';
  const earlier = existsSync(file) ? readFileSync(file, 'utf8') : '';
  writeFileSync(file + '.new', earlier + process.pid + '\\n');
  renameSync(file + '.new', file);
  rmSync(socket, { force: true });
  require('node:net').createServer(() => {}).listen(socket);
`;

const BUILD = '1.0.0+abc';

let folder = '';
let subscription: Subscription | undefined;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'embedded-'));
  writeFileSync(join(folder, 'server.cjs'), SERVER);
});
afterEach(async () => {
  subscription?.unsubscribe();
  await endRuntime(join(folder, 'state'));
  rmSync(folder, { recursive: true, force: true });
});

const socketPath = () => join(folder, 'r.sock');
/** The runtimes that were started, in order. */
const pids = (): number[] =>
  existsSync(`${socketPath()}.pids`)
    ? (readFileSync(`${socketPath()}.pids`, 'utf8').match(/^\d+$/gm) ?? []).map(Number)
    : [];
const pidsOf = (count: number): Promise<number[]> =>
  eventually(`${count} runtimes were started`, () => (pids().length >= count ? pids() : undefined));

const supervise = (script = join(folder, 'server.cjs')) => {
  const event$ = new ReplaySubject<EmbeddedRuntimeEvent>(100);
  const running = embeddedRuntime({
    socketPath: socketPath(),
    stateDirectory: join(folder, 'state'),
    logFile: join(folder, 'runtime.log'),
    command: [process.execPath, script],
    build: BUILD,
  }).subscribe(event$);
  subscription = running;
  return { event$, running, ready$: event$.pipe(filter(({ kind }) => kind === 'ready')) };
};

it('starts a runtime, starts another when that one dies, and says so', async () => {
  const { event$, ready$ } = supervise();
  await firstValueFrom(ready$);
  const [first] = await pidsOf(1);
  killProcess(first);
  await firstValueFrom(ready$.pipe(skip(1)));

  expect(await pidsOf(2)).toHaveLength(2);
  const [, lost] = await firstValueFrom(event$.pipe(take(2), toArray()));
  expect(lost).toMatchObject({ kind: 'failed', retryInMs: 100 });
});

it('leaves the runtime alone when it is unsubscribed, and finds it again', async () => {
  const { ready$, running } = supervise();
  await firstValueFrom(ready$);
  running.unsubscribe();
  const [pid] = await pidsOf(1);
  expect(isProcess(pid!)).toBe(true);

  expect(await firstValueFrom(supervise().ready$)).toEqual({ kind: 'ready' });
  expect(pids()).toEqual([pid]);
});

it('says the number of a runtime that it finds, by the lock of its state, and none of one that has ended', async () => {
  const { ready$, running } = supervise();
  await firstValueFrom(ready$);
  running.unsubscribe();
  const [pid] = await pidsOf(1);
  const lock = join(folder, 'state', 'runtime.lock');
  mkdirSync(dirname(lock));
  writeFileSync(lock, JSON.stringify({ ...processId(pid!), build: BUILD }));
  const again = supervise();
  expect(await firstValueFrom(again.ready$)).toEqual({ kind: 'ready', pid });
  again.running.unsubscribe();

  writeFileSync(lock, JSON.stringify({ ...processId(pid!), startTime: '1' }));
  expect(await firstValueFrom(supervise().ready$)).toEqual({ kind: 'ready' });
});

it.for([{ build: '0.9.0+def' }, {}])('replaces a runtime of another build at its start, $build', async (named) => {
  const { ready$, running } = supervise();
  await firstValueFrom(ready$);
  running.unsubscribe();
  const [pid] = await pidsOf(1);
  const lock = join(folder, 'state', 'runtime.lock');
  mkdirSync(dirname(lock));
  const earlier = processId(pid!)!;
  writeFileSync(lock, JSON.stringify({ ...earlier, ...named }));
  const [replaced, ready] = await firstValueFrom(supervise().event$.pipe(take(2), toArray()));
  expect(replaced).toEqual({ kind: 'replaced', pid, ...named });
  // On a busy machine the threads of an ended process may go a while after it, and its number with the last of them.
  expect(isAlive(earlier)).toBe(false);
  const [, next] = await pidsOf(2);
  expect(ready).toEqual({ kind: 'ready', pid: next });
});

it('starts the next runtime only once nothing listens in the name of the one of another build that it has ended', async () => {
  const { ready$, running } = supervise();
  await firstValueFrom(ready$);
  running.unsubscribe();
  const [pid] = await pidsOf(1);
  const lock = join(folder, 'state', 'runtime.lock');
  mkdirSync(dirname(lock));
  writeFileSync(lock, JSON.stringify({ ...processId(pid!)!, build: '0.9.0+def' }));
  // Stands in for the files of an ended process that the kernel has not closed yet: three connections are accepted.
  rmSync(socketPath());
  let connections = 0;
  const late = createServer((socket) => {
    socket.destroy();
    connections += 1;
    if (connections === 3) late.close();
  }).listen(socketPath());
  await once(late, 'listening');
  const [, ready] = await firstValueFrom(supervise().event$.pipe(take(2), toArray()));
  const [, next] = await pidsOf(2);
  expect(ready).toEqual({ kind: 'ready', pid: next });
  expect(connections).toBe(3);
});

it('takes the place of a socket that a dead runtime left behind', async () => {
  const first = supervise();
  await firstValueFrom(first.ready$);
  first.running.unsubscribe();
  const [dead] = await pidsOf(1);
  killProcess(dead);
  await eventually('the first runtime has ended', () => !isProcess(dead!));
  await firstValueFrom(supervise().ready$);
  expect(existsSync(socketPath())).toBe(true);
  const [, next] = await pidsOf(2);
  expect(isProcess(next!)).toBe(true);
});

it('says why a runtime does not start, by its own last line', async () => {
  const script = join(folder, 'broken.cjs');
  writeFileSync(script, 'console.error("cannot: no room"); process.exit(3);');
  const { event$ } = supervise(script);
  expect(await firstValueFrom(event$.pipe(take(2), toArray()))).toEqual([
    { kind: 'failed', problem: 'the runtime ended with exit code 3: cannot: no room', retryInMs: 100 },
    { kind: 'failed', problem: 'the runtime ended with exit code 3: cannot: no room', retryInMs: 200 },
  ]);
});
