import type { CgroupUsage } from './cgroup-usage.js';
import { labelText } from './exposition.js';
import type { CgroupSample, MountedFileSystem, NetworkFigures, NodeSample, OpenFiles } from './node-sample.js';
import type { Usage } from './usage.js';

/** The series of one cgroup, or of a container whose runtime has no cgroups. */
export interface CadvisorEntry {
  readonly labels: string;
  readonly timeMs: number;
  readonly cgroup: CgroupUsage | undefined;
  readonly processes: number | undefined;
  readonly openFiles: OpenFiles | undefined;
  /** Completes figures that the cgroup lacks. */
  readonly usage: Usage | undefined;
  readonly network: NetworkFigures | undefined;
  /** Unix milliseconds. */
  readonly startedAtMs: number | undefined;
}

/** The labels of every series, all empty. */
export const BLANK_LABELS = { container: '', id: '', image: '', name: '', namespace: '', pod: '' };

/**
 * The cgroups of the node, its pods, their sandboxes and their containers, each with its figures. The network of a pod is that of its
 * sandbox, which is a cgroup of its own in most runtimes; else that of the pod.
 */
export const cadvisorEntries = ({ groups, node, pods, fileSystems }: NodeSample): readonly CadvisorEntry[] => [
  ...groups.map((group) =>
    entryOf({ id: group.id }, group, {
      ...(group.id === '/' && {
        usage: node.usage,
        network: node.network,
        startedAtMs: node.bootedAtMs,
        cgroup: rootUsage(group, node.usage, fileSystems),
      }),
    }),
  ),
  ...pods.flatMap((pod): readonly CadvisorEntry[] => {
    const { name, namespace } = pod.ref;
    const ofPod = { namespace, pod: name };
    const timed = { startedAtMs: pod.startedAtMs };
    const hasPod = pod.cgroup !== undefined || pod.usage !== undefined;
    return [
      ...(hasPod
        ? [
            entryOf({ ...ofPod, id: pod.cgroup?.id ?? '' }, pod.cgroup, {
              ...timed,
              usage: pod.usage,
              network: pod.sandbox ? undefined : pod.network,
            }),
          ]
        : []),
      ...(pod.sandbox
        ? [
            entryOf({ ...ofPod, id: pod.sandbox.id, name: pod.sandboxId }, pod.sandbox, {
              ...timed,
              network: pod.network,
            }),
          ]
        : []),
      ...pod.containers.flatMap(({ id, name: container, image, createdAtMs, cgroup, usage }) =>
        cgroup || usage
          ? [
              entryOf({ ...ofPod, container, id: cgroup?.id ?? '', image, name: id }, cgroup, {
                usage,
                startedAtMs: createdAtMs,
              }),
            ]
          : [],
      ),
    ];
  }),
];

const entryOf = (
  labels: Partial<typeof BLANK_LABELS>,
  sample: CgroupSample | undefined,
  more: Partial<Pick<CadvisorEntry, 'usage' | 'network' | 'startedAtMs' | 'cgroup'>>,
): CadvisorEntry => ({
  labels: labelText({ ...BLANK_LABELS, ...labels }),
  timeMs: sample?.timeMs ?? more.usage?.timeMs ?? 0,
  cgroup: sample?.usage,
  processes: sample?.processes,
  openFiles: sample?.openFiles,
  usage: undefined,
  network: undefined,
  startedAtMs: undefined,
  ...more,
});

/**
 * The root has no limits of its own: the memory is that of the machine. cgroup v2 does not count the memory of the root. Where
 * its transfers are not counted, they are those of the devices of its file systems.
 */
const rootUsage = (
  { usage }: CgroupSample,
  node: Usage | undefined,
  fileSystems: readonly MountedFileSystem[],
): CgroupUsage => ({
  ...usage,
  devices: usage.devices.length > 0 ? usage.devices : devicesOf(fileSystems),
  cpu: { ...usage.cpu, usageNs: node?.cpuNs ?? usage.cpu.usageNs },
  cpuPressure: usage.cpuPressure ?? node?.cpuPressure,
  memoryPressure: usage.memoryPressure ?? node?.memoryPressure,
  ioPressure: usage.ioPressure ?? node?.ioPressure,
});

/** A device with two file systems counts once. */
const devicesOf = (fileSystems: readonly MountedFileSystem[]): CgroupUsage['devices'] => {
  const transfers = new Map(fileSystems.map((each) => [each.device, each.transfers]));
  return [...transfers].flatMap(([device, of]) =>
    of
      ? [
          {
            ...{ device, reads: of.reads, writes: of.writes },
            ...{ readBytes: of.sectorsRead * 512, writeBytes: of.sectorsWritten * 512 },
          },
        ]
      : [],
  );
};
