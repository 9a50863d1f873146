import { readFileSync } from 'node:fs';
import { statfs } from 'node:fs/promises';
import { arch, release } from 'node:os';
import { defer } from 'rxjs';
import { isShortage } from '../../model/values/file-error.js';
import { ipv4DefaultRoutes, ipv6DefaultRoutes } from '../../model/node/default-routes.js';
import type { MachineFacts, NetworkFacts } from '../../model/node/machine-facts.js';
import type { ReadMachine } from '../../streams/ports/read-machine.js';
import { goArchitecture } from '../../model/node/go-architecture.js';
import { hugePages } from './huge-pages.js';
import { processorCount } from './processor-count.js';
import { readInterfaces } from './read-interfaces.js';
import { readIfThere } from '../files/read-if-there.js';

/**
 * Reads this machine at each call. Its storage is that of the file system with the directory.
 *
 * Errors: the memory cannot be read; the machine has no free file descriptors or memory to read files.
 * Source: github.com/google/cadvisor machine/info.go, machine/machine.go, utils/sysfs/sysfs.go
 */
export const machineFacts = (rootDirectory: string): ReadMachine => {
  const storage = async (): Promise<bigint | undefined> => {
    try {
      const { bsize, blocks } = await statfs(rootDirectory, { bigint: true });
      return blocks * bsize;
    } catch (error) {
      if (isShortage(error)) throw error;
      return undefined;
    }
  };
  return () =>
    defer(async (): Promise<MachineFacts> => {
      const storageBytes = await storage();
      const memory = readFileSync('/proc/meminfo', 'utf8');
      const [, bootedAt] = /^btime (\d+)$/m.exec(readIfThere('/proc/stat') ?? '') ?? [];
      return {
        cpus: processorCount(),
        memoryBytes: kibibytesOf(memory, 'MemTotal'),
        swapBytes: kibibytesOf(memory, 'SwapTotal'),
        hugePages: hugePages(),
        ...(storageBytes !== undefined && { storageBytes }),
        machineId: firstOf(MACHINE_IDS),
        systemUuid: firstOf(SYSTEM_IDS),
        bootId: firstOf(['/proc/sys/kernel/random/boot_id']),
        kernelVersion: release(),
        osImage: osImage(),
        architecture: goArchitecture(arch()),
        network: networkFacts(),
        ...(bootedAt !== undefined && { bootedAt: Number(bootedAt) * 1_000 }),
      };
    });
};

const MACHINE_IDS = ['/etc/machine-id', '/var/lib/dbus/machine-id'];
/** The ID of the firmware, then that of a device tree, then that of the installation. */
const SYSTEM_IDS = [
  '/sys/class/dmi/id/product_uuid',
  '/proc/device-tree/system-id',
  '/proc/device-tree/vm,uuid',
  '/etc/machine-id',
];

const networkFacts = (): NetworkFacts => {
  const ipv4 = readIfThere('/proc/net/route');
  return {
    interfaces: Object.values(readInterfaces()).flat(),
    ...(ipv4 !== undefined && {
      defaultRoutes: [...ipv4DefaultRoutes(ipv4), ...ipv6DefaultRoutes(readIfThere('/proc/net/ipv6_route') ?? '')],
    }),
  };
};

const osImage = (): string => {
  const release = readIfThere('/etc/os-release') ?? readIfThere('/usr/lib/os-release') ?? '';
  const [, quoted, plain] = /^PRETTY_NAME=(?:"(.*)"|'?([^'\n]*)'?)$/m.exec(release) ?? [];
  return quoted ?? plain ?? 'Linux';
};

const kibibytesOf = (memory: string, name: string): bigint => {
  const [, kibibytes = '0'] = new RegExp(`^${name}:\\s+(\\d+) kB$`, 'm').exec(memory) ?? [];
  return BigInt(kibibytes) * 1024n;
};

/** The content of the first file that exists, without line ends and NUL bytes; empty without such a file. */
const firstOf = (paths: readonly string[]): string => {
  for (const path of paths) {
    const text = readIfThere(path)?.replaceAll('\0', '').trim();
    if (text) return text;
  }
  return '';
};
