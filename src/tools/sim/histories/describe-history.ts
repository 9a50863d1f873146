import type { Container, Pod, Probe } from '../../../model/pod/pod.js';
import type { Fault } from '../faults/fault.js';
import type { ClusterChange } from './cluster-plan.js';
import type { History, PodPlan } from './history.js';

/**
 * Describes a history as lines of text, in the order of time: the desired pods, the faults, and the behaviour of
 * everything else.
 */
export const describeHistory = (history: History): readonly string[] => {
  const { node, behaviours, cluster, quietFromMs, endMs } = history;
  const { containers = {}, images = {}, ...rest } = behaviours;
  const moments = [
    ...history.pods.flatMap(changesOf),
    ...(history.cluster?.changes ?? []).map(doneByUser),
    ...history.faults.map((fault) => ({ atMs: beginOf(fault), lines: [faultText(fault)] })),
    { atMs: quietFromMs, lines: ['quiet from here on'] },
    { atMs: endMs, lines: ['the end'] },
  ].toSorted((one, other) => one.atMs - other.atMs);
  return [
    `node: ${node.eventedPleg ? 'evented' : 'generic'} PLEG, a sync every ${seconds(node.syncFrequencyMs)}, ` +
      `back-off up to ${seconds(node.maxRestartBackOffMs)}, ${node.parallelPulls} pulls at a time` +
      Object.entries(rest)
        .map(([name, value]) => `, ${name} ${JSON.stringify(value)}`)
        .join(''),
    ...(cluster ? [`API server: ${JSON.stringify({ ...cluster, changes: undefined })}`] : []),
    ...Object.entries(images).map(([name, behaviour]) => `image ${name}: ${JSON.stringify(behaviour)}`),
    ...Object.entries(containers).map(
      ([name, instances]) => `container ${name}: ${instances.map((one) => JSON.stringify(one)).join(', then ')}`,
    ),
    ...moments.flatMap(({ atMs, lines: [first = '', ...more] }) => [
      `${time(atMs)}  ${first}`,
      ...more.map((line) => `${' '.repeat(12)}${line}`),
    ]),
  ];
};

/** The time since the beginning, in a column of ten. */
export const time = (ms: number): string => `${(ms / 1000).toFixed(3)}s`.padStart(10);

const seconds = (ms: number): string => `${ms / 1000} s`;

interface Moment {
  readonly atMs: number;
  readonly lines: readonly string[];
}

const changesOf = ({ source, changes }: PodPlan): readonly Moment[] =>
  changes.map(({ atMs, pod }, index) => {
    const before = changes.slice(0, index).findLast((change) => change.pod)?.pod;
    if (!pod) return { atMs, lines: [`${source} no longer has ${before ? nameOf(before) : 'its pod'}`] };
    if (before && JSON.stringify(before.spec) === JSON.stringify(pod.spec))
      return { atMs, lines: [`${source} wants ${nameOf(pod)}: as before, ${metadataText(pod)}`] };
    return { atMs, lines: [`${source} wants ${nameOf(pod)}: ${specText(pod)}`, ...containerLines(pod)] };
  });

const doneByUser = (change: ClusterChange): Moment => {
  const { atMs } = change;
  switch (change.kind) {
    case 'create': {
      const { metadata, spec } = change.pod;
      const pod: Pod = { metadata: { namespace: 'default', uid: '', ...metadata }, spec };
      return { atMs, lines: [`user creates ${metadata.name}: ${specText(pod)}`, ...containerLines(pod)] };
    }
    case 'patch':
    case 'patch-status':
      return { atMs, lines: [`user changes ${change.pod}: ${JSON.stringify(change.patch)}`] };
    case 'delete': {
      const grace = change.graceSeconds === undefined ? '' : ` within ${change.graceSeconds} s`;
      return { atMs, lines: [`user deletes ${change.pod}${grace}`] };
    }
    case 'delete-node':
      return { atMs, lines: ['user deletes the node'] };
  }
};

const nameOf = ({ metadata: { name, uid } }: Pod): string => `${name} (${uid})`;

const metadataText = ({ metadata: { labels, deletionTimestamp, deletionGracePeriodSeconds } }: Pod): string =>
  deletionTimestamp === undefined
    ? `labels ${JSON.stringify(labels ?? {})}`
    : `to be deleted within ${deletionGracePeriodSeconds} s`;

const specText = ({ spec }: Pod): string =>
  [
    `restarts ${spec.restartPolicy}`,
    `grace ${spec.terminationGracePeriodSeconds} s`,
    ...(spec.activeDeadlineSeconds === undefined ? [] : [`deadline ${spec.activeDeadlineSeconds} s`]),
    ...(spec.hostNetwork ? ['on the network of the node'] : []),
    ...(spec.shareProcessNamespace ? ['processes shared'] : []),
  ].join(', ');

const containerLines = ({ spec: { initContainers = [], containers } }: Pod): readonly string[] => [
  ...initContainers.map((container) => `init ${containerText(container)}`),
  ...containers.map(containerText),
];

const containerText = (container: Container): string => {
  const { name, image, imagePullPolicy, restartPolicy, restartPolicyRules, lifecycle, env } = container;
  return [
    `${name}: ${image} (${imagePullPolicy})`,
    ...(restartPolicy === undefined ? [] : [`restarts ${restartPolicy}`]),
    ...(restartPolicyRules ?? []).map(({ action, exitCodes }) => `${action} on exit ${exitCodes?.values?.join(', ')}`),
    ...(['startup', 'readiness', 'liveness'] as const).flatMap((kind) => {
      const probe = container[`${kind}Probe`];
      return probe ? [`${kind} ${probeText(probe)}`] : [];
    }),
    ...Object.entries(lifecycle ?? {}).map(([hook, handler]) => `${hook} ${JSON.stringify(handler)}`),
    ...(env ?? []).map((variable) => `${variable.name}=${variable.value}`),
  ].join(', ');
};

const probeText = ({ exec, httpGet, tcpSocket, ...probe }: Probe): string => {
  const how = exec ? 'exec' : httpGet ? 'http' : tcpSocket ? 'tcp' : 'grpc';
  const grace = probe.terminationGracePeriodSeconds;
  return (
    `by ${how} every ${probe.periodSeconds} s from ${probe.initialDelaySeconds} s` +
    ` (${probe.successThreshold} up, ${probe.failureThreshold} down, ${probe.timeoutSeconds} s each${grace === undefined ? '' : `, grace ${grace} s`})`
  );
};

const beginOf = (fault: Fault): number => ('fromMs' in fault ? fault.fromMs : 'atMs' in fault ? fault.atMs : 0);

const faultText = (fault: Fault): string => {
  const { kind, ...rest } = fault;
  const more = Object.entries(rest).flatMap(([name, value]) => {
    if (name === 'fromMs' || name === 'atMs') return [];
    if (name === 'untilMs') return [`until ${seconds(value as number)}`];
    return [`${name} ${Array.isArray(value) ? value.join(' ') : String(value)}`];
  });
  return `fault ${kind}: ${more.join(', ')}`;
};
