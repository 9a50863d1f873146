import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'vitest';
import { mountedBelow } from '../support/mounted-below.js';
import type { Daemon } from './daemon.js';
import { eventually } from './eventually.js';

/** Runs a script in the running container, and returns its output, line by line. */
export const inside = async (
  daemon: Daemon,
  pod: string,
  script: string,
  name = 'main',
): Promise<readonly string[]> => {
  const { id } = await daemon.reached(pod, 'CONTAINER_RUNNING', { name });
  const { stdout, stderr, exitCode } = await daemon.ask((runtime) =>
    runtime.execSync({ containerId: id, cmd: ['/bin/sh', '-c', script], timeout: 20n }),
  );
  if (exitCode !== 0) throw new Error(`${script}: exit code ${exitCode}: ${Buffer.from(stderr).toString()}`);
  return Buffer.from(stdout).toString().trimEnd().split('\n');
};

/** Waits until the container reads this in a file. */
export const isRead = (daemon: Daemon, pod: string, path: string, content: string): Promise<unknown> =>
  eventually(`${path} of ${pod} is ${content}`, async () => {
    expect(await inside(daemon, pod, `cat ${path}`)).toEqual([content]);
    return true;
  });

/** Waits until no mount and no directory of a pod is left. */
export const isGone = (daemon: Daemon): Promise<unknown> =>
  eventually('no mount and no directory is left', () => {
    expect(mountedBelow(daemon.rootDir)).toEqual([]);
    expect(readdirSync(join(daemon.rootDir, 'pods'))).toEqual([]);
    return true;
  });

/** The messages of the events `FailedMount` of a pod. */
export const failedMounts = (daemon: Daemon, pod: string): readonly string[] =>
  daemon
    .journal()
    .flatMap((entry) =>
      entry.kind === 'event' && entry.reason === 'FailedMount' && entry.pod?.name.startsWith(`${pod}-`) === true
        ? [entry.message]
        : [],
    );

/** Waits until a container waits with this reason; its message. */
export const waitsWith = (daemon: Daemon, pod: string, reason: string, name = 'main'): Promise<string> =>
  eventually(`${name} of ${pod} waits with ${reason}`, async () => {
    const shown = (await daemon.shownPods()).find(({ metadata }) => metadata.name.startsWith(`${pod}-`));
    const waiting = shown?.status?.containerStatuses?.find((status) => status.name === name)?.state?.waiting;
    return waiting?.reason === reason && (waiting.message ?? '');
  });
