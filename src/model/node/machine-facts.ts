/** What the machine says of itself. Texts that it does not say are empty. */
export interface MachineFacts {
  /** Logical processors. */
  readonly cpus: number;
  readonly memoryBytes: bigint;
  /** 0 without swap. */
  readonly swapBytes: bigint;
  /** Every kind of huge page that the kernel has, in bytes per page, and how many there are. */
  readonly hugePages: readonly HugePages[];
  /** Bytes of the file system of the root directory; absent where it cannot be read. */
  readonly storageBytes?: bigint;
  readonly machineId: string;
  readonly systemUuid: string;
  /** Another one after every start of the machine. */
  readonly bootId: string;
  readonly kernelVersion: string;
  /** Such as `Debian GNU/Linux 12 (bookworm)`. */
  readonly osImage: string;
  /** As Go names it: `amd64`. */
  readonly architecture: string;
  readonly network: NetworkFacts;
  /** When the machine was started, in Unix milliseconds; absent where it does not say. */
  readonly bootedAt?: number;
}

export interface HugePages {
  readonly pageBytes: bigint;
  readonly count: bigint;
}

export interface NetworkFacts {
  /** Those that are up, in the order of the system. */
  readonly interfaces: readonly {
    readonly name: string;
    readonly isLoopback: boolean;
    /** Without zones and lengths of prefixes. */
    readonly addresses: readonly string[];
  }[];
  /** The interfaces of default routes, in the order of the kernel's tables; absent where the kernel has no such tables. */
  readonly defaultRoutes?: readonly { readonly family: 4 | 6; readonly interface: string }[];
}
