/**
 * The delays of the agent's event loop, by its own metric: idle, while many pods start, with hostile files in the folder of manifests,
 * with hostile answers of an API server, and while `why` reads 100,000 entries of the journal. Over the embedded runtime; about seven
 * minutes.
 *
 *   npm run bench:hold-ups -- [--pods 110] [--agent bin/rx-kubelet] [--only folder,server] [--match keys]
 *
 * Beside each figure are the delays of an idle process, which are those of the machine, and the highest CPU time of the agent between two ticks
 * of a timer. A busy machine does not change the CPU time, but it includes the other threads of the agent. With `--prompt` both
 * processes have real-time priority where that is allowed; their children do not.
 */
import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdirSync, mkdtempSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { request } from 'node:http';
import { loadavg, tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { text } from 'node:stream/consumers';
import { setTimeout as pause } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { buildSync } from 'esbuild';
import { podsPath } from '../src/model/kube-api/api-paths.js';
import { journalFile } from '../src/journal/journal-files.js';
import { readJournal } from '../src/journal/journal-reader.js';
import { killProcess } from '../test/support/kill-process.js';
import { HOSTILE_MANIFESTS, HOSTILE_SPEECHES, pod } from './hold-ups/hostile-texts.js';
import { apiStub } from './status/api-stub.js';

const { values: options } = parseArgs({
  options: {
    pods: { type: 'string', default: '110' },
    agent: { type: 'string', default: 'bin/rx-kubelet' },
    only: { type: 'string', default: 'pods,folder,why,server' },
    match: { type: 'string', default: '' },
    prompt: { type: 'boolean', default: false },
  },
});
const pods = Number(options.pods);
const scenes = new Set(options.only.split(','));
const isWanted = (what: string): boolean => what.includes(options.match);
const SCENE_MS = 12_000;
const LONG_SCENE_MS = 25_000;
const ENTRIES = 100_000;

/** The command that gives real-time priority to all threads of a process, but not to its children. */
const PRIORITY = ['chrt', '--reset-on-fork', '--rr', '1'];
const mayBePrompt = options.prompt && spawnSync(PRIORITY[0]!, [...PRIORITY.slice(1), 'true']).status === 0;
const promptly = (program: string, args: readonly string[]): readonly [string, string[]] =>
  mayBePrompt ? [PRIORITY[0]!, [...PRIORITY.slice(1), program, ...args]] : [program, [...args]];

const root = mkdtempSync(join(tmpdir(), 'rx-hold-ups-'));
const directory = (name: string): string => {
  mkdirSync(join(root, name));
  return join(root, name);
};

interface Delays {
  /** Milliseconds. */
  readonly p999: number;
  readonly longest: number;
}

const startIdle = () => {
  const script = join(root, 'idle-loop.mjs');
  buildSync({ entryPoints: [join(import.meta.dirname, 'hold-ups/idle-loop.ts')], outfile: script, format: 'esm' });
  const child = spawn(...promptly(process.execPath, [script]), { stdio: ['pipe', 'pipe', 'inherit'] });
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
  const delays = async (): Promise<Delays> => {
    child.stdin.write('\n');
    return JSON.parse((await lines.next()).value as string) as Delays;
  };
  return { delays, end: () => child.kill() };
};

/** Loads the measurement into an agent; `most` returns the highest CPU time since its last call, in milliseconds, or 0 below 10 ms. */
const cpuOfTurns = (state: string) => {
  const [script, file] = [join(root, 'cpu-of-turns.mjs'), join(state, 'cpu-of-turns')];
  buildSync({ entryPoints: [join(import.meta.dirname, 'hold-ups/cpu-of-turns.ts')], outfile: script, format: 'esm' });
  writeFileSync(file, '');
  const most = (): number => {
    const found = readFileSync(file, 'utf8').split('\n').map(Number);
    writeFileSync(file, '');
    return Math.max(...found);
  };
  return { env: { ...process.env, NODE_OPTIONS: `--import=${script}`, CPU_OF_TURNS: file }, most };
};

const startAgent = async (state: string, flags: readonly string[]) => {
  const { env, most } = cpuOfTurns(state);
  const all = ['run', '--root-dir', state, '--healthz-port', '0', '--stop-pods-on-exit', ...flags];
  const child: ChildProcess = spawn(...promptly(options.agent, all), { stdio: 'ignore', env });
  const ended = once(child, 'exit');
  const socketPath = join(state, 'agent', 'agent.sock');
  while (!existsSync(socketPath)) {
    if (child.exitCode !== null) throw new Error('the agent has ended');
    await pause(50);
  }
  const delays = async (): Promise<Delays> => {
    const metrics = await new Promise<string>((resolve, reject) => {
      request({ socketPath, path: '/metrics' }, (response) => resolve(text(response)))
        .on('error', reject)
        .end();
    });
    const at = (percentile: string) =>
      1_000 * Number(new RegExp(`event_loop_delay_seconds\\{percentile="${percentile}"\\} (\\S+)`).exec(metrics)?.[1]);
    return { p999: at('99.9'), longest: at('100') };
  };
  const end = async (): Promise<void> => {
    child.kill('SIGTERM');
    await ended;
    const { pid } = JSON.parse(readFileSync(join(state, 'runtime', 'state', 'runtime.lock'), 'utf8')) as {
      pid: number;
    };
    killProcess(pid, 'SIGTERM');
  };
  return { delays, most, end };
};

const idle = startIdle();

/** Runs scenes against an agent, and prints the delays of its loop. */
const stage =
  (agent: { readonly delays: () => Promise<Delays>; readonly most: () => number }) =>
  async (what: string, act: () => unknown, ms = SCENE_MS) => {
    // Two scrapes drop the earlier delays.
    await agent.delays();
    await agent.delays();
    await idle.delays();
    agent.most();
    await act();
    await pause(ms);
    const most = agent.most();
    const [own, others] = [await agent.delays(), await idle.delays()];
    const figures = ({ p999, longest }: Delays) =>
      `99.9 % ${p999.toFixed(0).padStart(5)} ms, longest ${longest.toFixed(0).padStart(5)} ms`;
    console.log(
      `${what.padEnd(42)} CPU ${most.toFixed(0).padStart(5)} ms   ${figures(own)}   idle process: ${figures(others)}`,
    );
  };

/** Writes `ENTRIES` entries, copies of those that an agent has written; each copy has its own ids. */
const multiplied = (journal: string, to: string): void => {
  const { entries } = readJournal(journal);
  mkdirSync(join(to, 'journal'), { recursive: true });
  const lines = Array.from({ length: ENTRIES }, (_, index) => {
    const round = Math.floor(index / entries.length);
    const entry = entries[index % entries.length]!;
    const named = (id: string): string => `${id}-${round}`;
    return JSON.stringify({ ...entry, id: named(entry.id), causes: entry.causes.map(named) });
  });
  const perFile = Math.ceil(ENTRIES / 8);
  for (let age = 0; age < 8; age++) {
    const part = lines.slice((7 - age) * perFile, (8 - age) * perFile);
    writeFileSync(journalFile(join(to, 'journal'), age), `${part.join('\n')}\n`);
  }
};

const timed = async (args: readonly string[]): Promise<number> => {
  const startedAt = performance.now();
  const child = spawn(...promptly(options.agent, args), { stdio: 'ignore' });
  await once(child, 'exit');
  return performance.now() - startedAt;
};

const overFiles = async (): Promise<void> => {
  const [manifests, state, copies] = ['manifests', 'state', 'copies'].map(directory) as [string, string, string];
  const place = (name: string, content: string): void => {
    writeFileSync(join(root, name), content);
    renameSync(join(root, name), join(manifests, name));
  };
  const agent = await startAgent(state, ['--pod-manifest-path', manifests]);
  try {
    await pause(5_000);
    const play = stage(agent);
    await play('nothing happens', () => undefined);
    if (scenes.has('pods')) {
      const start = () => {
        for (let index = 0; index < pods; index++) place(`pod-${index}.json`, JSON.stringify(pod(`pod-${index}`)));
      };
      await play(`${pods} pods start`, start, LONG_SCENE_MS);
    }
    if (scenes.has('why')) {
      multiplied(join(state, 'journal'), copies);
      let tookMs = 0;
      await play('why reads 100,000 entries', async () => {
        tookMs = await timed(['why', `pod-1`, '--root-dir', copies]);
      });
      console.log(`  why took ${tookMs.toFixed(0)} ms; --version takes ${(await timed(['--version'])).toFixed(0)} ms`);
    }
    if (scenes.has('folder')) {
      for (const [what, content] of Object.entries(HOSTILE_MANIFESTS).filter(([what]) => isWanted(what))) {
        await play(`folder: ${what}`, () => place('hostile.yaml', content()));
        rmSync(join(manifests, 'hostile.yaml'));
        await pause(4_000);
      }
    }
  } finally {
    await agent.end();
  }
};

const overServer = async (): Promise<void> => {
  const state = directory('cluster');
  const stub = await apiStub();
  const kubeconfig = join(root, 'kubeconfig');
  const context = { name: 'stub', context: { cluster: 'stub', user: 'node' } };
  writeFileSync(
    kubeconfig,
    JSON.stringify({
      ...{ apiVersion: 'v1', kind: 'Config', 'current-context': 'stub', contexts: [context] },
      ...{ clusters: [{ name: 'stub', cluster: { server: stub.url } }], users: [{ name: 'node', user: {} }] },
    }),
  );
  const agent = await startAgent(state, ['--kubeconfig', kubeconfig, '--hostname-override', 'bench']);
  try {
    const isFollowed = () => stub.requests.some(({ path }) => path === podsPath());
    while (!isFollowed()) await pause(50);
    await pause(5_000);
    const play = stage(agent);
    for (const [what, speech] of Object.entries(HOSTILE_SPEECHES).filter(([what]) => isWanted(what))) {
      const { list, lines } = speech();
      await play(
        `server: ${what}`,
        () => {
          if (list !== undefined) stub.listNext(podsPath(), list);
          if (lines !== undefined) stub.say(podsPath(), lines);
        },
        LONG_SCENE_MS,
      );
    }
  } finally {
    await agent.end();
    stub.close();
  }
};

try {
  console.log(`load average ${loadavg()[0]?.toFixed(1)}, ${mayBePrompt ? 'with' : 'without'} real-time priority`);
  if (['pods', 'folder', 'why'].some((scene) => scenes.has(scene))) await overFiles();
  if (scenes.has('server')) await overServer();
} finally {
  idle.end();
  rmSync(root, { recursive: true, force: true });
}
