import type { JournalEntry } from '../journal.js';
import { formatPod } from '../pod.js';
import { fullName } from './find-pod.js';
import { firstLine } from './first-line.js';
import { plainDuration } from './plain-duration.js';

/** The change of the world that a successful call makes, for those calls that make one. */
const EFFECTS: Readonly<Record<string, string>> = {
  RunPodSandbox: 'created the sandbox',
  StopPodSandbox: 'stopped the sandbox',
  RemovePodSandbox: 'removed the sandbox',
  StartContainer: 'started',
  StopContainer: 'stopped',
  PullImage: 'pulled the image of',
};

const CONFIG_OPS = {
  ADD: 'was added',
  UPDATE: 'was changed',
  DELETE: 'is to be deleted',
  REMOVE: 'was removed',
  RECONCILE: 'was reported differently than it is',
} as const;

/** One entry in plain words, or nothing for one that explains nothing by itself. */
export const describeEntry = (entry: JournalEntry): string | undefined => {
  const container = entry.container ?? (entry.kind === 'runtime-changed' ? 'the sandbox' : 'a container');
  switch (entry.kind) {
    case 'agent-started':
      return `the agent ${entry.version} started`;
    case 'agent-stopping':
      return `the agent stopped: ${entry.reason}`;
    case 'entries-dropped':
      return `${entry.count} journal entries are missing here: the journal could not be written`;
    case 'config':
      return `the pod ${CONFIG_OPS[entry.op]} by ${placeText(entry)}`;
    case 'config-problem':
      return `${placeText(entry)} cannot be used: ${entry.problem}`;
    case 'config-recovered':
      return `${placeText(entry)} can be used again`;
    case 'runtime-changed':
      return describeChange(entry, container);
    case 'runtime-health':
      return entry.healthy ? 'the runtime works again' : `the runtime does not work: ${entry.message ?? 'no message'}`;
    case 'probe': {
      const verdict = entry.result === 'success' ? 'succeeded' : 'failed';
      const heard = firstLine(entry.output ?? '');
      return `the ${entry.probe} probe of ${container} ${verdict}${heard && `: ${heard}`}`;
    }
    case 'kill-requested':
      return `a stop was asked for${graceText(entry.graceSeconds)}: ${entry.reason}`;
    case 'housekeeping':
      return `housekeeping found: ${entry.finding}`;
    case 'admission-rejected':
      return `the pod was rejected: ${entry.reason}: ${entry.message}`;
    case 'start-delayed':
      return `it could not start: ${formatPod(entry.holder)} holds the name ${fullName(entry.holder)}`;
    case 'sync-started':
      return entry.work === 'sync'
        ? `a sync began because of ${entry.trigger}`
        : entry.work === 'terminating'
          ? `stopping began${graceText(entry.graceSeconds)}`
          : 'cleaning up began';
    case 'actions': {
      const actions = entry.actions.filter(({ action }) => action !== 'keep');
      return actions.length === 0
        ? undefined
        : actions.map(({ action, container: name, because }) => `${actionText(action, name)}: ${because}`).join('; ');
    }
    case 'back-off':
      return entry.subject === 'restart'
        ? `the restart of ${container} was put off by ${plainDuration(entry.delayMs)}`
        : `pulling the image of ${container} again was put off by ${plainDuration(entry.delayMs)}`;
    case 'call': {
      const subject = entry.container ?? (entry.call === 'PullImage' ? 'a container' : '');
      if (entry.error !== undefined) return `${callText(entry)} failed: ${entry.error}`;
      const effect = EFFECTS[entry.call];
      return effect === undefined ? undefined : `${effect} ${effect.includes('sandbox') ? '' : subject}`.trimEnd();
    }
    case 'call-slow':
      return slowCallText(
        entry.call === undefined ? undefined : callText({ ...entry, call: entry.call }),
        entry.waitedMs,
      );
    case 'event':
      return undefined;
    case 'phase':
      return `the phase became ${entry.to}${entry.reason ? ` (${entry.reason})` : ''}`;
    case 'sync-ended':
      return entry.error === undefined ? undefined : `${WORK[entry.work]} failed: ${entry.error}`;
    case 'work-due':
      return 'its time for another look had come';
    case 'forgotten':
      return 'everything of the pod had been cleaned up';
    default:
      // A journal of a newer version may hold kinds that this one has never heard of.
      return undefined;
  }
};

const WORK = { sync: 'a sync', terminating: 'stopping', terminated: 'cleaning up' } as const;

export const placeText = ({ source, from }: { readonly source: string; readonly from?: string }): string =>
  from === undefined ? `the source ${source}` : `${source === 'http' ? 'URL' : source} ${from}`;

export const endText = (exit: { readonly exitCode?: number; readonly reason?: string }): string => {
  const reason = exit.reason && exit.reason !== 'Error' && exit.reason !== 'Completed' ? ` (${exit.reason})` : '';
  return exit.exitCode === undefined ? `ended${reason}` : `ended with exit code ${exit.exitCode}${reason}`;
};

/** `call` is left out while the pod is read from the runtime. */
export const slowCallText = (call: string | undefined, waitedMs: number): string =>
  `${call === undefined ? 'the runtime has not told the state of the pod' : `${call} has not come back`} for ${plainDuration(waitedMs)}`;

export const callText = ({
  call,
  target,
  container,
}: {
  readonly call: string;
  readonly target?: string;
  readonly container?: string;
}): string => {
  const object = call.endsWith('Image') ? target : container;
  return object === undefined ? call : `${call} ${object}`;
};

const graceText = (seconds: number | undefined): string =>
  seconds === undefined || !Number.isFinite(seconds) ? '' : ` with a grace period of ${seconds} s`;

const describeChange = (
  entry: Extract<JournalEntry, { kind: 'runtime-changed' }>,
  container: string,
): string | undefined => {
  switch (entry.change) {
    case 'ContainerStarted':
      return `the runtime said that ${container} runs`;
    case 'ContainerDied':
      return `${container} ${endText(entry)}`;
    case 'ContainerRemoved':
    case 'ContainerChanged':
    case 'PodSync':
    default:
      return undefined;
  }
};

const actionText = (action: string, container: string | undefined): string => {
  const object = container === undefined ? '' : ` ${container}`;
  switch (action) {
    case 'create-sandbox':
      return 'a sandbox had to be created';
    case 'kill-pod':
      return 'the pod had to be stopped';
    case 'kill':
      return `it had to stop${object}`;
    case 'reset':
      return `it had to reset${object}`;
    default:
      return `it had to start${object}`;
  }
};
