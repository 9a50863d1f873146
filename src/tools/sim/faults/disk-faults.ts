import { defer, Observable, throwError } from 'rxjs';
import type { DiskFault } from './fault.js';
import { type ArmedFault, type FaultSide, strikes } from './armed-fault.js';

/** The calls that still work on a full or read-only disk. */
const READS: ReadonlySet<string> = new Set([
  ...['listDirectory', 'danglingLinks', 'read', 'readTail', 'mountsBelow'],
  ...['size', 'rotated', 'pulled', 'everyPulled', 'intents'],
]);
const MEANINGS = { EIO: 'i/o error', ENOSPC: 'no space left on device', EROFS: 'read-only file system' } as const;

type Calls = Readonly<Record<string, unknown>>;
type Call = (...parameters: readonly unknown[]) => unknown;

/** Puts faults before each call of a port to the disk: a failed call has no effect. */
export const faultyDisk = (
  armed: readonly ArmedFault<DiskFault>[],
  { scheduler, startMs }: FaultSide,
): (<Port extends object>(port: Port) => Port) => {
  if (armed.length === 0) return (port) => port;
  const wrap =
    (name: string, call: Call): Call =>
    (...parameters) => {
      const result = call(...parameters);
      if (!(result instanceof Observable)) return result;
      return defer(() => {
        const met = armed.find(
          (one) => (one.fault.code === 'EIO' || !READS.has(name)) && strikes(one, scheduler.now() - startMs),
        );
        if (!met) return result as Observable<unknown>;
        const { code } = met.fault;
        const path = typeof parameters[0] === 'string' ? ` '${parameters[0]}'` : '';
        return throwError(() => Object.assign(new Error(`${code}: ${MEANINGS[code]}, ${name}${path}`), { code }));
      });
    };
  return (port) =>
    Object.fromEntries(
      Object.entries(port as Calls).map(([name, call]) => [
        name,
        typeof call === 'function' ? wrap(name, call as Call) : call,
      ]),
    ) as typeof port;
};
