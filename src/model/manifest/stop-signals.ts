import type { Signal } from '../../generated/runtime/v1/api.js';

type NamedSignal = Exclude<Signal, 'RUNTIME_DEFAULT' | 'UNRECOGNIZED'>;

const PLAIN = [
  ...([
    'SIGABRT',
    'SIGALRM',
    'SIGBUS',
    'SIGCHLD',
    'SIGCLD',
    'SIGCONT',
    'SIGFPE',
    'SIGHUP',
    'SIGILL',
    'SIGINT',
  ] as const),
  ...(['SIGIO', 'SIGIOT', 'SIGKILL', 'SIGPIPE', 'SIGPOLL', 'SIGPROF', 'SIGPWR', 'SIGQUIT', 'SIGSEGV'] as const),
  ...(['SIGSTKFLT', 'SIGSTOP', 'SIGSYS', 'SIGTERM', 'SIGTRAP', 'SIGTSTP', 'SIGTTIN', 'SIGTTOU', 'SIGURG'] as const),
  ...(['SIGUSR1', 'SIGUSR2', 'SIGVTALRM', 'SIGWINCH', 'SIGXCPU', 'SIGXFSZ', 'SIGRTMIN', 'SIGRTMAX'] as const),
] satisfies readonly NamedSignal[];

const upTo = (last: number): readonly number[] => Array.from({ length: last }, (_, index) => index + 1);

/** The names in the API, and in CRI, whose names cannot contain `+` or `-`. */
const NAMES: ReadonlyMap<string, NamedSignal> = new Map([
  ...PLAIN.map((name) => [name, name] as const),
  ...upTo(15).map((n) => [`SIGRTMIN+${n}`, `SIGRTMINPLUS${n}` as NamedSignal] as const),
  ...upTo(14).map((n) => [`SIGRTMAX-${n}`, `SIGRTMAXMINUS${n}` as NamedSignal] as const),
]);
const API_NAMES: ReadonlyMap<string, string> = new Map([...NAMES].map(([name, signal]) => [signal, name]));

/** Every valid stop signal of a container. Source: pkg/apis/core/types.go Signal */
export const isStopSignal = (name: string): boolean => NAMES.has(name);

/** Returns the runtime's default for an unknown signal. */
export const toCriSignal = (name: string | undefined): Signal => NAMES.get(name ?? '') ?? 'RUNTIME_DEFAULT';

/** Undefined if the runtime does not report it. */
export const stopSignalName = (signal: Signal): string | undefined => API_NAMES.get(signal);
