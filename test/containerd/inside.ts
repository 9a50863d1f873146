import { readFileSync, readlinkSync } from 'node:fs';
import type { ContainerStatus } from '../../src/generated/runtime/v1/api.js';
import type { ContainerdNode } from './containerd-node.js';
import { eventually } from '../embedded/eventually.js';

/** Which namespace a process is in. */
export const namespaceOf = (pid: number | 'self', name: string): string => readlinkSync(`/proc/${pid}/ns/${name}`);

/** A line of `/proc/<pid>/status`. */
export const procStatus = (pid: number, name: string): string | undefined =>
  new RegExp(`^${name}:\\s*(.*)$`, 'm').exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]?.trim();

/** A container that runs, and its first process on this machine; another container of the name, if that one ends meanwhile. */
export const running = (
  node: ContainerdNode,
  pod: string,
  name = 'main',
): Promise<{ readonly id: string; readonly pid: number; readonly status: ContainerStatus }> =>
  eventually(`the program of ${pod}/${name} runs`, async () => {
    const status = await node.reached(pod, 'CONTAINER_RUNNING', { name });
    const pid = await node.pidOf(status.id);
    // A container runs from when runc starts it: its first process becomes the program of the container after that.
    const isProgram = !readFileSync(`/proc/${pid}/comm`, 'utf8').startsWith('runc');
    return isProgram && { id: status.id, pid, status };
  });

/** What the runtime made of a container for runc. */
export interface OciSpec {
  readonly process: { readonly oomScoreAdj?: number; readonly apparmorProfile?: string };
  readonly linux: { readonly maskedPaths?: readonly string[]; readonly readonlyPaths?: readonly string[] };
}

/** What the runtime remembers of its instructions, as it spells them. */
export interface Told {
  readonly spec: OciSpec;
  readonly config: {
    readonly hostname?: string;
    readonly port_mappings?: readonly object[];
    readonly linux: {
      readonly resources?: Readonly<Record<string, unknown>>;
      readonly security_context?: Readonly<Record<string, unknown>>;
      readonly sysctls?: Readonly<Record<string, string>>;
    };
  };
}

const toldIn = ({ info = '' }: { readonly [key: string]: string }): Told => {
  const { runtimeSpec, config } = JSON.parse(info) as { runtimeSpec: OciSpec; config: Told['config'] };
  return { spec: runtimeSpec, config };
};

export const toldOfContainer = async (node: ContainerdNode, containerId: string): Promise<Told> =>
  toldIn((await node.ask((runtime) => runtime.containerStatus({ containerId, verbose: true }))).info);

export const toldOfSandbox = async (node: ContainerdNode, pod: string): Promise<Told> => {
  const podSandboxId = (await node.sandboxOf(pod)).id;
  return toldIn((await node.ask((runtime) => runtime.podSandboxStatus({ podSandboxId, verbose: true }))).info);
};
