import type {
  ContainerStats,
  FilesystemUsage,
  NetworkInterfaceUsage,
  NetworkUsage,
  PodSandboxStats,
} from '../../generated/runtime/v1/api.js';
import type { NetworkFigures } from './node-sample.js';
import type { InterfaceFigures } from './proc-files.js';
import { numberOf, type Usage, usageOfRuntime } from './usage.js';

/** The statistics of the runtime, by the IDs of containers and sandboxes. */
export interface RuntimeFigures {
  readonly containers: ReadonlyMap<string, ContainerFigures>;
  /** Empty if the runtime has only the statistics of containers. */
  readonly sandboxes: ReadonlyMap<string, SandboxFigures>;
}

export interface ContainerFigures {
  readonly usage: Usage | undefined;
  readonly writableLayer: FilesystemUsage | undefined;
}

export interface SandboxFigures {
  readonly usage: Usage | undefined;
  readonly network: NetworkFigures | undefined;
  readonly processes: number | undefined;
}

export const NO_FIGURES: RuntimeFigures = { containers: new Map(), sandboxes: new Map() };

/** Returns the writable layers of all containers that have one. */
export const writableLayersOf = ({ containers }: RuntimeFigures): readonly FilesystemUsage[] =>
  [...containers.values()].flatMap(({ writableLayer }) => writableLayer ?? []);

export const figuresOfContainers = (stats: readonly ContainerStats[]): RuntimeFigures => ({
  containers: new Map(stats.flatMap(container)),
  sandboxes: new Map(),
});

export const figuresOfSandboxes = (stats: readonly PodSandboxStats[]): RuntimeFigures => ({
  containers: new Map(stats.flatMap(({ linux }) => (linux?.containers ?? []).flatMap(container))),
  sandboxes: new Map(
    stats.flatMap(({ attributes, linux }) =>
      attributes && linux
        ? [
            [
              attributes.id,
              {
                usage: usageOfRuntime(linux),
                network: networkOf(linux.network),
                processes: numberOf(linux.process?.processCount) || undefined,
              },
            ] as const,
          ]
        : [],
    ),
  ),
});

const container = (stats: ContainerStats): readonly (readonly [string, ContainerFigures])[] =>
  stats.attributes ? [[stats.attributes.id, { usage: usageOfRuntime(stats), writableLayer: stats.writableLayer }]] : [];

const networkOf = (network: NetworkUsage | undefined): NetworkFigures | undefined => {
  if (!network?.defaultInterface) return undefined;
  const { defaultInterface, interfaces, timestamp } = network;
  const others = interfaces.filter(({ name }) => name !== defaultInterface.name);
  return {
    timeMs: Number(timestamp) / 1_000_000,
    defaultInterface: defaultInterface.name,
    interfaces: [defaultInterface, ...others].map(interfaceOf),
  };
};

const interfaceOf = ({ name, rxBytes, rxErrors, txBytes, txErrors }: NetworkInterfaceUsage): InterfaceFigures => ({
  name,
  rxBytes: numberOf(rxBytes) ?? 0,
  rxErrors: numberOf(rxErrors) ?? 0,
  txBytes: numberOf(txBytes) ?? 0,
  txErrors: numberOf(txErrors) ?? 0,
  rxPackets: undefined,
  rxDropped: undefined,
  txPackets: undefined,
  txDropped: undefined,
});
