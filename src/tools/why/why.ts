import { callText } from '../../model/journal/call-text.js';
import type { JournalEntry } from '../../model/journal/journal.js';
import { formatPod, isTerminalPhase } from '../../model/pod/pod.js';
import { chainLines } from './chain-lines.js';
import { type ContainerStory, type Held, timeOf } from './container-story.js';
import { endText, placeText, problemText, rejectionText } from './describe-entry.js';
import { firstLine } from './first-line.js';
import { fullName, type KnownPod, nodesIn, podsCalled, podsIn } from './find-pod.js';
import { terminationMessageLines } from './termination-message-lines.js';
import { plainDuration } from '../../model/values/plain-duration.js';
import { openProblems, placeOf, toRepair } from './open-problems.js';
import { type PodStory, storyOf } from './pod-story.js';

export interface Question {
  /** The oldest entry first. */
  readonly entries: readonly JournalEntry[];
  /** A name, with or without the node's name, `name_namespace`, `namespace_name`, `name_namespace(uid)` or a UID. */
  readonly pod: string;
  readonly container?: string;
  /** Unix milliseconds. */
  readonly now: number;
  /** False if it is known that no agent runs, although none has logged its stop. */
  readonly agentRuns?: boolean;
}

/**
 * Returns the explanation of a pod's state as lines of text: the newest state, the next event that it waits for, then
 * the chain of causes, newest first.
 */
export function explainWhy({ entries, pod, container, now, agentRuns = true }: Question): string[] {
  const known = podsIn(entries);
  const called = podsCalled(known, pod, nodesIn(entries));
  const [meant] = called;
  if (!meant) return unknownPod(entries, pod);

  const story = storyOf(entries, meant.ref);
  const scope = container === undefined ? undefined : story.containers.get(container);
  if (container !== undefined && !scope) return unknownContainer(story, container);

  const shown = scope ? [scope] : [...story.containers.values()];
  return [
    ...otherMeanings(meant, called),
    stateText(story, now, agentRuns),
    ...(story.forgotten
      ? []
      : shown.flatMap((one) => [
          `  ${containerText(one, now)}`,
          ...terminationMessageLines(one).map((line) => `    ${line}`),
        ])),
    ...(story.forgotten ? [] : volumeLines(story, now)),
    ...(story.unapplied && !story.forgotten ? [`  mind: ${story.unapplied.message}`] : []),
    ...problemLines(story, now),
    `next: ${nextText(story, shown, now, agentRuns)}`,
    ...chainLines(entries, story, scope, now),
  ];
}

/** The volumes that are not as they should be, and the reasons. */
const volumeLines = ({ volumes }: PodStory, now: number): string[] =>
  [...volumes].map(([name, { first, last }]) => {
    const state = { mount: 'is not mounted', update: 'is not up to date', unmount: 'is not unmounted' }[last.step];
    return `  the volume ${name} ${state} for ${plainDuration(now - first.at)}: ${last.error}`;
  });

/** The error for an unknown pod: lists the known pods and a likely cause. */
export const unknownPod = (entries: readonly JournalEntry[], pod: string): string[] => {
  const names = [...new Set(podsIn(entries).map(({ ref }) => fullName(ref)))].toSorted();
  const open = openProblems(entries);
  return [
    `no pod "${pod}" in the journal`,
    names.length === 0 ? 'it knows no pod yet' : `pods it knows: ${names.join(', ')}`,
    ...[...open.values()].flatMap(toRepair).map(problemText),
  ];
};

const unknownContainer = ({ ref, containers }: PodStory, container: string): string[] => [
  `the journal has nothing on a container "${container}" of ${fullName(ref)}`,
  containers.size === 0 ? 'it knows no container of that pod yet' : `it knows: ${[...containers.keys()].join(', ')}`,
];

const otherMeanings = (meant: KnownPod, called: readonly KnownPod[]): string[] => {
  const others = [...new Set(called.map(({ ref }) => fullName(ref)))].filter((name) => name !== fullName(meant.ref));
  return others.length === 0
    ? []
    : [`(several pods have this name; this is ${fullName(meant.ref)}, not ${others.join(', ')})`];
};

/** The problems to repair if the pod stays unchanged; the likely reason if no source has a removed pod. */
const problemLines = (story: PodStory, now: number): string[] =>
  [...story.problems].flatMap(([place, problems]) => {
    if (story.keptBy.has(place)) {
      return toRepair(problems).map(
        (problem) =>
          `  unchanged: ${placeText(problem)} cannot be used since ${plainDuration(now - problem.at)}: ${problem.problem}`,
      );
    }
    return story.isWanted ? [] : toRepair(problems).map((problem) => `  ${problemText(problem)}`);
  });

/** No source of the agent has it: it was removed while no agent ran. */
const isAbsent = ({ isWanted, config, heard, work, stopAsked, forgotten }: PodStory): boolean =>
  !isWanted && !work && !stopAsked && !forgotten && config !== undefined && heard.has(config.source);

const stateText = (story: PodStory, now: number, agentRuns: boolean): string => {
  const name = fullName(story.ref);
  const since = (entry: JournalEntry) => `for ${plainDuration(now - entry.at)}`;
  const ago = (entry: JournalEntry) => `${plainDuration(now - entry.at)} ago`;
  const { forgotten, rejected, delayed, work, stopped, stopAsked, comesBack, phase, config, agent } = story;
  const adopted = knownBefore(story, agentRuns);
  if (isAbsent(story)) {
    return `${name} is not wanted any more: the agent that started ${agent ? ago(agent) : 'since'} found it in no manifest of the source ${config?.source}`;
  }
  if (forgotten) return `${name} is gone ${since(forgotten)}`;
  if (delayed)
    return `${name} waits ${since(config ?? delayed)} until ${formatPod(delayed.holder)} has released the name`;
  if (rejected) return `${name} was rejected ${ago(rejected)}: ${rejectionText(rejected)}`;
  if (work?.work === 'terminating') return `${name} is being stopped ${since(work)}${adopted}`;
  if (comesBack) return `${name} is stopped and comes back: it was added again ${ago(comesBack)}${adopted}`;
  const ended = phase && isTerminalPhase(phase.to) ? phaseText(phase, since(phase)) : undefined;
  if (ended !== undefined) return `${name} ${ended}${adopted}`;
  if (stopped) return `${name} has been stopped ${ago(stopped)}${adopted}`;
  if (stopAsked) return `${name} has to stop ${since(stopAsked)}${adopted}`;
  if (phase) return `${name} ${phaseText(phase, since(phase))}${adopted}`;
  return config ? `${name} is known ${since(config)} and has no phase yet` : `${name} has no phase yet`;
};

/** The state is as old as the agent's last entry. */
const knownBefore = ({ agentStopped, beforeRestart }: PodStory, agentRuns: boolean): string => {
  if (agentStopped) return ', as the agent knew it when it stopped';
  if (!agentRuns) return ', as the agent knew it last';
  return beforeRestart ? ', as the agent knew it before its restart' : '';
};

const phaseText = ({ to, reason }: Extract<JournalEntry, { kind: 'phase' }>, since: string): string =>
  `is ${to} ${since}${reason ? ` (${reason})` : ''}`;

const containerText = (
  { name, started, died, deaths, backOff, failure, held }: ContainerStory,
  now: number,
): string => {
  const restarts =
    deaths.length === 0 ? '' : `, ended ${deaths.length} ${deaths.length === 1 ? 'time' : 'times'} before`;
  if (started) {
    return `${name} runs for ${plainDuration(now - timeOf(started))}${restarts}${held ? heldText(held, now) : ''}`;
  }
  if (failure && failure.at >= (died ? timeOf(died) : 0)) {
    return `${name} cannot start: ${callText(failure)} failed ${plainDuration(now - failure.at)} ago: ${failure.error ?? ''}`;
  }
  if (died) {
    const looping = backOff?.subject === 'restart' ? ' and waits to be started again (CrashLoopBackOff)' : '';
    return `${name} ${endText(died)} ${plainDuration(now - timeOf(died))} ago${looping}`;
  }
  // The back-off of an earlier pod with this UID goes on, whose containers are still in the runtime.
  if (backOff?.subject === 'restart') return `${name} waits to be started again (CrashLoopBackOff)`;
  return deaths.length > 0 ? `${name} does not run` : `${name} has not started yet`;
};

const heldText = ({ probe, since, message }: Held, now: number): string => {
  const what = probe === 'startup' ? 'has not started' : 'is not ready';
  const why = firstLine(message);
  return `, ${what}: its ${probe} probe fails since ${plainDuration(now - since)}${why && `: ${why}`}`;
};

const nextText = (story: PodStory, containers: readonly ContainerStory[], now: number, agentRuns: boolean): string => {
  const { agent, agentStopped, forgotten, unhealthy, work, slow, delayed, awaited, ended, beforeRestart, config } =
    story;
  // An entry of a later time than now is from before the clock was set back: a wait takes no longer than it did then.
  const leftMs = (at: number, entry: JournalEntry) => at - Math.max(now, entry.at);
  const inTime = (at: number, entry: JournalEntry) => {
    const left = leftMs(at, entry);
    return left > 0 ? `in ${plainDuration(left)}` : 'now';
  };
  if (forgotten) return 'nothing: the pod is gone';
  if (agentStopped) return `nothing until the agent runs again; it stopped ${plainDuration(now - agentStopped.at)} ago`;
  if (!agentRuns) return 'nothing until the agent runs again; it does not run, and has not logged a stop';
  if (isAbsent(story)) return 'nothing: no source wants the pod';
  if (story.rejected) {
    const again =
      config?.source === 'api' ? 'delete it and create it again' : 'change it, or remove it and add it again';
    return `nothing: a rejected pod is not tried again (${again})`;
  }
  if (unhealthy) return `waits for the runtime: ${unhealthy.message ?? 'it is not healthy'}`;
  if (delayed) return `another check ${inTime(delayed.retryAt, delayed)}`;
  if (work && slow) return slowText(slow, now);
  if (awaited)
    return `waits until the pods have stopped that make room for it: ${awaited.pods.map(formatPod).join(', ')}`;
  if (work?.work === 'terminating' && work.graceSeconds !== undefined && Number.isFinite(work.graceSeconds)) {
    const left = leftMs(work.at + work.graceSeconds * 1000, work);
    return left > 0
      ? `running containers are killed in ${plainDuration(left)}, at the end of its ${work.graceSeconds} s of grace`
      : `running containers are being killed: its ${work.graceSeconds} s of grace are over`;
  }
  if (work) {
    return `the end of ${WORK[work.work]}, which takes ${plainDuration(now - work.at)} so far`;
  }
  const waits = containers
    .flatMap(({ name, backOff }) => (backOff ? [{ name, backOff }] : []))
    .toSorted((a, b) => a.backOff.until - b.backOff.until);
  if (waits.length > 0)
    return waits.map(({ name, backOff }) => backOffText(name, backOff, inTime(backOff.until, backOff))).join('; ');
  if (story.comesBack) return 'it is started again when it has been cleaned up';
  if (!ended) {
    const failed = config && !story.isWanted ? (story.problems.get(placeOf({ source: config.source })) ?? []) : [];
    if (failed.length > 0)
      return `waits until its source can be read: ${failed.map(({ problem }) => problem).join('; ')}`;
    return beforeRestart && agent
      ? `the first check by the agent that started ${plainDuration(now - agent.at)} ago`
      : 'its first sync';
  }
  switch (ended.next.kind) {
    case 'now':
      return 'another sync at once';
    case 'resync':
      return `routine sync ${inTime(ended.next.dueAt, ended)}`;
    case 'retry':
      return `another try ${inTime(ended.next.dueAt, ended)}: ${ended.next.reason}`;
    case 'nothing':
      return `nothing: ${ended.next.reason}`;
  }
};

/** Names the pending call, since the worker of the pod can do nothing until it returns. */
const slowText = (slow: Extract<JournalEntry, { kind: 'call-slow' }>, now: number): string => {
  const duration = plainDuration(slow.waitedMs + now - slow.at);
  if (slow.call === undefined) return `the runtime has to return the state of the pod, which takes ${duration} so far`;
  return `the end of ${callText({ ...slow, call: slow.call })}, which takes ${duration} so far`;
};

const WORK = { sync: 'a sync', terminating: 'stopping it', terminated: 'cleaning up' } as const;

const backOffText = (name: string, wait: Extract<JournalEntry, { kind: 'back-off' }>, when: string): string => {
  const step = `back-off step ${wait.step} of ${wait.steps}`;
  if (wait.subject === 'image-pull') return `pull of the image of ${name} ${when}: ${step}`;
  const after = wait.exitCode === undefined ? '' : ` after exit code ${wait.exitCode}`;
  return `restart of ${name} ${when}: ${step}${after}; resets after ${plainDuration(wait.resetAfterMs)} of running`;
};
