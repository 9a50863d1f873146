/** The most bytes of an argument, or of a variable with its name: 32 pages, with the NUL at the end. Source: include/uapi/linux/binfmts.h MAX_ARG_STRLEN */
export const longestArgument = (pageBytes: number): number => 32 * pageBytes - 1;
/** Source: fs/exec.c bprm_stack_limits, with ARG_MAX as least and three quarters of 8 MiB as greatest limit. */
const [LEAST_BYTES, MOST_BYTES] = [128 * 1024, 6 * 1024 * 1024];
const POINTER_BYTES = 8;
const PAGE_BYTES = 4096;

export interface ArgumentList {
  readonly command: readonly string[];
  readonly environment: readonly (readonly [name: string, value: Uint8Array])[];
}

/** What the kernel of a machine allows. */
export interface ArgumentLimits {
  readonly pageBytes: number;
  /** The soft limit of the stack; undefined for none. */
  readonly stackBytes: number | undefined;
}

/** Those of most machines: another page or limit of the stack is larger. */
export const USUAL_LIMITS: ArgumentLimits = { pageBytes: PAGE_BYTES, stackBytes: undefined };

/**
 * Returns why execve(2) will refuse the list with E2BIG, and names the variable or argument; undefined if it will not. Arguments count from 0, the
 * program. Source: fs/exec.c copy_strings
 */
export const argumentListProblem = (list: ArgumentList, limits: ArgumentLimits): string | undefined => {
  const { pageBytes, stackBytes = Infinity } = limits;
  const entries = [
    ...list.command.map((argument, index) => ({ name: `argument ${index}`, bytes: Buffer.byteLength(argument) })),
    ...list.environment.map(([name, value]) => ({
      name: `the variable ${name}`,
      bytes: Buffer.byteLength(name) + 1 + value.length,
    })),
  ];
  const longest = longestArgument(pageBytes);
  const largest = entries.reduce((most, entry) => (entry.bytes > most.bytes ? entry : most));
  if (largest.bytes > longest)
    return `argument list too long: ${largest.name} has ${largest.bytes} bytes, and may have ${longest} at most`;
  const total = entries.reduce((sum, { bytes }) => sum + bytes + 1 + POINTER_BYTES, 0);
  const most = Math.max(Math.min(Math.floor(stackBytes / 4), MOST_BYTES), LEAST_BYTES);
  if (total <= most) return undefined;
  return `argument list too long: arguments and variables have ${total} bytes, and may have ${most} at most; ${largest.name} has most, ${largest.bytes} bytes`;
};
