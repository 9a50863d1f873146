import { hostname } from 'node:os';
import { dirname } from 'node:path';
import type { ContainerConfig } from '../../generated/runtime/v1/api.js';
import { DEFAULT_PATH, type Isolation } from './isolation.js';
import { shellQuote, shellWords } from './shell-quote.js';
import type { UserPlan } from './users.js';

/** A bind mount in the container's own mount namespace. */
export interface BindMount {
  readonly source: string;
  readonly target: string;
  readonly readonly: boolean;
  readonly recursive: boolean;
}

export interface MountPoint {
  readonly path: string;
  readonly isDirectory: boolean;
}

/** What is to run, as whom and with what, once the process is where it belongs. */
export interface PayloadPlan {
  readonly command: readonly string[];
  readonly environment: readonly (readonly [name: string, value: string])[];
  readonly workingDirectory: string;
  readonly user: UserPlan;
  readonly mounts: readonly BindMount[];
  /** Mount points that the machine's /dev does not have; with any of them the container gets a /dev of its own. */
  readonly devPoints: readonly MountPoint[];
  /** An empty directory of the container's, for what a /dev of its own is made of. */
  readonly scratchDirectory: string;
  readonly oomScoreAdjustment: number | undefined;
}

/** The config's variables, then the three that every program may expect. Later ones of the same name win. */
export const environmentOf = (
  config: ContainerConfig,
  user: UserPlan,
  podHostname: string,
): readonly (readonly [string, string])[] => [
  ...new Map([
    ['PATH', DEFAULT_PATH],
    ['HOSTNAME', podHostname || hostname()],
    ['HOME', user.home],
    ...config.envs.map(({ key, value }): [string, string] => [key, value.toString('utf8')]),
  ]),
];

/** Names that a shell itself gives a meaning, refuses to set, or cannot hold; these go through env(1). */
const isPlainName = (name: string): boolean =>
  /^[A-Za-z_][A-Za-z0-9_]*$/.test(name) &&
  !/^(_|PWD|OLDPWD|IFS|ENV|OPTIND|OPTARG|OPTERR|LINENO|PPID|UID|EUID|GROUPS|SHELLOPTS|BASH.*|SHLVL|PS[0-9]|FUNCNAME|POSIXLY_CORRECT|LD_.*|LC_.*|LANG)$/.test(
    name,
  );

const privilegeChange = ({ user }: PayloadPlan, { tools }: Isolation): readonly string[] => {
  const setpriv = tools.get('setpriv');
  if (!user.changes || !setpriv) return [];
  return [
    setpriv,
    ...['--reuid', String(user.uid), '--regid', String(user.gid)],
    ...(user.groups.length > 0 ? ['--groups', user.groups.join(',')] : ['--clear-groups']),
    ...(user.noNewPrivileges ? ['--no-new-privs'] : []),
    '--',
  ];
};

/**
 * Covers /dev with a layer in memory that takes what is new; what is mounted below it is mounted again, since a layer does not
 * show that. The machine's own /dev never has anything to do with it.
 */
const devScript = ({ devPoints, scratchDirectory }: PayloadPlan, { tools }: Isolation): string => {
  if (devPoints.length === 0) return '';
  const mount = tools.get('mount') ?? 'mount';
  const points = devPoints.map(({ path, isDirectory }) =>
    isDirectory
      ? `mkdir -p ${shellQuote(path)} || exit 1`
      : `mkdir -p ${shellQuote(dirname(path))} && : > ${shellQuote(path)} || exit 1`,
  );
  return `
cover_dev() {
  ${mount} -t tmpfs tmpfs "$1" && mkdir "$1/new" "$1/work" "$1/old" && ${mount} --rbind /dev "$1/old" || exit 1
  ${mount} -t overlay overlay -o "lowerdir=/dev,upperdir=$1/new,workdir=$1/work" /dev || exit 1
  cat /proc/self/mountinfo | while read -r _ _ _ _ point _; do
    case $point in
      *\\\\*) ;;
      "$1/old/"*) ${mount} --bind "$point" "/dev\${point#"$1/old"}" || exit 1 ;;
    esac
  done || exit 1
  umount -l "$1" || exit 1
  ${points.join('\n  ')}
}
mkdir -p ${shellQuote(scratchDirectory)}
( cover_dev ${shellQuote(scratchDirectory)} ) || fail 'the /dev of the container could not be made'`;
};

const mountScript = ({ mounts }: PayloadPlan, { tools }: Isolation): string =>
  mounts
    .flatMap(({ source, target, readonly, recursive }) => {
      const mount = tools.get('mount') ?? 'mount';
      const [from, onto] = [shellQuote(source), shellQuote(target)];
      const failed = `|| fail ${shellQuote(`mount ${source} at ${target} failed`)}`;
      return [
        `${mount} ${recursive ? '--rbind' : '--bind'} ${from} ${onto} ${failed}`,
        ...(readonly ? [`${mount} -o remount,bind,ro ${onto} ${failed}`] : []),
      ];
    })
    .join('\n');

/**
 * The shell script that turns its own process into the payload. It says `ready` on descriptor 3 just before it does, or leaves
 * the reason in `errorFile`, says `failed` and exits with 128. Nobody needs to listen: it may outlive the runtime.
 */
export const payloadScript = (plan: PayloadPlan, isolation: Isolation, errorFile: string): string => {
  const odd = plan.environment.filter(([name]) => !isPlainName(name)).map(([name, value]) => `${name}=${value}`);
  const program = plan.command[0] ?? '';
  const path = plan.environment.find(([name]) => name === 'PATH')?.[1] ?? '';
  const missing = program.includes('/') ? 'no such file or directory' : 'executable file not found in $PATH';
  const variables = plan.environment
    .filter(([name]) => isPlainName(name))
    .map(([name, value]) => `export ${name}=${shellQuote(value)}`);
  return `
tell() { trap '' PIPE; { echo "$1" >&3; } 2>/dev/null; trap - PIPE; }
fail() { printf '%s' "$1" > ${shellQuote(errorFile)}; tell failed; exit 128; }
can_run() { [ -f "$1" ] && [ -x "$1" ]; }
find_program() {
  case $1 in */*) can_run "$1"; return ;; esac
  set -f; IFS=:
  search=${shellQuote(path)}
  for directory in $search; do can_run "\${directory:-.}/$1" && return 0; done
  return 1
}
umask 022
${devScript(plan, isolation)}
${mountScript(plan, isolation)}
${plan.oomScoreAdjustment === undefined ? '' : `{ echo ${plan.oomScoreAdjustment} > /proc/self/oom_score_adj; } 2>/dev/null`}
cd ${shellQuote(plan.workingDirectory)} 2>/dev/null || fail ${shellQuote(`working directory "${plan.workingDirectory}": no such directory`)}
( find_program ${shellQuote(program)} ) || fail ${shellQuote(`exec: "${program}": ${missing}`)}
set -- ${shellWords(plan.command)}
unset PWD OLDPWD SHLVL
${variables.join('\n')}
tell ready
exec 3>&-
exec ${shellWords([...privilegeChange(plan, isolation), ...(odd.length > 0 ? [isolation.tools.get('env') ?? 'env', ...odd] : [])])} "$@"
`;
};
