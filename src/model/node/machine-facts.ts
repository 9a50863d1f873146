/** Facts of the machine. Unknown texts are empty. */
export interface MachineFacts {
  /** Logical processors. */
  readonly cpus: number;
  readonly memoryBytes: bigint;
  /** 0 without swap. */
  readonly swapBytes: bigint;
  /** The kinds of huge pages of the kernel, in bytes per page, and their number. */
  readonly hugePages: readonly HugePages[];
  /** Bytes of the file system of the root directory; absent if it cannot be read. */
  readonly storageBytes?: bigint;
  readonly machineId: string;
  readonly systemUuid: string;
  /** Changes with every boot of the machine. */
  readonly bootId: string;
  readonly kernelVersion: string;
  /** Such as `Debian GNU/Linux 12 (bookworm)`. */
  readonly osImage: string;
  /** Go's name: `amd64`. */
  readonly architecture: string;
  readonly network: NetworkFacts;
  /** When the machine booted, in Unix milliseconds; absent if unknown. */
  readonly bootedAt?: number;
}

export interface HugePages {
  readonly pageBytes: bigint;
  readonly count: bigint;
}

export interface NetworkFacts {
  /** The interfaces with addresses, in the order of the system; those without a carrier last. */
  readonly interfaces: readonly {
    readonly name: string;
    readonly isLoopback: boolean;
    /** Without zones and lengths of prefixes. */
    readonly addresses: readonly string[];
  }[];
  /** The interfaces of default routes, in the order of the kernel's tables; absent if the kernel has no such tables. */
  readonly defaultRoutes?: readonly { readonly family: 4 | 6; readonly interface: string }[];
}
