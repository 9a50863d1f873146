import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import type { IncomingMessage } from 'node:http';
import { get } from 'node:https';
import type { Readable } from 'node:stream';
import { killProcess } from '../../test/support/kill-process.js';
import { cpuSeconds } from '../startup/proc.js';
import type { NodeOfOnePod } from './node-of-one-pod.js';

/** One reader that follows a log from its beginning, up to a number of bytes. */
export interface LogReading {
  readonly reader: string;
  readonly bytes: number;
  readonly seconds: number;
  /** The CPU of the process that reads the file: the command's own, or that of the agent. */
  readonly cpuSeconds: number;
}

/** Follows the log in three ways, one after the other. `contentBytes` is the content of its lines, `fileBytes` the size of the file. */
export const readLog = async (
  { agentPid, origin, container, logFile, here }: NodeOfOnePod,
  { contentBytes, fileBytes }: { readonly contentBytes: number; readonly fileBytes: number },
): Promise<readonly LogReading[]> => [
  await byCommand('tail -f', spawned('tail', ['-n', '+1', '-f', logFile]), fileBytes),
  await byCommand('rx-kubelet logs -f', spawned('bin/rx-kubelet', ['logs', 'pod', '-f', ...here]), contentBytes),
  await overHttps('kubelet API', `https://${origin}/containerLogs/${container}?follow=true`, agentPid, contentBytes),
];

const spawned = (command: string, args: readonly string[]): ChildProcess =>
  spawn(command, args, { stdio: ['ignore', 'pipe', 'inherit'] });

const byCommand = async (reader: string, child: ChildProcess, bytes: number): Promise<LogReading> => {
  const startedAt = performance.now();
  await atLeast(bytes, child.stdout!);
  const seconds = (performance.now() - startedAt) / 1_000;
  const used = cpuSeconds(child.pid!);
  killProcess(child.pid, 'SIGTERM');
  await once(child, 'exit');
  return { reader, bytes, seconds, cpuSeconds: used };
};

const overHttps = async (reader: string, url: string, agentPid: number, bytes: number): Promise<LogReading> => {
  const [before, startedAt] = [cpuSeconds(agentPid), performance.now()];
  const request = get(url, { rejectUnauthorized: false, agent: false });
  const [response] = (await once(request, 'response')) as [IncomingMessage];
  if (response.statusCode !== 200) throw new Error(`${url}: ${response.statusCode}`);
  await atLeast(bytes, response);
  const seconds = (performance.now() - startedAt) / 1_000;
  const used = cpuSeconds(agentPid) - before;
  request.destroy();
  return { reader, bytes, seconds, cpuSeconds: used };
};

/** Reads and drops. Errors: the stream ends before. */
const atLeast = (bytes: number, stream: Readable): Promise<void> =>
  new Promise((resolve, reject) => {
    let read = 0;
    stream.on('data', (chunk: Buffer) => {
      read += chunk.length;
      if (read >= bytes) resolve();
    });
    stream.on('end', () => reject(new Error(`the log ended after ${read} of ${bytes} bytes`)));
    stream.on('error', reject);
  });
