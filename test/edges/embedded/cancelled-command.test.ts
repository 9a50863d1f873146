import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { ContainerConfig, PodSandboxConfig } from '../../../src/generated/runtime/v1/api.js';
import type { CommandGroups } from '../../../src/runtime/embedded/containers/command-groups.js';
import type { Container } from '../../../src/runtime/embedded/containers/container.js';
import { execSync } from '../../../src/runtime/embedded/containers/exec.js';
import type { Isolation } from '../../../src/runtime/embedded/confinement/isolation.js';
import { injectFaults } from '../../../src/runtime/embedded/machine/machine.js';
import { eventually, processesWith } from './runtime-under-test.js';

const CANCELLED = 1;
const NAP_SECONDS = 200_000 + process.pid;
const silent = { debug: () => undefined, info: () => undefined, warn: () => undefined, error: () => undefined };

let directory: string;
beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'rx-cancelled-'));
});
afterEach(() => {
  injectFaults(null);
  rmSync(directory, { recursive: true, force: true });
});

/** A command in a container without namespaces and groups. */
const run = (signal: AbortSignal) => {
  const user = { uid: process.getuid?.() ?? 0, gid: process.getgid?.() ?? 0, groups: [], home: '/' };
  const container = {
    record: { state: 'running', user },
    config: ContainerConfig.create(),
    sandbox: { config: PodSandboxConfig.create(), kinds: new Set() },
    confinement: { joinScript: ':' },
  } as unknown as Container;
  const isolation = { tools: new Map(), namespaces: new Set() } as unknown as Isolation;
  const groups = { next: () => ({ name: 'exec-1' }), remove: () => undefined } as unknown as CommandGroups;
  const options = { isolation, groups, scratchDirectory: directory, signal, log: silent };
  return execSync(container, ['sleep', String(NAP_SECONDS)], 0, options);
};

it('a command whose call was cancelled before starts nothing', async () => {
  let spawned = 0;
  injectFaults((access) => {
    if (access === 'spawn') spawned += 1;
  });
  await expect(run(AbortSignal.abort())).rejects.toMatchObject({ code: CANCELLED });
  expect(spawned).toBe(0);
});

it('a command whose call is cancelled while its process starts ends with it', async () => {
  const call = new AbortController();
  injectFaults((access) => {
    if (access === 'spawn') call.abort();
  });
  await expect(run(call.signal)).rejects.toMatchObject({ code: CANCELLED });
  await eventually('nothing of it is left', () => processesWith(`sleep\0${NAP_SECONDS}`).length === 0);
});
