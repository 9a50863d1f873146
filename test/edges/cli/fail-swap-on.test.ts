import { Command } from 'commander';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { prepareRun } from '../../../src/cli/arguments/prepare-run.js';
import { addRunFlags, readRunFlags } from '../../../src/cli/arguments/run-flags.js';
import { machineSwaps } from '../../../src/host/facts/swap.js';
import { joined } from '../../embedded/joined.js';

const REFUSAL = 'running with swap on is not supported, please disable swap or set --fail-swap-on flag to false';

let folder: string;
beforeEach(() => (folder = mkdtempSync(join(tmpdir(), 'rx-swap-'))));
afterEach(() => rmSync(folder, { recursive: true }));

/** Whether an agent with these flags refuses a machine that swaps; on such a machine it does not start. */
const refusesSwap = (...args: readonly string[]): boolean => {
  const command = addRunFlags(new Command()).parse(['--root-dir', folder, ...args], { from: 'user' });
  try {
    return prepareRun(readRunFlags(command.opts())).config.failSwapOn === true;
  } catch (error) {
    if (machineSwaps() && (error as Error).message === REFUSAL) return true;
    throw error;
  }
};

describe('a machine that swaps', () => {
  it('is refused by a node of a cluster, and by a standalone one only if it is asked to', () => {
    const kubeconfig = ['--kubeconfig', joined(folder, 'https://127.0.0.1:6443')];
    expect([refusesSwap(), refusesSwap('--fail-swap-on', 'true')]).toEqual([false, true]);
    expect([refusesSwap(...kubeconfig), refusesSwap(...kubeconfig, '--fail-swap-on=false')]).toEqual([true, false]);
  });
});
