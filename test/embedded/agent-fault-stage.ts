import type { ChildProcess } from 'node:child_process';
import { existsSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { seededRandom, type SeededRandom } from '../../src/tools/sim/world/seeded-random.js';
import { type AgentFaultPlan, agentFaultPlan } from './agent-fault-plan.js';
import { type ApiOverHttp, apiOverHttp } from './api-over-http.js';
import { alone, runningVersions } from './churn.js';
import { Daemon, freePort, NODE_NAME } from './daemon.js';
import { eventually } from './eventually.js';
import { joined } from './joined.js';
import { manifest, type PodOf, SLEEP } from './manifests.js';
import { readTextOf } from './processes.js';
import { writtenOver } from './rotated-logs.js';
import { pause } from './seeded.js';

const MACHINE = pathToFileURL(fileURLToPath(new URL('./faulty-machine.mjs', import.meta.url))).href;
const PODS = '/api/v1/namespaces/default/pods';
const SETTLED_MS = 180_000;
/** Of an agent at rest, with what it opens for a moment. */
const MOST_DESCRIPTORS = 60;
/** One late probe ends a container, and a busy machine is late. */
const PATIENT = { periodSeconds: 1, failureThreshold: 1, timeoutSeconds: 30 };

/** An agent whose files, processes and sockets fail in each run, over a runtime with pods that must come through. */
export class AgentFaultStage extends Daemon {
  private readonly control = join(this.directory, 'faults');
  private readonly wanted = new Map<string, string>();
  private readonly steady = ['probed', 'web', 'writer'];
  private pids: ReadonlyMap<string, number> = new Map();
  private args: readonly string[] = [];
  private api: ApiOverHttp | undefined;
  private runs = 0;
  /** Such an agent may end before it has begun, and be slow about it. */
  private isBornAmongFaults = false;
  private version = 0;
  /** Accesses that were made to fail, by kind, operation and errno. */
  readonly failed = new Map<string, number>();
  /** Why an agent that was started among faults gave up, and how often. */
  readonly refusals = new Map<string, number>();
  /** The longest real time from the end of the faults until all was as it should be, with what the run changed after them, and the looks. */
  longestRecoveryMs = 0;

  /** `isInCluster`: half of its pods come from an API server, to which its connections fail as well. */
  async open(isInCluster: boolean): Promise<this> {
    this.api = isInCluster ? await apiOverHttp(NODE_NAME) : undefined;
    this.preload = {
      args: ['--import', MACHINE],
      env: { RX_TEST_FAULTS: this.control, RX_TEST_API_PORT: `${this.api?.port}` },
    };
    this.args = [
      ...['--record', join(this.directory, 'recording.jsonl.gz')],
      '--config',
      this.configuration({
        fileCheckFrequency: '3s',
        containerLogMaxSize: '20Ki',
        containerLogMaxFiles: 1000,
        containerLogMonitorInterval: '3s',
      }),
    ];
    const port = await freePort();
    const serve = `require('http').createServer((_, answer) => answer.end('ok')).listen(${port}, '127.0.0.1')`;
    this.put('probed', SLEEP, { livenessProbe: { exec: { command: ['true'] }, ...PATIENT } });
    this.put('web', `exec '${process.execPath}' -e "${serve}"`, {
      startupProbe: { tcpSocket: { host: '127.0.0.1', port }, periodSeconds: 1, failureThreshold: 60 },
      livenessProbe: { httpGet: { host: '127.0.0.1', port }, ...PATIENT },
      readinessProbe: { tcpSocket: { host: '127.0.0.1', port }, ...PATIENT },
    });
    this.put('writer', 'i=0; while :; do i=$((i + 1)); printf "line %060d\\n" $i; sleep 0.05; done');
    this.put('edited', SLEEP);
    if (this.api) this.joinCluster(this.api);
    await this.start(...this.args);
    await this.settled();
    this.pids = await eventually('one process each', () => {
      const mains = this.mains();
      const pids = this.steady.flatMap((pod) =>
        mains.get(pod)?.length === 1 ? [[pod, mains.get(pod)![0]!] as const] : [],
      );
      return pids.length === this.steady.length && new Map(pids);
    });
    return this;
  }

  /** One run. Errors: what is not as it should be, with the seed, the plan and the last lines of the agent. */
  async strike(seed: number): Promise<void> {
    const random = seededRandom(`agent-faults/${seed}`);
    const plan = agentFaultPlan(random.fork('plan'));
    const done: string[] = [];
    const seen = this.log.length;
    try {
      await this.scene(random, plan, done);
    } catch (error) {
      const words = this.log.slice(seen).split('\n').slice(-60).join('\n');
      const struck = this.takeFailed().slice(-60).join('\n');
      throw new Error(
        `seed ${seed} (${JSON.stringify(plan)}), ${done.join(', ')}\n${String(error)}\n${struck}\n${words}`,
        { cause: error },
      );
    } finally {
      rmSync(this.control, { force: true });
      this.takeFailed();
    }
  }

  /** What the log of a pod should be was written by its container, line by line. */
  expectWholeLog(): Promise<boolean> {
    return eventually('the log of the writer is whole', async () => {
      const [container] = await this.containersOf('writer');
      const lines = writtenOver((await this.status(container?.id ?? '')).logPath);
      const broken = lines.findIndex((line, index) => Number(line.replace('line ', '')) !== index + 1);
      if (broken >= 0) throw new Error(`line ${broken + 1} is ${JSON.stringify(lines[broken])}`);
      return lines.length > 0;
    });
  }

  private async scene(random: SeededRandom, plan: AgentFaultPlan, done: string[]): Promise<void> {
    this.runs += 1;
    this.isBornAmongFaults = false;
    const run = this.runs;
    const gate = join(this.directory, `gate-${run}`);
    const ending = `ending-${run}`;
    this.put(ending, `while [ ! -e ${gate} ]; do sleep 0.1; done; [ -e ${gate}-2 ] && ${SLEEP}; : > ${gate}-2; exit 3`);
    await this.settled();
    const before = this.agent;
    const earlier = [`added-${run - 1}`, `ending-${run - 1}`, `big-${run - 2}`];
    const steps: Record<string, () => Promise<void> | void> = {
      end: () => writeFileSync(gate, ''),
      edit: () => this.put('edited', SLEEP),
      add: () => this.put(`added-${run}`, SLEEP),
      withdraw: () => earlier.forEach((pod) => this.take(pod)),
      swap: async () => {
        const aside = `${this.manifests}-aside`;
        renameSync(this.manifests, aside);
        await pause(random.pick([0, 50, 300]));
        renameSync(aside, this.manifests);
      },
      // Read in a thread of its own.
      big: () => this.put(`big-${run}`, SLEEP, {}, 'x'.repeat(40_000)),
      ...(this.api && {
        create: () => this.create(`api-${run}`),
        destroy: () => this.destroy(`api-${run - 1}`),
      }),
      replace: () => this.replaceAgent(),
      runtime: () => this.killRuntime('SIGKILL'),
    };
    const rare = ['replace', 'runtime'];
    const chosen = Object.keys(steps).filter((step) => random.chance(rare.includes(step) ? 0.3 : 0.6));
    writeFileSync(`${this.control}.draft`, JSON.stringify(plan));
    renameSync(`${this.control}.draft`, this.control);
    await pause(20);
    for (const step of shuffled(chosen, random)) {
      await steps[step]!();
      done.push(step);
      await pause(random.pick([0, 20, 200, 500]));
    }
    await pause(random.pick([0, 200, 1000]));
    rmSync(this.control);
    const endOfFaults = performance.now();
    if (!chosen.includes('replace')) this.expectAlive(before);
    await this.keepAlive();
    for (const pod of earlier) this.take(pod);
    this.destroy(`api-${run - 1}`);
    await this.settled();
    this.longestRecoveryMs = Math.max(this.longestRecoveryMs, performance.now() - endOfFaults);
    const startsOf = (pod: string): number => this.lines(`starts-${pod}`).length;
    const starts = (pod: string): number => (pod === ending && chosen.includes('end') ? 2 : 1);
    // A container that runs has not come to say so yet.
    await eventually('all have started as often as they should have', () =>
      [...this.steady, ending].every((pod) => startsOf(pod) >= starts(pod)),
    );
    const tooOften = [...this.steady, ending].filter((pod) => startsOf(pod) > starts(pod));
    if (tooOften.length > 0) throw new Error(`started too often: ${tooOften.join()}`);
    const mains = this.mains();
    // A probe has a process, too, for a moment.
    const replaced = [...this.pids].filter(([pod, pid]) => !mains.get(pod)?.includes(pid)).map(([pod]) => pod);
    if (replaced.length > 0) throw new Error(`other processes: ${replaced.join()}`);
    if (this.lines('doubles').length > 0) throw new Error(`doubled: ${this.lines('doubles').join()}`);
    await eventually('the agent has closed its descriptors', () => {
      const descriptors = readdirSync(`/proc/${this.agent.pid}/fd`).length;
      if (descriptors > MOST_DESCRIPTORS) throw new Error(`the agent has ${descriptors} descriptors`);
      return true;
    });
  }

  /** Resolves once all is as the manifests say. Errors: not within `SETTLED_MS`. */
  private settled(): Promise<boolean> {
    return eventually(
      'all is as it should be',
      async () => {
        if (this.isBornAmongFaults) await this.keepAlive();
        this.expectAlive(this.agent);
        same('versions', Object.fromEntries(await runningVersions(this)), Object.fromEntries(this.wanted));
        const names = [...this.wanted.keys()];
        const pods = names.map((name) => name.replace(`-${NODE_NAME}`, '')).toSorted();
        const running = [...this.mains()].flatMap(([pod, pids]) => pids.map(() => pod));
        same('processes', running.toSorted(), pods);
        const shown = await this.shownPods();
        const ready = shown.filter(({ status }) => status?.containerStatuses?.every(({ ready }) => ready));
        same('ready pods', ready.map(({ metadata }) => metadata.name).toSorted(), names.toSorted());
        same('shown pods', shown.length, names.length);
        this.expectToldApi();
        return (await this.health()).status === 200;
      },
      SETTLED_MS,
    );
  }

  /** The API server knows of every pod that it runs, and of nothing else. */
  private expectToldApi(): void {
    if (!this.api) return;
    const told = this.api.server.list(PODS).map(({ metadata, status }) => {
      const { phase } = (status ?? {}) as { readonly phase?: string };
      return `${metadata.name} ${phase}`;
    });
    same('pods of the API', told.toSorted(), [...this.wanted.keys()].map((name) => `${name} Running`).toSorted());
  }

  /** The first processes of containers, by their pods. */
  private mains(): ReadonlyMap<string, readonly number[]> {
    const prefix = `RX_TEST_CONTAINER=${this.directory}/`;
    const found = new Map<string, number[]>();
    for (const pid of readdirSync('/proc')
      .filter((name) => /^\d+$/.test(name))
      .map(Number)) {
      const variable = readTextOf(pid, 'environ')
        .split('\0')
        .find((text) => text.startsWith(prefix));
      // Those below it are its children.
      if (variable === undefined || readTextOf(parentOf(pid), 'environ').split('\0').includes(variable)) continue;
      const pod = variable.slice(prefix.length).split('/')[0] ?? '';
      found.set(pod, [...(found.get(pod) ?? []), pid]);
    }
    return found;
  }

  private joinCluster(api: ApiOverHttp): void {
    const path = joined(this.directory, api.url);
    this.args = [...this.args, '--kubeconfig', path, '--port', '0'];
    const config = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'settings' }, data: { color: 'blue' } };
    api.server.do({ method: 'POST', path: '/api/v1/namespaces/default/configmaps', body: config });
    this.create('api-steady', { envFrom: [{ configMapRef: { name: 'settings' } }] });
    this.steady.push('api-steady');
  }

  /** A pod of the API, on this node. */
  private create(name: string, container: object = {}): void {
    this.version += 1;
    const { containers = [] } = alone(name, SLEEP);
    const pod = JSON.parse(
      manifest(this.directory, {
        name,
        labels: { version: `v${this.version}` },
        nodeName: NODE_NAME,
        terminationGracePeriodSeconds: 1,
        containers: containers.map((one) => ({ ...one, ...container })),
      }),
    ) as unknown;
    this.api?.server.do({ method: 'POST', path: PODS, body: pod });
    this.wanted.set(name, `v${this.version}`);
  }

  private destroy(name: string): void {
    if (this.wanted.delete(name)) this.api?.server.do({ method: 'DELETE', path: `${PODS}/${name}` });
  }

  override async dispose(): Promise<void> {
    this.api?.close();
    await super.dispose();
  }

  private put(name: string, script: string, container: object = {}, padding = ''): void {
    this.version += 1;
    const version = `v${this.version}`;
    const pod = alone(name, script);
    const containers = pod.containers?.map((one) => ({
      ...one,
      ...container,
      env: [...(one.env ?? []), ...(padding === '' ? [] : [{ name: 'PADDING', value: padding }])],
    }));
    const whole: PodOf = { ...pod, labels: { version }, terminationGracePeriodSeconds: 1, containers };
    this.apply(whole);
    this.wanted.set(`${name}-${NODE_NAME}`, version);
  }

  private take(name: string): void {
    if (!this.wanted.delete(`${name}-${NODE_NAME}`)) return;
    this.withdraw(name);
  }

  private async replaceAgent(): Promise<void> {
    await this.kill('SIGKILL');
    this.again();
    await pause(300);
    // Among faults it may never begin.
    await this.keepAlive(2);
  }

  private again(): void {
    this.isBornAmongFaults = existsSync(this.control);
    this.spawn('--pod-manifest-path', this.manifests, ...this.args);
  }

  /** What starts an agent starts it again when it could not begin. */
  private async keepAlive(tries = Infinity): Promise<void> {
    for (let left = tries; left > 0 && hasEnded(this.agent); left -= 1) {
      const reason = this.log.trimEnd().split('\n').at(-1)?.replaceAll(this.directory, '').slice(0, 200) ?? '';
      if (reason.startsWith('Node.js v')) throw new Error('the agent has ended by an error that no handler caught');
      this.refusals.set(reason, (this.refusals.get(reason) ?? 0) + 1);
      this.again();
      await pause(500);
    }
  }

  private expectAlive(agent: ChildProcess): void {
    if (hasEnded(agent)) throw new Error(`the agent has ended with ${agent.exitCode ?? agent.signalCode}`);
  }

  private takeFailed(): string[] {
    const path = `${this.control}.log`;
    let text = '';
    try {
      text = readFileSync(path, 'utf8');
      rmSync(path);
    } catch {
      // Nothing was made to fail.
    }
    const struck = text.split('\n').slice(0, -1);
    for (const line of struck) {
      const kind = line.split(' ').slice(0, 3).join(' ');
      this.failed.set(kind, (this.failed.get(kind) ?? 0) + 1);
    }
    return struck;
  }
}

const hasEnded = ({ exitCode, signalCode }: ChildProcess): boolean => exitCode !== null || signalCode !== null;

const parentOf = (pid: number): number => {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
    return Number(stat.slice(stat.lastIndexOf(')') + 2).split(' ')[1]);
  } catch {
    return 0;
  }
};

const same = (what: string, is: unknown, wanted: unknown): void => {
  const [one, other] = [JSON.stringify(sorted(is)), JSON.stringify(sorted(wanted))];
  if (one !== other) throw new Error(`${what}: ${one} and should be ${other}`);
};

const sorted = (value: unknown): unknown =>
  typeof value === 'object' && value !== null && !Array.isArray(value)
    ? Object.fromEntries(Object.entries(value).toSorted())
    : value;

const shuffled = <T>(items: readonly T[], random: SeededRandom): T[] =>
  items
    .map((item) => ({ item, at: random.next() }))
    .toSorted((a, b) => a.at - b.at)
    .map(({ item }) => item);
