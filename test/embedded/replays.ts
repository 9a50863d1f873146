import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { statSync } from 'node:fs';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { expect } from 'vitest';
import { type Change, changedBundle } from '../support/changed-bundle.js';
import type { Daemon } from './daemon.js';

/** What `replay -o json` says. */
export interface Verdict {
  readonly same: boolean;
  readonly entries: number;
  readonly effects: number;
  readonly difference?: {
    readonly entry: number;
    readonly pod?: string;
    /** The journal's name of the entry. */
    readonly journal?: string;
    readonly expected: string;
    readonly actual: string;
    readonly because: readonly string[];
  };
}

/** Replays with the built agent, or with another script. */
const replay = async (script: string, ...args: readonly string[]): Promise<{ code: number; stdout: string }> => {
  const child = spawn(process.execPath, [script, 'replay', ...args], { stdio: ['ignore', 'pipe', 'inherit'] });
  const [stdout, [code]] = await Promise.all([text(child.stdout), once(child, 'exit') as Promise<[number]>]);
  return { code, stdout };
};

/** The same recording through an agent with one decision changed. */
export const replayChanged = async (daemon: Daemon, file: string, change: Change): Promise<Verdict> => {
  const script = await changedBundle(join(daemon.directory, `changed-${change.to.replace(/\W/g, '')}`), change);
  const { code, stdout } = await replay(script, file, '-o', 'json');
  expect(code).toBe(1);
  return JSON.parse(stdout) as Verdict;
};

/** Replays with the built agent, which has to do all that was recorded; what it says. */
export const expectSame = async (daemon: Daemon, file: string): Promise<string> => {
  const { code, stdout, stderr } = await daemon.run('replay', file);
  expect({ code, stdout, stderr }).toMatchObject({ code: 0, stderr: '' });
  expect(stdout).toMatch(/^no difference: \d+ entries, \d+ effects, .+ in .+\n$/);
  return `${statSync(file).size} bytes: ${stdout.trim()}`;
};

/**
 * A first back-off that is twice as long has to be reported where the first one was decided, with what led to it. The journal of the
 * agent, which has no part in the replay, says which that was.
 */
export const expectLongerBackOffFound = async (daemon: Daemon, file: string): Promise<void> => {
  const backOff = daemon.journal().find((entry) => entry.kind === 'back-off' && entry.subject === 'restart');
  if (backOff?.kind !== 'back-off') throw new Error('nothing was put off');
  const { same, difference } = await replayChanged(daemon, file, {
    file: 'src/model/pod-actions/crash-loop-back-off.ts',
    from: 'CRASH_LOOP_INITIAL_MS = 10_000',
    to: 'CRASH_LOOP_INITIAL_MS = 20_000',
  });
  const pod = `${backOff.pod?.name}_${backOff.pod?.namespace}`;
  expect({ same, difference }).toMatchObject({ same: false, difference: { pod, journal: backOff.id } });
  expect(difference?.expected).toContain('was put off by 10 s');
  expect(difference?.actual).toContain('was put off by 20 s');
  expect(difference?.because.join('\n')).toContain('ended with exit code');
};
