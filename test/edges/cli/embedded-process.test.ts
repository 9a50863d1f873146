import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ReplaySubject, filter, firstValueFrom, skip, type Subscription, take, toArray } from 'rxjs';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { embeddedRuntime, type EmbeddedRuntimeEvent } from '../../../src/cli/embedded-process.js';

// Stands in for a runtime: takes the place of one that is gone, serves the socket and says its pid.
const SERVER = `
  require('node:fs').rmSync(process.argv[3], { force: true });
  require('node:net').createServer(() => {}).listen(process.argv[3]);
  require('node:fs').appendFileSync(process.argv[3] + '.pids', process.pid + '\\n');
`;

let folder = '';
let subscription: Subscription | undefined;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'embedded-'));
  writeFileSync(join(folder, 'server.cjs'), SERVER);
});
afterEach(() => {
  subscription?.unsubscribe();
  for (const pid of pids().filter(isAlive)) process.kill(pid, 'SIGKILL');
  rmSync(folder, { recursive: true, force: true });
});

const socketPath = () => join(folder, 'r.sock');
const pids = (): number[] =>
  existsSync(`${socketPath()}.pids`)
    ? readFileSync(`${socketPath()}.pids`, 'utf8').trimEnd().split('\n').map(Number)
    : [];
const isAlive = (pid: number): boolean => {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
};

const supervise = (script = join(folder, 'server.cjs')) => {
  const event$ = new ReplaySubject<EmbeddedRuntimeEvent>(100);
  const running = embeddedRuntime({
    socketPath: socketPath(),
    stateDirectory: join(folder, 'state'),
    logFile: join(folder, 'runtime.log'),
    command: [process.execPath, script],
  }).subscribe(event$);
  subscription = running;
  return { event$, running, ready$: event$.pipe(filter(({ kind }) => kind === 'ready')) };
};

it('starts a runtime, starts another when that one dies, and says so', async () => {
  const { event$, ready$ } = supervise();
  await firstValueFrom(ready$);
  const [first] = pids();
  expect(first).toBeDefined();
  process.kill(first ?? 0, 'SIGKILL');
  await firstValueFrom(ready$.pipe(skip(1)));

  expect(pids()).toHaveLength(2);
  const [, lost] = await firstValueFrom(event$.pipe(take(2), toArray()));
  expect(lost).toMatchObject({ kind: 'failed', retryInMs: 100 });
});

it('leaves the runtime alone when it is unsubscribed, and finds it again', async () => {
  const { ready$, running } = supervise();
  await firstValueFrom(ready$);
  running.unsubscribe();
  const [pid] = pids();
  expect(isAlive(pid ?? 0)).toBe(true);

  expect(await firstValueFrom(supervise().ready$)).toEqual({ kind: 'ready' });
  expect(pids()).toEqual([pid]);
});

it('takes the place of a socket that a dead runtime left behind', async () => {
  const first = supervise();
  await firstValueFrom(first.ready$);
  first.running.unsubscribe();
  process.kill(pids()[0] ?? 0, 'SIGKILL');
  await firstValueFrom(supervise().ready$);
  expect(existsSync(socketPath())).toBe(true);
  expect(isAlive(pids().at(-1) ?? 0)).toBe(true);
});

it('says why a runtime does not start, in its own last words', async () => {
  const script = join(folder, 'broken.cjs');
  writeFileSync(script, 'console.error("cannot: no room"); process.exit(3);');
  const { event$ } = supervise(script);
  expect(await firstValueFrom(event$.pipe(take(2), toArray()))).toEqual([
    { kind: 'failed', problem: 'the runtime ended with exit code 3: cannot: no room', retryInMs: 100 },
    { kind: 'failed', problem: 'the runtime ended with exit code 3: cannot: no room', retryInMs: 200 },
  ]);
});
