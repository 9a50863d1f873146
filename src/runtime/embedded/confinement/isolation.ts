import { join } from 'node:path';
import { NEVER_EMBEDDED, type SecurityField } from '../../../model/manifest/security-fields.js';
import { probeCgroups, type CgroupLayout } from './cgroup.js';
import type { Instance } from '../machine/instance.js';
import { accessSync, constants, isShortage, runProcess } from '../machine/machine.js';

const TOOLS = [
  'unshare',
  'nsenter',
  'setpriv',
  'fallocate',
  'mount',
  'pivot_root',
  'mkfifo',
  'cat',
  'sleep',
  'env',
  'nice',
  'script',
  'stty',
] as const;
type Tool = (typeof TOOLS)[number];
export type NamespaceKind = 'mount' | 'pid' | 'ipc' | 'uts';

/** The isolation that this machine allows, found by trying. */
export interface Isolation {
  readonly isRoot: boolean;
  readonly tools: ReadonlyMap<Tool, string>;
  readonly namespaces: ReadonlySet<NamespaceKind>;
  /** Whether a container can have its own /dev, a layer over the machine's that keeps new files to itself. */
  readonly canCoverDev: boolean;
  readonly cgroups: CgroupLayout | undefined;
  /** Whether setpriv(1) can drop capabilities. */
  readonly canDropCapabilities: boolean;
  readonly instance: Instance;
  /** Whether env(1) can start a program with a signal ignored. */
  readonly canIgnoreSignals: boolean;
  /** The shell's command that sets the mark of `markedProcesses`. */
  readonly markCommand: string | undefined;
  /** The fields of security contexts that are not applied. */
  readonly securityNotApplied: readonly SecurityField[];
  /** One text for each resource that is not isolated. */
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
      } catch (error) {
        if (isShortage(error)) throw error;
        return false;
      }
    });

const succeeds = (command: string, args: readonly string[]): boolean =>
  runProcess(command, args, { timeout: 10_000, env: { PATH: DEFAULT_PATH } }).status === 0;

/** The arguments of `unshare` for these kinds. A new pid namespace needs a new /proc. */
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

/** Dash names the limit -w, bash -x; other shells leave processes without a mark. */
const probeMark = (): string | undefined =>
  ['ulimit -w', 'ulimit -x'].find((command) =>
    succeeds('/bin/sh', ['-c', `${command} 271828 && grep -q '^Max file locks *271828 ' /proc/self/limits`]),
  );

/**
 * Tries everything once; takes some tens of milliseconds. Errors: the machine has no free processes, memory or
 * descriptors to try.
 */
export const probeIsolation = (instance: Instance): Isolation => {
  const tools = new Map(TOOLS.flatMap((name) => ((path) => (path ? [[name, path] as const] : []))(findTool(name))));
  const isRoot = process.geteuid?.() === 0;
  const namespaces: ReadonlySet<NamespaceKind> = isRoot ? probeNamespaces(tools) : new Set();
  const canCoverDev = namespaces.has('mount') && probeDevCover(tools);
  const cgroups = probeCgroups();
  const canDropCapabilities =
    isRoot &&
    succeeds(tools.get('setpriv') ?? 'setpriv', ['--bounding-set', '-all', '--inh-caps', '-all', '/bin/sh', '-c', ':']);
  const markCommand = probeMark();
  const why = isRoot ? 'unshare or nsenter is missing or not allowed here' : 'the runtime does not run as root';
  const missing = [
    'root file system: containers see the files of this machine',
    'network: containers use the network of this machine',
    'system calls: seccomp, AppArmor and SELinux are not applied',
    ...(canDropCapabilities ? [] : ['capabilities: none are dropped or added']),
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
  const securityNotApplied: readonly SecurityField[] = [
    ...NEVER_EMBEDDED,
    ...(tools.has('setpriv') ? [] : (['allowPrivilegeEscalation'] as const)),
    ...(canDropCapabilities ? [] : (['capabilities'] as const)),
    ...(namespaces.has('mount') ? [] : (['readOnlyRootFilesystem'] as const)),
  ];
  const canIgnoreSignals = succeeds(tools.get('env') ?? 'env', ['--ignore-signal=CHLD', '/bin/sh', '-c', ':']);
  return {
    isRoot,
    tools,
    namespaces,
    canCoverDev,
    cgroups,
    instance,
    canDropCapabilities,
    canIgnoreSignals,
    markCommand,
    securityNotApplied,
    missing,
  };
};
