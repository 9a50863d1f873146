import { join } from 'node:path';
import type { PodSandboxConfig } from '../../../generated/runtime/v1/api.js';
import { unshareArguments, type Isolation, type NamespaceKind } from '../confinement/isolation.js';
import { claimOf, claimScript, firstLine, ioFiles, spawnShell, startErrorOf } from '../launch/launcher.js';
import { makeDirectories, writeFileSync } from '../machine/machine.js';
import { childrenOf, processId, signalProcess, type ProcessId } from '../confinement/process-tree.js';
import { shellQuote, shellWords } from '../machine/shell-quote.js';
import { invalidArgument } from '../runtime-error.js';

/** The pod's own namespaces: those that the machine allows, without those that the pod shares with the node. */
export const namespacesOf = (config: PodSandboxConfig, { namespaces }: Isolation): ReadonlySet<NamespaceKind> => {
  const options = config.linux?.securityContext?.namespaceOptions;
  const kinds = new Set(namespaces);
  if (options?.pid === 'NODE') kinds.delete('pid');
  if (options?.ipc === 'NODE') kinds.delete('ipc');
  if (options?.network === 'NODE' && config.hostname === '') kinds.delete('uts');
  return kinds;
};

/** Sysctls of the IPC namespace; all others would change this machine. */
const sysctlLines = (config: PodSandboxConfig, kinds: ReadonlySet<NamespaceKind>): string[] =>
  Object.entries(config.linux?.sysctls ?? {}).map(([name, value]) => {
    if (!/^(kernel\.(shm|msg|sem)|fs\.mqueue\.)/.test(name) || !kinds.has('ipc'))
      throw invalidArgument(
        `sysctls["${name}"]: only sysctls of the pod's own IPC namespace can be set, and this one belongs to the machine`,
      );
    return `printf '%s\\n' ${shellQuote(value)} > ${shellQuote(`/proc/sys/${name.replaceAll('.', '/')}`)} || fail ${shellQuote(`sysctl ${name}=${value}: refused by the kernel`)}`;
  });

const resolvConf = (config: PodSandboxConfig): string | undefined => {
  const { servers = [], searches = [], options = [] } = config.dnsConfig ?? {};
  if (servers.length + searches.length + options.length === 0) return undefined;
  return [
    ...(searches.length > 0 ? [`search ${searches.join(' ')}`] : []),
    ...servers.map((server) => `nameserver ${server}`),
    ...(options.length > 0 ? [`options ${options.join(' ')}`] : []),
    '',
  ].join('\n');
};

/**
 * Sleeps for ever and reaps zombies. With SIGCHLD ignored the kernel reaps every orphan by itself and one sleeping
 * process is enough; a shell cannot always ignore that signal, so without env(1) the shell stays and waits.
 */
const sleepScript = ({ tools, canIgnoreSignals }: Isolation): string => {
  const sleep = `${tools.get('sleep') ?? 'sleep'} 2147483647`;
  if (canIgnoreSignals) return `exec ${tools.get('env') ?? 'env'} --ignore-signal=CHLD ${sleep}`;
  return `trap - PIPE\nwhile :; do ${sleep} & wait $!; done`;
};

/** The pod's own /etc/resolv.conf, which exists if the pod has DNS settings and mounts. */
export const resolvConfOf = (ioDirectory: string): string => join(ioDirectory, 'resolv.conf');

export interface Holder {
  readonly process: ProcessId;
  readonly exited: Promise<void>;
}

/**
 * Starts the process that keeps a pod's namespaces, pid 1 of the pod if it has a pid namespace. It outlives the
 * runtime. Rejects with the reason if it does not start.
 */
export const startHolder = async (
  plan: {
    readonly ioDirectory: string;
    readonly config: PodSandboxConfig;
    readonly kinds: ReadonlySet<NamespaceKind>;
    readonly joinScript: string;
  },
  isolation: Isolation,
): Promise<Holder> => {
  const { config, kinds } = plan;
  const io = ioFiles(plan.ioDirectory);
  const sysctls = sysctlLines(config, kinds);
  makeDirectories(io.directory, 0o711);
  const inner = join(io.directory, 'holder.sh');
  const outer = join(io.directory, 'unshare.sh');
  const resolv = resolvConfOf(io.directory);
  const dns = kinds.has('mount') ? resolvConf(config) : undefined;
  if (dns !== undefined) writeFileSync(resolv, dns, { mode: 0o644 });
  const hostname = kinds.has('uts') && config.hostname !== '' ? config.hostname : undefined;
  writeFileSync(
    inner,
    `
fail() { printf '%s' "$1" > ${shellQuote(io.startError)}; echo failed >&3; exit 1; }
${hostname === undefined ? '' : `printf '%s\\n' ${shellQuote(hostname)} > /proc/sys/kernel/hostname || fail ${shellQuote(`hostname "${hostname}": refused by the kernel`)}`}
${dns === undefined ? '' : `[ ! -e /etc/resolv.conf ] || ${isolation.tools.get('mount') ?? 'mount'} --bind ${shellQuote(resolv)} /etc/resolv.conf || fail 'mount at /etc/resolv.conf failed'`}
${sysctls.join('\n')}
trap '' PIPE
{ echo ready >&3; } 2>/dev/null
exec 3>&- 2>/dev/null
${sleepScript(isolation)}
`,
    { mode: 0o600 },
  );
  const unshare = [isolation.tools.get('unshare') ?? 'unshare', ...unshareArguments(kinds), '/bin/sh', inner];
  writeFileSync(
    outer,
    `${claimScript(io.claim)}\n{ ${plan.joinScript}\n} 2>/dev/null\nexec 2>> ${shellQuote(io.stderr)}\nexec ${shellWords(unshare)}\n`,
    { mode: 0o600 },
  );
  const child = await spawnShell(outer);
  const exited = new Promise<void>((resolve) => {
    child.once('exit', () => resolve());
  });
  const line = await firstLine(child, exited);
  const found = line === 'ready' ? holderProcess(plan.ioDirectory, kinds) : undefined;
  if (!found) {
    killHolder(plan.ioDirectory, kinds);
    throw new Error(`the pod's namespaces could not be made: ${startErrorOf(plan.ioDirectory)}`);
  }
  return { process: found, exited };
};

/** Pid 1 of the pod, or the process that keeps the other namespaces if the pod shares the node's processes. */
const holderProcess = (ioDirectory: string, kinds: ReadonlySet<NamespaceKind>): ProcessId | undefined => {
  const claim = claimOf(ioDirectory);
  if (typeof claim === 'string' || processId(claim.pid)?.startTime !== claim.startTime) return undefined;
  if (!kinds.has('pid')) return claim;
  const [child] = childrenOf(claim.pid);
  return child === undefined ? undefined : processId(child);
};

/** Kills the holder of a sandbox that may be incomplete. All processes in its pid namespace end with it. */
export const killHolder = (ioDirectory: string, kinds: ReadonlySet<NamespaceKind>): void => {
  const claim = claimOf(ioDirectory);
  const holder = holderProcess(ioDirectory, kinds);
  if (holder) signalProcess(holder, 'SIGKILL');
  if (typeof claim !== 'string') signalProcess(claim, 'SIGKILL');
};
