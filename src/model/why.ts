import type { JournalEntry } from './journal.js';
import { formatPod, isTerminalPhase } from './pod.js';
import { causeChain } from './why/cause-chain.js';
import { callText, describeEntry, endText, placeText } from './why/describe-entry.js';
import { firstLine } from './why/first-line.js';
import { fullName, type KnownPod, nodesIn, podsCalled, podsIn } from './why/find-pod.js';
import { lastWords } from './why/last-words.js';
import { plainDuration } from './why/plain-duration.js';
import { type ContainerStory, type Held, type PodStory, storyOf } from './why/pod-story.js';

export interface Question {
  /** Oldest first. */
  readonly entries: readonly JournalEntry[];
  /** A name, with or without the node's, `name_namespace`, `namespace_name`, `name_namespace(uid)` or a UID. */
  readonly pod: string;
  readonly container?: string;
  /** Unix milliseconds. */
  readonly now: number;
}

/**
 * Why a pod is in the state that it is in, as lines of text: the newest state, what it waits for next, then the chain of
 * causes, newest first.
 */
export function explainWhy({ entries, pod, container, now }: Question): string[] {
  const known = podsIn(entries);
  const called = podsCalled(known, pod, nodesIn(entries));
  const [meant] = called;
  if (!meant) return unknownPod(entries, pod);

  const story = storyOf(entries, meant.ref);
  const scope = container === undefined ? undefined : story.containers.get(container);
  if (container !== undefined && !scope) return unknownContainer(story, container);

  const tellers = scope ? [scope] : [...story.containers.values()];
  return [
    ...otherMeanings(meant, called),
    stateText(story, now),
    ...(story.forgotten
      ? []
      : tellers.flatMap((told) => [`  ${containerText(told, now)}`, ...lastWords(told).map((line) => `    ${line}`)])),
    ...[...story.problems.values()].map(
      (problem) =>
        `  left as it is: ${placeText(problem)} cannot be used since ${plainDuration(now - problem.at)}: ${problem.problem}`,
    ),
    `next: ${nextText(story, tellers, now)}`,
    ...chainText(entries, story, scope, now),
  ];
}

/** That the entries do not know such a pod, which ones they know, and what may be why. */
export const unknownPod = (entries: readonly JournalEntry[], pod: string): string[] => {
  const names = [...new Set(podsIn(entries).map(({ ref }) => fullName(ref)))].toSorted();
  const open = new Map<string, Extract<JournalEntry, { kind: 'config-problem' }>>();
  for (const entry of entries) {
    if (entry.kind === 'agent-started') open.clear();
    if (entry.kind === 'config-problem') open.set(placeText(entry), entry);
    if (entry.kind === 'config-recovered' || entry.kind === 'config') open.delete(placeText(entry));
  }
  return [
    `no pod "${pod}" in the journal`,
    names.length === 0 ? 'it knows no pod yet' : `pods it knows: ${names.join(', ')}`,
    ...[...open.values()].map((problem) => `${placeText(problem)} cannot be used: ${problem.problem}`),
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
    : [`(several pods are called so; this is ${fullName(meant.ref)}, not ${others.join(', ')})`];
};

const stateText = (story: PodStory, now: number): string => {
  const name = fullName(story.ref);
  const since = (entry: JournalEntry) => `for ${plainDuration(now - entry.at)}`;
  const ago = (entry: JournalEntry) => `${plainDuration(now - entry.at)} ago`;
  const { forgotten, rejected, delayed, work, stopped, stopAsked, phase, beforeRestart, config } = story;
  if (forgotten) return `${name} is gone ${since(forgotten)}`;
  if (delayed)
    return `${name} waits ${since(config ?? delayed)} until ${formatPod(delayed.holder)} has let go of the name`;
  if (rejected) return `${name} was rejected ${ago(rejected)}: ${rejected.reason}: ${rejected.message}`;
  if (work?.work === 'terminating') return `${name} is being stopped ${since(work)}`;
  const ended = phase && isTerminalPhase(phase.to) ? phaseText(phase, since(phase)) : undefined;
  if (ended !== undefined) return `${name} ${ended}`;
  if (stopped) return `${name} has been stopped ${ago(stopped)}`;
  if (stopAsked) return `${name} is to be stopped ${since(stopAsked)}`;
  const adopted = beforeRestart ? ', as the agent knew it before its restart' : '';
  if (phase) return `${name} ${phaseText(phase, since(phase))}${adopted}`;
  return config ? `${name} is known ${since(config)} and has no phase yet` : `${name} has no phase yet`;
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
    return `${name} runs for ${plainDuration(now - started.at)}${restarts}${held ? heldText(held, now) : ''}`;
  }
  if (failure && failure.at >= (died?.at ?? 0)) {
    return `${name} cannot start: ${callText(failure)} failed ${plainDuration(now - failure.at)} ago: ${failure.error ?? ''}`;
  }
  if (died) {
    const looping = backOff?.subject === 'restart' ? ' and waits to be started again (CrashLoopBackOff)' : '';
    return `${name} ${endText(died)} ${plainDuration(now - died.at)} ago${looping}`;
  }
  return `${name} has not started yet`;
};

const heldText = ({ probe, since, message }: Held, now: number): string => {
  const what = probe === 'startup' ? 'has not started' : 'is not ready';
  const why = firstLine(message);
  return `, ${what}: its ${probe} probe fails since ${plainDuration(now - since)}${why && `: ${why}`}`;
};

const nextText = (story: PodStory, containers: readonly ContainerStory[], now: number): string => {
  const { agent, agentStopped, forgotten, unhealthy, work, slow, delayed, ended, beforeRestart } = story;
  const inTime = (at: number) => (at > now ? `in ${plainDuration(at - now)}` : 'now');
  if (forgotten) return 'nothing: the pod is gone';
  if (agentStopped) return `nothing until the agent runs again; it stopped ${plainDuration(now - agentStopped.at)} ago`;
  if (unhealthy) return `waits for the runtime: ${unhealthy.message ?? 'it is not healthy'}`;
  if (delayed) return `another look ${inTime(delayed.retryAt)}`;
  if (work && slow) return slowText(slow, now);
  if (work?.work === 'terminating' && work.graceSeconds !== undefined && Number.isFinite(work.graceSeconds)) {
    const killAt = work.at + work.graceSeconds * 1000;
    return killAt > now
      ? `what still runs is killed in ${plainDuration(killAt - now)}, at the end of its ${work.graceSeconds} s of grace`
      : `what still ran is being killed: its ${work.graceSeconds} s of grace are over`;
  }
  if (work) {
    return `the end of ${WORK[work.work]}, which takes ${plainDuration(now - work.at)} so far`;
  }
  const waits = containers
    .flatMap(({ name, backOff }) => (backOff ? [{ name, backOff }] : []))
    .toSorted((a, b) => a.backOff.until - b.backOff.until);
  if (waits.length > 0)
    return waits.map(({ name, backOff }) => backOffText(name, backOff, inTime(backOff.until))).join('; ');
  if (!ended) {
    return beforeRestart && agent
      ? `a first look at it by the agent that started ${plainDuration(now - agent.at)} ago`
      : 'its first sync';
  }
  switch (ended.next.kind) {
    case 'now':
      return 'another sync at once';
    case 'resync':
      return `routine sync ${inTime(ended.next.dueAt)}`;
    case 'retry':
      return `another try ${inTime(ended.next.dueAt)}: ${ended.next.reason}`;
    case 'nothing':
      return `nothing: ${ended.next.reason}`;
  }
};

/** Names what the runtime is asked for, as the pod's worker can do nothing until it answers. */
const slowText = (slow: Extract<JournalEntry, { kind: 'call-slow' }>, now: number): string => {
  const duration = plainDuration(slow.waitedMs + now - slow.at);
  if (slow.call === undefined) return `the runtime has to tell the state of the pod, asked for ${duration} so far`;
  return `the end of ${callText({ ...slow, call: slow.call })}, which takes ${duration} so far`;
};

const WORK = { sync: 'a sync', terminating: 'stopping it', terminated: 'cleaning up' } as const;

const backOffText = (name: string, wait: Extract<JournalEntry, { kind: 'back-off' }>, when: string): string => {
  const step = `back-off step ${wait.step} of ${wait.steps}`;
  if (wait.subject === 'image-pull') return `pull of the image of ${name} ${when}: ${step}`;
  const after = wait.exitCode === undefined ? '' : ` after exit code ${wait.exitCode}`;
  return `restart of ${name} ${when}: ${step}${after}; resets after ${plainDuration(wait.resetAfterMs)} of running`;
};

const chainText = (
  entries: readonly JournalEntry[],
  story: PodStory,
  scope: ContainerStory | undefined,
  now: number,
): string[] => {
  const lines = causeChain(entries, story, scope).flatMap((entry) => {
    const text = describeEntry(entry);
    // A sync that has causes in the chain is the machinery between two lines, not a reason.
    const isMachinery = entry.kind === 'sync-started' && entry.work === 'sync' && entry.causes.length > 0;
    return text === undefined || isMachinery ? [] : [{ age: `${plainDuration(now - entry.at)} ago`, text }];
  });
  const width = Math.max(0, ...lines.map(({ age }) => age.length));
  const earlier = [...story.containers.values()]
    .filter((told) => (!scope || told === scope) && told.deaths.length > 1)
    .map(({ name, deaths }) => {
      const [first] = deaths;
      return `  ${name} ended ${deaths.length} times in the last ${plainDuration(now - (first?.at ?? now))}`;
    });
  return lines.length === 0
    ? []
    : ['because:', ...lines.map(({ age, text }) => `  ${age.padEnd(width)}  ${text}`), ...earlier];
};
