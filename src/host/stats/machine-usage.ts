import { join } from 'node:path';
import { defer, of } from 'rxjs';
import { ipv4DefaultRoutes, ipv6DefaultRoutes } from '../../model/node/default-routes.js';
import {
  parseCpuTime,
  parseDevices,
  parseMemoryInfo,
  parseNetDev,
  parseTaskCount,
} from '../../model/stats/proc-files.js';
import { parsePressure } from '../../model/stats/psi.js';
import type { MachineReading } from '../../model/stats/readings.js';
import type { UsageReader } from '../../streams/ports/usage-reader.js';
import { hugePages } from '../facts/huge-pages.js';
import { namesIfThere, readIfThere } from '../files/read-if-there.js';

export interface MachineUsageOptions {
  readonly proc: string;
  readonly sys: string;
  readonly now: () => number;
}

/** Reads the figures of the whole machine. */
export const machineUsage = ({ proc, sys, now }: MachineUsageOptions): UsageReader['machine'] => {
  let processors: MachineReading['processors'] | undefined;
  const text = (name: string): string => {
    try {
      return readIfThere(join(proc, name)) ?? '';
    } catch {
      return '';
    }
  };
  const read = (): MachineReading => {
    const timeMs = now();
    const stat = text('stat');
    const [, bootSeconds] = /^btime (\d+)$/m.exec(stat) ?? [];
    const current = parseTaskCount(text('loadavg'));
    const interfaces = parseNetDev(text('self/net/dev'));
    const limits = ['pid_max', 'threads-max'].map((name) => Number(text(`sys/kernel/${name}`) || NaN));
    const known = limits.filter(Number.isFinite);
    const routes = [...ipv4DefaultRoutes(text('self/net/route')), ...ipv6DefaultRoutes(text('self/net/ipv6_route'))];
    return {
      timeMs,
      totals: {
        memory: parseMemoryInfo(text('meminfo')),
        cpuNs: parseCpuTime(stat),
        hugePageBytes: hugePages().reduce((sum, { pageBytes, count }) => sum + Number(pageBytes * count), 0),
        cpuPressure: parsePressure(text('pressure/cpu')),
        memoryPressure: parsePressure(text('pressure/memory')),
        ioPressure: parsePressure(text('pressure/io')),
      },
      network: interfaces.length === 0 ? undefined : { timeMs, defaultInterface: routes[0]?.interface, interfaces },
      tasks:
        current === undefined
          ? undefined
          : { timeMs, most: known.length === 0 ? undefined : Math.min(...known), current },
      bootedAtMs: bootSeconds === undefined ? undefined : Number(bootSeconds) * 1_000,
      ownCgroup: ownCgroup(text('self/cgroup')),
      processors: (processors ??= processorsIn(sys)),
      devices: parseDevices(text('diskstats')),
    };
  };
  return () => defer(() => of(read()));
};

/** The path in the tree of the memory controller, or of cgroup v2. Source: pkg/kubelet/cm/container_manager_linux.go getContainer */
const ownCgroup = (text: string): string | undefined => {
  const [, path] = /^\d+:(?:[^:]*,)?memory(?:,[^:]*)?:(.*)$/m.exec(text) ?? /^0::(.*)$/m.exec(text) ?? [];
  return path === undefined || path === '/' || path.startsWith('/..') ? undefined : path;
};

/** Cores and sockets of the processors that are online. Source: github.com/google/cadvisor machine/machine.go */
const processorsIn = (sys: string): MachineReading['processors'] => {
  const folder = join(sys, 'devices/system/cpu');
  const places = namesIfThere(folder)
    .filter((name) => /^cpu\d+$/.test(name))
    .flatMap((name) => {
      const [socket, core] = ['physical_package_id', 'core_id'].map((file) =>
        readIfThere(join(folder, name, 'topology', file))?.trim(),
      );
      return socket === undefined || core === undefined ? [] : [{ socket, core: `${socket}:${core}` }];
    });
  const countOf = (ids: readonly string[]): number | undefined => new Set(ids).size || undefined;
  return {
    physicalCores: countOf(places.map(({ core }) => core)),
    sockets: countOf(places.map(({ socket }) => socket)),
  };
};
