import type { JournalEntry } from '../../model/journal/journal.js';
import { callText, slowCallText } from '../../model/journal/call-text.js';
import { formatPod } from '../../model/pod/pod.js';
import { plainDuration } from '../../model/values/plain-duration.js';
import { fullName } from './find-pod.js';
import { firstLine } from './first-line.js';

/** The effect of a successful call, for calls with an effect. */
const EFFECTS: Readonly<Record<string, string>> = {
  RunPodSandbox: 'created the sandbox',
  StopPodSandbox: 'stopped the sandbox',
  RemovePodSandbox: 'removed the sandbox',
  StartContainer: 'started',
  StopContainer: 'stopped',
  UpdateContainerResources: 'gave other amounts of CPU or memory to',
  PullImage: 'pulled the image of',
};

const VOLUME_STEPS = {
  mount: { effect: 'mounted', attempt: 'mounting' },
  update: { effect: 'updated', attempt: 'updating' },
  unmount: { effect: 'unmounted', attempt: 'unmounting' },
} as const;

const CONFIG_OPS = {
  ADD: 'was added',
  UPDATE: 'was changed',
  DELETE: 'is to be deleted',
  REMOVE: 'was removed',
  RECONCILE: 'had an outdated status in the API',
  REFRESH: 'was synced for a change of its ConfigMaps or Secrets',
} as const;

/** Describes one entry in plain words; undefined for an entry that explains nothing by itself. */
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
      return problemText(entry);
    case 'config-recovered':
      return `${placeText(entry)} can be used again`;
    case 'runtime-changed':
      return describeChange(entry, container);
    case 'runtime-health':
      return entry.healthy ? 'the runtime works again' : `the runtime does not work: ${entry.message ?? 'no message'}`;
    case 'probe': {
      const verdict = entry.result === 'success' ? 'succeeded' : 'failed';
      const output = firstLine(entry.output ?? '');
      return `the ${entry.probe} probe of ${container} ${verdict}${output && `: ${output}`}`;
    }
    case 'kill-requested':
      return `a stop was requested${graceText(entry.graceSeconds)}: ${entry.reason}`;
    case 'housekeeping':
      return `housekeeping found: ${entry.finding}`;
    case 'admission-rejected':
      return `the pod was rejected: ${rejectionText(entry)}`;
    case 'room-awaited':
      return `${entry.missing === undefined ? '' : `the node lacks ${entry.missing} for it, and `}it waits until the pods have stopped that make room: ${entry.pods.map(formatPod).join(', ')}`;
    case 'resize':
      return entry.decision === 'allocated'
        ? 'the pod asked for other amounts of CPU or memory, and the node has room for them'
        : `the pod asked for other amounts of CPU or memory, which ${entry.decision === 'deferred' ? 'wait' : 'it cannot get'}: ${entry.message ?? 'no message'}`;
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
      return actions.length === 0 ? undefined : actionsText(actions);
    }
    case 'back-off':
      return entry.subject === 'restart'
        ? `the restart of ${container} was put off by ${plainDuration(entry.delayMs)}${entry.from === 'runtime' ? ', derived from its containers in the runtime' : ''}`
        : `pulling the image of ${container} again was put off by ${plainDuration(entry.delayMs)}`;
    case 'back-off-unknown':
      return `${container} starts again without a wait: it was restarted ${countText(entry.restarts)} before, but neither the runtime nor the agent knows when it ended`;
    case 'end-not-counted':
      return `${container} starts without a wait: its end${entry.exitCode === undefined ? '' : ` with exit code ${entry.exitCode}`} ${entry.because}`;
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
    case 'volume': {
      const { effect, attempt } = VOLUME_STEPS[entry.step];
      return entry.error === undefined
        ? `${effect} the volume ${entry.volume}`
        : `${attempt} the volume ${entry.volume} failed: ${entry.error}`;
    }
    case 'event':
      return undefined;
    case 'phase':
      return `the phase became ${entry.to}${entry.reason ? ` (${entry.reason})` : ''}`;
    case 'sync-ended':
      return entry.error === undefined ? undefined : `${WORK[entry.work]} failed: ${entry.error}`;
    case 'work-due':
      return 'another check of the pod was due';
    case 'forgotten':
      return 'the pod had been cleaned up';
    default:
      // A journal of a newer version may hold kinds that this version does not know.
      return undefined;
  }
};

const countText = (count: number): string => (count === 1 ? 'once' : `${count} times`);

const WORK = { sync: 'a sync', terminating: 'stopping', terminated: 'cleaning up' } as const;

export const placeText = ({ source, from }: { readonly source: string; readonly from?: string }): string =>
  from === undefined ? `the source ${source}` : `${source === 'http' ? 'URL' : source} ${from}`;

/** The text of a problem of a source as a whole names the source itself. */
export const problemText = (entry: Extract<JournalEntry, { kind: 'config-problem' }>): string =>
  entry.from === undefined ? entry.problem : `${placeText(entry)} cannot be used: ${entry.problem}`;

export const rejectionText = ({
  reason,
  message,
  detail,
}: Extract<JournalEntry, { kind: 'admission-rejected' }>): string =>
  `${reason}: ${message}${detail === undefined ? '' : ` (${detail})`}`;

/** The characters of a container's or sandbox's id that identify it. */
export const withShortIds = (text: string): string => text.replace(/\b([0-9a-f]{12})[0-9a-f]{52}\b/g, '$1');

export const endText = (exit: { readonly exitCode?: number; readonly reason?: string }): string => {
  const reason = exit.reason && exit.reason !== 'Error' && exit.reason !== 'Completed' ? ` (${exit.reason})` : '';
  return exit.exitCode === undefined ? `ended${reason}` : `ended with exit code ${exit.exitCode}${reason}`;
};

const graceText = (seconds: number | undefined): string =>
  seconds === undefined || !Number.isFinite(seconds) ? '' : ` with a grace period of ${seconds} s`;

const describeChange = (
  entry: Extract<JournalEntry, { kind: 'runtime-changed' }>,
  container: string,
): string | undefined => {
  switch (entry.change) {
    case 'ContainerStarted':
      return `the runtime reported that ${container} runs`;
    case 'ContainerDied':
      return `${container} ${endText(entry)}`;
    case 'ContainerRemoved':
    case 'ContainerChanged':
    case 'PodSync':
    default:
      return undefined;
  }
};

type Actions = Extract<JournalEntry, { kind: 'actions' }>['actions'];

/** Joins actions of the same cause into one phrase. */
const actionsText = (actions: Actions): string => {
  const groups: { readonly texts: string[]; readonly because: string }[] = [];
  for (const { action, container, because } of actions) {
    const last = groups.at(-1);
    if (last?.because === because) last.texts.push(actionText(action, container));
    else groups.push({ texts: [actionText(action, container)], because });
  }
  return groups.map(({ texts, because }) => `${texts.join(' and ')}: ${because}`).join('; ');
};

const actionText = (action: string, container: string | undefined): string => {
  const object = container === undefined ? '' : ` ${container}`;
  switch (action) {
    case 'create-sandbox':
      return 'a sandbox had to be created';
    case 'kill-pod':
      return 'the whole pod had to be stopped';
    case 'kill':
      return `it had to stop${object}`;
    case 'reset':
      return `it had to reset${object}`;
    default:
      return `it had to start${object}`;
  }
};
