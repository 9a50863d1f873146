import type { ShutdownSignal } from '../../streams/ports/shutdown-inhibitor.js';

const LOGIND = 'org.freedesktop.login1';
const LOGIND_PATH = '/org/freedesktop/login1';
const LOGIND_MANAGER = `${LOGIND}.Manager`;
const SIGNAL = 'PrepareForShutdown';
const SYSTEMD = 'org.freedesktop.systemd1';
const SIGHUP = '1';

/** The arguments of `busctl` that print the longest delay. */
export const maxDelayArgs: readonly string[] = [
  ...['--system', '--json=short', '--', 'get-property'],
  ...[LOGIND, LOGIND_PATH, LOGIND_MANAGER, 'InhibitDelayMaxUSec'],
];

/** The arguments of `busctl` that let logind read its settings again. */
export const reloadArgs: readonly string[] = [
  ...['--system', '--', 'call', SYSTEMD, '/org/freedesktop/systemd1', `${SYSTEMD}.Manager`],
  ...['KillUnit', 'ssi', 'systemd-logind.service', 'all', SIGHUP],
];

/** The arguments of `busctl` that print the signals of a shutdown, one a line, from the line `WATCHING` of the error output on. */
export const watchArgs: readonly string[] = [
  '--system',
  '--json=short',
  `--match=type='signal',sender='${LOGIND}',path='${LOGIND_PATH}',interface='${LOGIND_MANAGER}',member='${SIGNAL}'`,
  'monitor',
];

/** The line of `busctl` after which it misses no signal. */
export const WATCHING = 'Monitoring bus message stream.';

/**
 * The arguments of `systemd-inhibit` that hold a lock until the input ends. The input is printed as soon as the lock is held.
 *
 * Source: pkg/kubelet/nodeshutdown/systemd/inhibit_linux.go InhibitShutdown
 */
export const lockArgs: readonly string[] = [
  ...['--what=shutdown', '--who=kubelet', '--why=Kubelet needs time to handle node shutdown', '--mode=delay'],
  'cat',
];

/** The settings of logind in a file of their own. Source: pkg/kubelet/nodeshutdown/systemd/inhibit_linux.go OverrideInhibitDelay */
export const delaySettings = (seconds: number): string =>
  `# Written by the kubelet: a shutdown waits until it has stopped its pods.\n[Login]\nInhibitDelayMaxSec=${seconds}\n`;

/** Returns the milliseconds of the printed delay, such as `{"type":"t","data":5000000}`. Errors: another text. */
export const printedDelayMs = (output: string): number => {
  const { data } = JSON.parse(output) as { readonly data?: unknown };
  if (typeof data !== 'number')
    throw new Error(`InhibitDelayMaxUSec is ${output.trim()} (expected a number of microseconds)`);
  return data / 1_000;
};

/** Returns the signal of a printed line; undefined for other messages. Errors: the line is no JSON. */
export const printedSignal = (line: string): ShutdownSignal | undefined => {
  const { type, member, payload } = JSON.parse(line) as {
    readonly type?: unknown;
    readonly member?: unknown;
    readonly payload?: { readonly data?: unknown };
  };
  const begins = Array.isArray(payload?.data) ? (payload.data as readonly unknown[])[0] : undefined;
  if (type !== 'signal' || member !== SIGNAL || typeof begins !== 'boolean') return undefined;
  return begins ? 'shutdown' : 'cancelled';
};
