import { spawnSync } from 'node:child_process';
import { accessSync, constants } from 'node:fs';
import { join } from 'node:path';
import { probeCgroups, type CgroupLayout } from './cgroup.js';

const TOOLS = ['unshare', 'nsenter', 'setpriv', 'fallocate', 'mount', 'mkfifo', 'cat', 'sleep', 'env'] as const;
type Tool = (typeof TOOLS)[number];
export type NamespaceKind = 'mount' | 'pid' | 'ipc' | 'uts';

/** What this machine lets the runtime do, found out by trying. */
export interface Isolation {
  readonly isRoot: boolean;
  readonly tools: ReadonlyMap<Tool, string>;
  readonly namespaces: ReadonlySet<NamespaceKind>;
  /** A container can have a /dev of its own that shows the machine's and keeps what is new to itself. */
  readonly canCoverDev: boolean;
  readonly cgroups: CgroupLayout | undefined;
  /** Whether env(1) can start a program with a signal ignored. */
  readonly canIgnoreSignals: boolean;
  /** The shell's command that sets the mark of `markedProcesses`. */
  readonly markCommand: string | undefined;
  /** What could not be isolated, in words. */
  readonly missing: readonly string[];
}

export const DEFAULT_PATH = '/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin';

const findTool = (name: Tool): string | undefined =>
  DEFAULT_PATH.split(':')
    .map((directory) => join(directory, name))
    .find((path) => {
      try {
        accessSync(path, constants.X_OK);
        return true;
      } catch {
        return false;
      }
    });

const succeeds = (command: string, args: readonly string[]): boolean =>
  spawnSync(command, args, { stdio: 'ignore', timeout: 10_000, env: { PATH: DEFAULT_PATH } }).status === 0;

/** Arguments of `unshare` for these kinds. A new /proc belongs to a new pid namespace. */
export const unshareArguments = (kinds: ReadonlySet<NamespaceKind>): string[] => [
  ...(kinds.has('mount') ? ['--mount', '--propagation', 'slave'] : []),
  ...(kinds.has('ipc') ? ['--ipc'] : []),
  ...(kinds.has('uts') ? ['--uts'] : []),
  ...(kinds.has('pid') ? ['--pid', '--fork', '--mount-proc'] : []),
];

const probeNamespaces = (tools: ReadonlyMap<Tool, string>): ReadonlySet<NamespaceKind> => {
  const unshare = tools.get('unshare');
  const nsenter = tools.get('nsenter');
  if (!unshare || !nsenter || !succeeds(nsenter, ['-t', String(process.pid), '-m', '/bin/sh', '-c', ':']))
    return new Set();
  const works = (...kinds: NamespaceKind[]): boolean =>
    succeeds(unshare, [...unshareArguments(new Set(kinds)), '/bin/sh', '-c', ':']);
  if (works('mount', 'ipc', 'uts', 'pid')) return new Set(['mount', 'ipc', 'uts', 'pid']);
  const kinds: NamespaceKind[] = [];
  if (works('mount')) kinds.push('mount', ...(works('mount', 'pid') ? (['pid'] as const) : []));
  if (works('ipc')) kinds.push('ipc');
  if (works('uts')) kinds.push('uts');
  return new Set(kinds);
};

const probeDevCover = (tools: ReadonlyMap<Tool, string>): boolean =>
  succeeds(tools.get('unshare') ?? 'unshare', [
    ...unshareArguments(new Set(['mount'])),
    ...['/bin/sh', '-c'],
    'mount -t tmpfs tmpfs /tmp && mkdir /tmp/new /tmp/work && ' +
      'mount -t overlay overlay -o lowerdir=/dev,upperdir=/tmp/new,workdir=/tmp/work /dev && : > /dev/null && : > /dev/rx-new',
  ]);

/** Dash knows the limit as -w, bash as -x; a shell that knows neither leaves processes without a mark. */
const probeMark = (): string | undefined =>
  ['ulimit -w', 'ulimit -x'].find((command) =>
    succeeds('/bin/sh', ['-c', `${command} 271828 && grep -q '^Max file locks *271828 ' /proc/self/limits`]),
  );

/** Tries everything once; takes some tens of milliseconds. */
export const probeIsolation = (): Isolation => {
  const tools = new Map(TOOLS.flatMap((name) => ((path) => (path ? [[name, path] as const] : []))(findTool(name))));
  const isRoot = process.geteuid?.() === 0;
  const namespaces: ReadonlySet<NamespaceKind> = isRoot ? probeNamespaces(tools) : new Set();
  const canCoverDev = namespaces.has('mount') && probeDevCover(tools);
  const cgroups = probeCgroups();
  const markCommand = probeMark();
  const why = isRoot ? 'unshare or nsenter is missing or not allowed here' : 'the runtime does not run as root';
  const missing = [
    'root file system: containers see the files of this machine',
    'network: containers use the network of this machine',
    'system calls and capabilities: seccomp, AppArmor, SELinux and capabilities are not applied',
    ...(namespaces.has('pid') ? [] : [`processes: containers see all processes (${why})`]),
    ...(namespaces.has('mount') ? [] : [`mounts: none can be made (${why})`]),
    ...(namespaces.has('ipc') ? [] : [`ipc: shared with this machine (${why})`]),
    ...(namespaces.has('uts') ? [] : [`hostname: the one of this machine (${why})`]),
    ...(isRoot && tools.has('setpriv') ? [] : ['users: containers run as the user of the runtime']),
    ...(['memory', 'cpu', 'pids'] as const).flatMap((name) =>
      cgroups?.controllers.has(name) ? [] : [`${name}: no writable cgroup controller, limits are not enforced`],
    ),
    ...(cgroups || markCommand ? [] : ['processes that leave their session may outlive their container']),
  ];
  const canIgnoreSignals = succeeds(tools.get('env') ?? 'env', ['--ignore-signal=CHLD', '/bin/sh', '-c', ':']);
  return { isRoot, tools, namespaces, canCoverDev, cgroups, canIgnoreSignals, markCommand, missing };
};
