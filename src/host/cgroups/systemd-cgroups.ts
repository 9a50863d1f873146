import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { promisify } from 'node:util';
import { concat, defer, type Observable } from 'rxjs';
import { type CgroupName, cgroupPath, parseCgroupPath } from '../../model/cgroups/cgroup-name.js';
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
} from '../../model/cgroups/systemd-call.js';
import { untilTrue } from '../../streams/operators/until-true.js';
import type { Cgroups } from '../../streams/ports.js';
import { type CgroupFiles, cgroupsIn, childrenIn, effect } from './cgroup-files-adapter.js';

/** Source: opencontainers/cgroups systemd, startUnit. */
const UNIT_WAIT_MS = 30_000;
const LOOK_EVERY_MS = 50;

export interface SystemdCgroupsOptions {
  /** Every CPU of the machine, such as `0-3`. */
  readonly allCpus: string;
  /** Speaks to systemd; `busctl` of the machine unless given. Resolves with what it printed. */
  readonly busctl?: (args: readonly string[]) => Promise<string>;
  /** There is a systemd to speak to. */
  readonly isRunning?: () => boolean;
}

/**
 * The `Cgroups` port where systemd owns the tree: cgroups are slices, and what is written into files is what systemd was told
 * before, for it writes its own view now and then.
 *
 * Errors: throws where systemd does not run; calls fail with what `busctl` says.
 */
export const systemdCgroups = (
  files: CgroupFiles,
  { allCpus, busctl = runBusctl, isRunning = () => existsSync('/run/systemd/system') }: SystemdCgroupsOptions,
): Cgroups => {
  if (!isRunning()) {
    throw new Error(
      'the cgroup driver is systemd, but systemd does not run this machine (there is no /run/systemd/system): ' +
        'let the runtime use cgroupfs, or set cgroupDriver: cgroupfs if the runtime cannot tell',
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
  const tell = (args: () => Promise<string[]>, isFine: (message: string) => boolean = () => false): Observable<never> =>
    effect(async () => busctl(await args()).catch(ignoring(isFine)));
  const reached = (name: CgroupName, states: readonly string[]): Observable<never> => {
    let state = '';
    const look = async () => {
      state = printedString(await busctl(sliceStateArgs(name)).catch(ignoring(isUnitGone)));
      return states.includes(state);
    };
    const tooLate = () =>
      new Error(`systemd did not bring ${pathOf(name)} to ${states[0]} in 30 s: it is ${state || 'unknown'}`);
    return untilTrue(look, { everyMs: LOOK_EVERY_MS, withinMs: UNIT_WAIT_MS, tooLate });
  };
  return {
    ...base,
    // Without being told systemd takes the controller of CPUs away again.
    ...(files.version === 2 && { allCpus }),
    nameOf: (path) => parseCgroupPath('systemd', path),
    children: childrenIn(files, pathOf, (_, entry) => parseCgroupPath('systemd', entry)),
    create: (name, resources) =>
      concat(
        tell(async () => startSliceArgs(name, await features(), resources), isUnitThere),
        reached(name, ['active']),
        tell(async () => setSliceArgs(name, await features(), resources)),
        defer(() => create(name, resources)),
      ),
    update: (name, resources) =>
      concat(
        tell(async () => setSliceArgs(name, await features(), resources)),
        defer(() => update(name, resources)),
      ),
    remove: (name) =>
      concat(
        tell(async () => stopSliceArgs(name), isUnitGone),
        reached(name, ['inactive', 'failed', '']),
        defer(() => remove(name)),
      ),
  };
};

const run = promisify(execFile);

/** Errors: with what it wrote on its error output, which says what systemd refused. */
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
