import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import {
  chmodSync,
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const CHECK = fileURLToPath(new URL('../../../.ci', import.meta.url));

/** What the check asks of the machine. Here it is all there, so that nothing is installed. */
const TOOLS = [
  'unshare nsenter setpriv fallocate prlimit mount containerd ctr runc busybox iptables ip docker-registry strace perl openssl etcd kubectl',
  'faketime dbus-daemon busctl systemd-inhibit',
].flatMap((names) => names.split(' '));

/** The other versions of Node, the newest last. */
const OTHER_NODES = ['97.1.0', '98.2.0'] as const;

/** Where the check looks for properties with fresh seeds. */
const PROPERTIES = ['test/unit', 'test/sim', 'test/streams', 'test/marbles'];

/** A step of the check by what npm or npx is asked for. What is first in the list and is in the arguments is meant. */
const STEPS = [
  ['ci --no-progress', 'npm ci'],
  ['--fresh --time 20s --cluster', 'fresh seeds of a cluster'],
  ['--fresh', 'fresh seeds of a node'],
  ['simulate', 'fixed seeds'],
  ['lint', 'lint'],
  ['typecheck', 'typecheck'],
  ['layers', 'layers'],
  ['unused', 'unused'],
  ['without a clock', 'without a clock'],
  ['test/edges', 'edges'],
  ['test/containerd', 'containerd'],
  ['test/cluster', 'cluster'],
] as const;
/** `again`: a file that is run alone; `build`: of the API server; `newer`: a newer containerd is asked for; `promtool`: so is promtool. */
type Step =
  | (typeof STEPS)[number][1]
  | 'again'
  | 'build'
  | 'newer'
  | 'promtool'
  | `${string}, Node ${(typeof OTHER_NODES)[number]}`;

/**
 * What a shell of a step can say: `test NAME passed|failed ERROR`, for the reporter that is not there. Each writes the lines of a file of its
 * own that has come to its end, `begun NAME` those of one that has not.
 */
const REPORTER = `
line() { printf '{"stage":"%s","try":%d,"file":"test/%s/%s.test.ts",%s}\\n' "$CI_STAGE" "$CI_TRY" "\${CI_STAGE// /-}" "\${1// /-}" "$2" >>"$CI_RESULTS"; }
begun() { line "$1" '"kind":"expected"'; line "$1" "\\"kind\\":\\"begun\\",\\"test\\":\\"$1\\""; }
test() {
  begun "$1"
  line "$1" "\\"kind\\":\\"test\\",\\"test\\":\\"$1\\",\\"state\\":\\"$2\\",\\"error\\":[\${3:+\\"$3\\"}]"
  line "$1" '"kind":"file","state":"passed","error":[]'
}
`;

export interface Verdict {
  readonly code: number | null;
  readonly lines: readonly string[];
}

/** A project of no tests, with the check of this one. */
export interface CheckProject {
  /** Steps do what these shells say, anything else passes. */
  plan(steps: Partial<Readonly<Record<Step, string>>>): void;
  /** The check, and nothing of it but its leader is in this process's group. */
  start(): ChildProcess;
  run(): Promise<Verdict>;
  verdictOf(check: ChildProcess): Promise<Verdict>;
  /** Steps in their order so far, each time that one begins. */
  begun(): readonly string[];
  /** The folders that runs keep for a while. */
  folders(): readonly string[];
  /** Makes a file that steps find as $OWN/NAME. */
  put(name: string): void;
  /** For files of steps, which find it as $OWN. */
  readonly folder: string;
  remove(): void;
}

export const checkProject = (): CheckProject => {
  const folder = mkdtempSync(join(tmpdir(), 'check-'));
  const path = (...names: readonly string[]): string => join(folder, ...names);
  const script = (name: string, text: string): void => {
    writeFileSync(path(name), `#!/usr/bin/env bash\n${text}\n`);
    chmodSync(path(name), 0o755);
  };
  for (const name of [
    'bin',
    'plan',
    'tmp',
    'test/cluster/stage',
    'test/containerd/stage',
    'test/embedded/stage',
    'test/support',
    ...PROPERTIES,
  ]) {
    mkdirSync(path(name), { recursive: true });
  }
  cpSync(CHECK, path('.ci'), { recursive: true });

  const chosen = STEPS.map(([words, step]) => `*'${words}'*) step='${step}' ;;`).join('\n');
  const doStep = `
    echo "$step" >>"$OWN/begun"
    if [[ -e "$OWN/plan/$step" ]]; then . "$OWN/plan/$step"; exit; fi
    if [[ -n \${CI_STAGE:-} ]]; then test 'a test' passed; fi`;
  script('bin/npm', `${REPORTER}\ncase "$*" in\n${chosen}\n*) exit ;;\nesac\n${doStep}`);
  // Without a file, and outside the stages of other versions of Node, it is asked for properties with fresh seeds, of which there are none.
  const npxStep = `step=again
    if [[ \${CI_STAGE:-} == *', Node '* && $CI_TRY == 1 ]]; then step=$CI_STAGE; elif [[ $* != *.test.ts* ]]; then exit 0; fi`;
  script('bin/npx', `${REPORTER}\n${npxStep}\n${doStep}`);
  script('test/cluster/stage/build.sh', `[[ \${1:-} != --cached ]] || exit 0\nstep=build\n${doStep}`);
  script('test/containerd/stage/newer.sh', `step=newer\n${doStep}\necho containerd`);
  script('test/embedded/stage/promtool.sh', `step=promtool\n${doStep}\necho promtool`);
  // Their folders have no program.
  script('test/support/node.sh', `if [[ $# -eq 0 ]]; then printf '%s\\n' ${OTHER_NODES.join(' ')}; else echo "$2"; fi`);
  for (const name of [...TOOLS, 'sleep']) script(`bin/${name}`, ':');

  const start = (): ChildProcess => {
    const own = Object.entries(process.env).filter(([name]) => !/^(VITEST|CI)/.test(name));
    return spawn(path('.ci/run'), [], {
      detached: true,
      stdio: ['ignore', 'pipe', 'pipe'],
      env: {
        ...Object.fromEntries(own),
        OWN: folder,
        PATH: `${path('bin')}:${process.env.PATH ?? ''}`,
        TMPDIR: path('tmp'),
      },
    });
  };
  const verdictOf = async (check: ChildProcess): Promise<Verdict> => {
    let said = '';
    for (const stream of [check.stdout, check.stderr]) {
      stream?.setEncoding('utf8').on('data', (text: string) => (said += text));
    }
    const [code] = (await once(check, 'close')) as [number | null];
    return { code, lines: said.trim().split('\n') };
  };
  return {
    folder,
    start,
    verdictOf,
    run: () => verdictOf(start()),
    plan: (steps) => {
      for (const [step, text = ''] of Object.entries(steps)) writeFileSync(path('plan', step), text);
    },
    begun: () => (existsSync(path('begun')) ? readFileSync(path('begun'), 'utf8').trim().split('\n') : []),
    folders: () => readdirSync(path('tmp')).filter((name) => name.startsWith('rxci-')),
    put: (name) => writeFileSync(path(name), ''),
    remove: () => rmSync(folder, { recursive: true, force: true }),
  };
};
