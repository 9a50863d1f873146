import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { concat, defer, type Observable } from 'rxjs';
import { type CgroupName, cgroupPath, parseCgroupPath } from '../../model/cgroups/cgroup-name.js';
import { untilTrue } from '../../streams/operators/until-true.js';
import type { Cgroups } from '../../streams/ports/cgroups.js';
import { type CgroupFiles, cgroupsIn, childrenIn, effect } from './cgroupfs.js';
import { isThere } from '../files/read-if-there.js';
import {
  isUnitGone,
  isUnitThere,
  printedString,
  printedVersion,
  setSliceArgs,
  sliceStateArgs,
  startSliceArgs,
  stopSliceArgs,
  type SystemdFeatures,
  systemdVersionArgs,
} from './systemd-call.js';

/** The time that systemd gets for one call, in milliseconds. Source: opencontainers/cgroups systemd, startUnit. */
export const UNIT_WAIT_MS = 30_000;
/** The time between two checks of a unit, in milliseconds. */
export const CHECK_EVERY_MS = 50;

export interface SystemdCgroupsOptions {
  /** Every CPU of the machine, such as `0-3`. */
  readonly allCpus: string;
  /** Calls systemd and resolves with the printed text. `busctl` of the machine unless given. */
  readonly busctl?: (args: readonly string[]) => Promise<string>;
  /** Whether systemd runs on this machine. */
  readonly isRunning?: () => boolean;
}

/**
 * The `Cgroups` port for the driver `systemd`. Cgroups are slices. systemd writes its own settings from time to time,
 * so each setting is set in systemd first and then written into the files.
 *
 * Errors: throws on a machine without systemd; calls fail with the error text of `busctl`.
 */
export const systemdCgroups = (
  files: CgroupFiles,
  { allCpus, busctl = runBusctl, isRunning = () => isThere('/run/systemd/system') }: SystemdCgroupsOptions,
): Cgroups => {
  if (!isRunning()) {
    throw new Error(
      'the cgroup driver is systemd, but systemd does not run this machine (there is no /run/systemd/system): ' +
        'let the runtime use cgroupfs, or set cgroupDriver: cgroupfs if the runtime does not report its driver',
    );
  }
  const pathOf = (name: CgroupName) => cgroupPath('systemd', name);
  const { create, update, remove, ...base } = cgroupsIn(files, pathOf);
  let asked: Promise<SystemdFeatures> | undefined;
  const features = (): Promise<SystemdFeatures> =>
    (asked ??= busctl(systemdVersionArgs).then(
      (printed) => ({ cgroupVersion: files.version, systemdVersion: printedVersion(printed) }),
      (error: unknown) => {
        asked = undefined;
        throw error;
      },
    ));
  const call = (args: () => Promise<string[]>, isFine: (message: string) => boolean = () => false): Observable<never> =>
    effect(async () => busctl(await args()).catch(ignoring(isFine)));
  const reached = (name: CgroupName, states: readonly string[]): Observable<never> => {
    let state = '';
    const isReached = async () => {
      state = printedString(await busctl(sliceStateArgs(name)).catch(ignoring(isUnitGone)));
      return states.includes(state);
    };
    const tooLate = () =>
      new Error(`${pathOf(name)} is not ${states[0]} 30 s after the call to systemd: it is ${state || 'unknown'}`);
    return untilTrue(isReached, { everyMs: CHECK_EVERY_MS, withinMs: UNIT_WAIT_MS, tooLate });
  };
  return {
    ...base,
    // Without this setting systemd disables the CPU controllers again.
    ...(files.version === 2 && { allCpus }),
    nameOf: (path) => parseCgroupPath('systemd', path),
    children: childrenIn(files, pathOf, (_, entry) => parseCgroupPath('systemd', entry)),
    create: (name, resources) =>
      concat(
        call(async () => startSliceArgs(name, await features(), resources), isUnitThere),
        reached(name, ['active']),
        call(async () => setSliceArgs(name, await features(), resources)),
        defer(() => create(name, resources)),
      ),
    update: (name, resources) =>
      concat(
        call(async () => setSliceArgs(name, await features(), resources)),
        defer(() => update(name, resources)),
      ),
    remove: (name) =>
      concat(
        call(async () => stopSliceArgs(name), isUnitGone),
        reached(name, ['inactive', 'failed', '']),
        defer(() => remove(name)),
      ),
  };
};

const run = promisify(execFile);

/** Errors: the error output of `busctl`, which holds the reason of systemd. */
const runBusctl = async (args: readonly string[]): Promise<string> => {
  try {
    const { stdout } = await run('busctl', [...args], { timeout: UNIT_WAIT_MS, env: { ...process.env, LC_ALL: 'C' } });
    return stdout;
  } catch (error) {
    const { stderr = '', message, code } = error as { stderr?: string; message: string; code?: unknown };
    if (code === 'ENOENT')
      throw new Error('the systemd cgroup driver needs the command busctl of systemd', { cause: error });
    throw new Error(`systemd: ${stderr.trim() || message}`, { cause: error });
  }
};

const ignoring =
  (isFine: (message: string) => boolean) =>
  (error: unknown): string => {
    if (error instanceof Error && isFine(error.message)) return '';
    throw error;
  };
