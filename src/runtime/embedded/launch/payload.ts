import { hostname } from 'node:os';
import type { ContainerConfig } from '../../../generated/runtime/v1/api.js';
import { argumentListProblem } from '../../../model/cri/argument-list.js';
import { DEFAULT_PATH, type Isolation } from '../confinement/isolation.js';
import { mountScript, readonlyScript, type MountScriptPlan } from '../mounts/mount-script.js';
import { byteWord, shellQuote, shellWords } from '../machine/shell-quote.js';
import { argumentLimits, CANNOT_RUN, programCheck } from './program-check.js';
import type { UserPlan } from './users.js';

/** The command with its user and environment, run once the process is confined. */
export interface PayloadPlan {
  readonly command: readonly string[];
  readonly environment: readonly (readonly [name: string, value: Uint8Array])[];
  readonly workingDirectory: string;
  readonly user: UserPlan;
  /** Undefined for a process that enters a mount namespace as it is. */
  readonly mounts: MountScriptPlan | undefined;
  readonly oomScoreAdjustment: number | undefined;
  /**
   * Whether it runs beside the container's own process. What only execve(2) finds out ends a command with an exit code of its own, as over runc,
   * so that a probe fails; a container does not start.
   */
  readonly isCommand: boolean;
}

/**
 * The config's variables, after three variables that every program may expect, and that of a terminal. The last one of a
 * name wins.
 */
export const environmentOf = (
  config: ContainerConfig,
  user: UserPlan,
  podHostname: string,
): readonly (readonly [string, Uint8Array])[] => [
  ...new Map<string, Uint8Array>([
    ['PATH', Buffer.from(DEFAULT_PATH)],
    ['HOSTNAME', Buffer.from(podHostname || hostname())],
    ['HOME', Buffer.from(user.home)],
    // As containerd does.
    ...(config.tty ? [['TERM', Buffer.from('xterm')] as const] : []),
    ...config.envs.map(({ key, value }): [string, Uint8Array] => [key, value]),
  ]),
];

/**
 * Whether a shell can set the name: it refuses some names, cannot hold others, and gives others a meaning. All these
 * names go through env(1).
 */
const isPlainName = (name: string): boolean =>
  /^[A-Za-z_][A-Za-z0-9_]*$/.test(name) &&
  !/^(_|PWD|OLDPWD|IFS|ENV|OPTIND|OPTARG|OPTERR|LINENO|PPID|UID|EUID|GROUPS|SHELLOPTS|BASH.*|SHLVL|PS[0-9]|FUNCNAME|POSIXLY_CORRECT|LD_.*|LC_.*|LANG)$/.test(
    name,
  );

const groupOptions = ({ groups }: UserPlan): readonly string[] =>
  groups.length > 0 ? ['--groups', groups.join(',')] : ['--clear-groups'];

const privilegeChange = ({ user }: PayloadPlan, { tools }: Isolation): readonly string[] => {
  const setpriv = tools.get('setpriv');
  const options = [
    ...(user.changes ? ['--reuid', String(user.uid), '--regid', String(user.gid), ...groupOptions(user)] : []),
    ...(user.noNewPrivileges ? ['--no-new-privs'] : []),
    // Root gets every capability of either set.
    ...(user.boundingSet === undefined ? [] : ['--bounding-set', user.boundingSet, '--inh-caps', '-all']),
  ];
  return setpriv && options.length > 0 ? [setpriv, ...options, '--'] : [];
};

/**
 * The words of a shell in front of the command that run it unchanged; `odd` are such words, too. `--` precedes names and programs, since both may begin with
 * a dash. The shell's `exec` would read a program's dash as an option, and env(1) a program with `=` as a variable;
 * nice(1) reads it only as a program.
 */
const wrapperWords = (plan: PayloadPlan, isolation: Isolation, odd: readonly string[]): readonly string[] => {
  const program = plan.command[0] ?? '';
  const privileges = privilegeChange(plan, isolation);
  const variables = odd.length > 0 ? [...[isolation.tools.get('env') ?? 'env', '--'].map(shellQuote), ...odd] : [];
  const isMistaken = odd.length > 0 ? program.includes('=') : privileges.length === 0 && program.startsWith('-');
  const verbatim = isMistaken ? [isolation.tools.get('nice') ?? 'nice', '-n', '0', '--'] : [];
  return [...privileges.map(shellQuote), ...variables, ...verbatim.map(shellQuote)];
};

/** A relative path is refused, as in runc: `cd` would read `-` as the previous directory. */
const workingDirectoryLine = (path: string): string => {
  const refused = (why: string) => `fail ${shellQuote(`working directory "${path}": ${why}`)}`;
  if (!path.startsWith('/')) return refused('it must be an absolute path');
  const word = shellQuote(path);
  return `cd ${word} 2>/dev/null || { [ ! -d ${word} ] || ${refused('permission denied')}; [ ! -e ${word} ] || ${refused('not a directory')}; ${refused('no such directory')}; }`;
};

/** Shell lines that fail for a program that cannot run, as seen by its user. */
const programCheckLines = (plan: PayloadPlan, isolation: Isolation): string => {
  const program = plan.command[0] ?? '';
  const path = plan.environment.find(([name]) => name === 'PATH')?.[1] ?? Buffer.alloc(0);
  const privileges = privilegeChange(plan, isolation);
  const run =
    privileges.length > 0 ? `${shellWords([...privileges, '/bin/sh', '-c'])} "$check" sh "$@"` : 'eval "$check"';
  return `
check=${shellQuote(programCheck({ withFormat: !plan.isCommand }))}
set -- ${shellQuote(program)} ${byteWord(path)}
why=$(${run} 2>/dev/null)
[ $? -ne ${CANNOT_RUN} ] || fail ${shellQuote(`exec: "${program}": `)}"$why"`;
};

/** Shell lines instead of an exec that the kernel will refuse. */
const refusalLines = ({ command, isCommand }: PayloadPlan, problem: string): string => {
  const text = shellQuote(`exec: "${command[0] ?? ''}": ${problem}`);
  return isCommand ? `report ready\nexec 3>&-\nprintf '%s\\n' ${text} >&2\nexit 1` : `fail ${text}`;
};

/**
 * The shell script that turns its own process into the payload. It writes `ready` to descriptor 3 just before that. On
 * a failure it writes the reason into `errorFile` and `failed` to descriptor 3, and exits with 128; if that file cannot
 * be written, `failed` and the reason. It may outlive the runtime, so it works without a reader.
 */
export const payloadScript = (plan: PayloadPlan, isolation: Isolation, errorFile: string): string => {
  const problem = argumentListProblem(plan, argumentLimits());
  return `
report() { trap '' PIPE; { echo "$1" >&3; } 2>/dev/null; trap - PIPE; }
fail() { printf '%s' "$1" 2>/dev/null > ${shellQuote(errorFile)} && report failed || report "failed $1"; exit 128; }
umask 022
${softLimitLine()}
${plan.mounts ? mountScript(plan.mounts, isolation) : ''}
${plan.oomScoreAdjustment === undefined ? '' : `{ echo ${plan.oomScoreAdjustment} > /proc/self/oom_score_adj; } 2>/dev/null`}
${workingDirectoryLine(plan.workingDirectory)}
${programCheckLines(plan, isolation)}
${plan.mounts ? readonlyScript(plan.mounts) : ''}
${problem === undefined ? execLines(plan, isolation) : refusalLines(plan, problem)}
`;
};

/** Shell lines that turn the shell into the program, with its variables. */
const execLines = (plan: PayloadPlan, isolation: Isolation): string => {
  const odd = plan.environment
    .filter(([name]) => !isPlainName(name))
    .map(([name, value]) => byteWord(Buffer.concat([Buffer.from(`${name}=`), value])));
  const variables = plan.environment
    .filter(([name]) => isPlainName(name))
    .map(([name, value]) => `export ${name}=${byteWord(value)}`);
  return `set -- ${shellWords(plan.command)}
unset PWD OLDPWD SHLVL
${variables.join('\n')}
report ready
exec 3>&-
exec ${wrapperWords(plan, isolation, odd).join(' ')} "$@"`;
};

/**
 * Returns the shell line that gives a process the soft limit of open files that the agent was started with, from the variable that
 * `bin/rx-kubelet` sets. Node raises its own, and a program such as one with `select` or one that closes every possible
 * descriptor at its start fails or takes long with the limit of Node. Empty where the limit is not known.
 */
const softLimitLine = (): string => {
  const limit = process.env.RX_KUBELET_SOFT_DESCRIPTORS ?? '';
  return /^(\d+|unlimited)$/.test(limit) ? `{ ulimit -S -n ${limit}; } 2>/dev/null` : '';
};
