import { type JournalEntry } from '../../model/journal/journal.js';
import type {
  Container,
  ContainerState,
  ContainerStatus,
  EphemeralContainer,
  Pod,
  PodSpec,
} from '../../model/pod/pod.js';
import { shortAge } from '../screen/pod-row.js';
import { textTable } from '../screen/text-table.js';

export interface Description {
  readonly pod: Pod;
  /** The one container that is described; absent for all. */
  readonly container?: string;
  /** The entries of the journal. */
  readonly entries: readonly JournalEntry[];
  /** The lines of `why` for the pod. */
  readonly why: readonly string[];
  /** Unix milliseconds. */
  readonly now: number;
}

const NONE = '<none>';

/** `key:` and its value, which begins at a fixed column; further values are below the first. */
const field = (depth: number, key: string, values: string | readonly string[]): readonly string[] => {
  const indent = ' '.repeat(depth);
  const [first = NONE, ...others] = typeof values === 'string' ? [values] : values;
  const column = 18 - Math.min(depth, 4);
  const at = (text: string): string => (text.length < column ? text.padEnd(column) : `${text} `);
  return [`${indent}${at(`${key}:`)}${first}`, ...others.map((value) => `${indent}${' '.repeat(column)}${value}`)];
};

const given = (depth: number, key: string, value: string | undefined): readonly string[] =>
  value ? field(depth, key, value) : [];

const pairs = (record: Readonly<Record<string, string>> | undefined, join: string): readonly string[] =>
  Object.entries(record ?? {})
    .toSorted(([a], [b]) => (a < b ? -1 : 1))
    .map(([key, value]) => `${key}${join}${value}`);

/**
 * Returns the lines of a pod as kubectl describes it, with the reason of the agent at the end.
 *
 * Source: staging/src/k8s.io/kubectl/pkg/describe/describe.go describePod
 */
export const describePod = ({ pod, container, entries, why, now }: Description): readonly string[] => {
  const { metadata, spec, status } = pod;
  const meant = <T extends { readonly name: string }>(list: readonly T[] | undefined): readonly T[] =>
    (list ?? []).filter(({ name }) => container === undefined || name === container);
  return [
    ...field(0, 'Name', metadata.name),
    ...field(0, 'Namespace', metadata.namespace),
    ...field(0, 'UID', metadata.uid),
    ...(spec.priority === undefined ? [] : field(0, 'Priority', String(spec.priority))),
    ...field(0, 'Node', spec.nodeName ?? NONE),
    ...field(0, 'Start Time', status?.startTime ?? NONE),
    ...field(0, 'Labels', pairs(metadata.labels, '=')),
    ...field(0, 'Annotations', pairs(metadata.annotations, ': ')),
    ...field(0, 'Status', metadata.deletionTimestamp === undefined ? (status?.phase ?? 'Unknown') : 'Terminating'),
    ...given(0, 'Reason', status?.reason),
    ...given(0, 'Message', status?.message),
    ...field(0, 'IP', status?.podIP ?? ''),
    ...field(0, 'IPs', status?.podIPs?.map(({ ip }) => ip ?? '') ?? []),
    ...containerList('Init Containers', meant(spec.initContainers), status?.initContainerStatuses),
    ...containerList('Containers', meant(spec.containers), status?.containerStatuses),
    ...containerList('Ephemeral Containers', meant(spec.ephemeralContainers), status?.ephemeralContainerStatuses),
    'Conditions:',
    ...indented(
      textTable([
        ['Type', 'Status', 'Reason'],
        ...(status?.conditions ?? []).map((one) => [one.type, one.status, one.reason ?? '']),
      ]),
    ),
    ...volumeList(spec),
    ...field(0, 'QoS Class', status?.qosClass ?? NONE),
    ...field(0, 'Node-Selectors', pairs(spec.nodeSelector, '=')),
    ...eventList(entries, pod, now),
    'Why:',
    ...why.map((line) => `  ${line}`),
  ];
};

const indented = (text: string): readonly string[] => text.split('\n').map((line) => `  ${line}`);

const containerList = (
  title: string,
  containers: readonly (Container | EphemeralContainer)[],
  statuses: readonly ContainerStatus[] | undefined,
): readonly string[] =>
  containers.length === 0
    ? []
    : [
        `${title}:`,
        ...containers.flatMap((container) =>
          containerLines(
            container,
            statuses?.find(({ name }) => name === container.name),
          ),
        ),
      ];

const containerLines = (
  container: Container | EphemeralContainer,
  status: ContainerStatus | undefined,
): readonly string[] => [
  `  ${container.name}:`,
  ...field(4, 'Container ID', status?.containerID ?? ''),
  ...field(4, 'Image', container.image ?? ''),
  ...field(4, 'Image ID', status?.imageID ?? ''),
  ...field(
    4,
    'Ports',
    (container.ports ?? []).map(({ containerPort, protocol, name }) =>
      [`${containerPort}/${protocol ?? 'TCP'}`, ...(name ? [`(${name})`] : [])].join(' '),
    ),
  ),
  ...(container.command ? field(4, 'Command', container.command.map(oneLine)) : []),
  ...(container.args ? field(4, 'Args', container.args.map(oneLine)) : []),
  ...stateLines('State', status?.state),
  ...(status?.lastState?.terminated ? stateLines('Last State', status.lastState) : []),
  ...field(4, 'Ready', status?.ready ? 'True' : 'False'),
  ...field(4, 'Restart Count', String(status?.restartCount ?? 0)),
  ...amounts('Limits', container.resources?.limits),
  ...amounts('Requests', container.resources?.requests),
  ...field(4, 'Environment', (container.env ?? []).map(variable)),
  ...field(
    4,
    'Mounts',
    (container.volumeMounts ?? []).map(
      ({ mountPath, name, readOnly }) => `${mountPath} from ${name} (${readOnly ? 'ro' : 'rw'})`,
    ),
  ),
];

const oneLine = (text: string): string => text.replaceAll('\n', '\\n');

const stateLines = (title: string, state: ContainerState | undefined): readonly string[] => {
  const { running, waiting, terminated } = state ?? {};
  if (running) return [...field(4, title, 'Running'), ...given(6, 'Started', running.startedAt)];
  if (terminated) {
    return [
      ...field(4, title, 'Terminated'),
      ...given(6, 'Reason', terminated.reason),
      ...given(6, 'Message', terminated.message && oneLine(terminated.message)),
      ...field(6, 'Exit Code', String(terminated.exitCode)),
      ...(terminated.signal ? field(6, 'Signal', String(terminated.signal)) : []),
      ...given(6, 'Started', terminated.startedAt),
      ...given(6, 'Finished', terminated.finishedAt),
    ];
  }
  return [
    ...field(4, title, 'Waiting'),
    ...given(6, 'Reason', waiting?.reason),
    ...given(6, 'Message', waiting?.message && oneLine(waiting.message)),
  ];
};

const amounts = (title: string, record: Readonly<Record<string, string>> | undefined): readonly string[] =>
  record && Object.keys(record).length > 0 ? field(4, title, pairs(record, ': ')) : [];

const variable = ({ name, value, valueFrom }: NonNullable<Container['env']>[number]): string => {
  const { secretKeyRef: secret, configMapKeyRef: map, fieldRef, resourceFieldRef } = valueFrom ?? {};
  if (secret) return `${name}: <set to the key '${secret.key}' in secret '${secret.name}'>`;
  if (map) return `${name}: <set to the key '${map.key}' of config map '${map.name}'>`;
  if (fieldRef) return `${name}: (${fieldRef.apiVersion ?? 'v1'}:${fieldRef.fieldPath})`;
  if (resourceFieldRef) return `${name}: (${resourceFieldRef.resource})`;
  return `${name}: ${oneLine(value ?? '')}`;
};

const volumeList = ({ volumes = [] }: PodSpec): readonly string[] =>
  volumes.length === 0
    ? field(0, 'Volumes', NONE)
    : [
        'Volumes:',
        ...volumes.flatMap(({ name, ...source }) => {
          const [kind = 'unknown', settings = {}] = Object.entries(source)[0] ?? [];
          return [
            `  ${name}:`,
            ...field(4, 'Type', kind),
            ...Object.entries(settings).flatMap(([key, value]) =>
              field(4, key, typeof value === 'string' ? value : JSON.stringify(value)),
            ),
          ];
        }),
      ];

type PodEvent = Extract<JournalEntry, { readonly kind: 'event' }>;

/** Equal events are one line, as the API server counts them. */
const eventList = (entries: readonly JournalEntry[], { metadata }: Pod, now: number): readonly string[] => {
  const groups = new Map<string, PodEvent[]>();
  for (const entry of entries) {
    if (entry.kind !== 'event' || entry.pod?.uid !== metadata.uid) continue;
    const key = JSON.stringify([entry.type, entry.reason, entry.message, entry.container]);
    groups.set(key, [...(groups.get(key) ?? []), entry]);
  }
  const rows = [...groups.values()]
    .toSorted((a, b) => a.at(-1)!.at - b.at(-1)!.at)
    .map((group) => {
      const [first, last] = [group[0]!, group.at(-1)!];
      const age = shortAge(now - last.at);
      const often = group.length === 1 ? '' : ` (x${group.length} over ${shortAge(now - first.at)})`;
      return [last.type, last.reason, `${age}${often}`, 'kubelet', oneLine(last.message)];
    });
  if (rows.length === 0) return field(0, 'Events', NONE);
  return ['Events:', ...indented(textTable([['Type', 'Reason', 'Age', 'From', 'Message'], ...rows]))];
};
