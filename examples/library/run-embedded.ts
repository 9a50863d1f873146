// An agent without a container runtime: the package has one, which runs containers as processes of this machine. It is a process of its
// own, so that the pods outlive the agent; if one serves the folder already, the new process ends and the agent uses that one.
//
//     runEmbedded('manifests', '/var/lib/my-agent').subscribe(console.log);
import { spawn } from 'node:child_process';
import { mkdirSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { defer, type Observable } from 'rxjs';
import type { StopRequest, WorkerOutcome } from 'rx-kubelet';
import { runFolder } from './run-folder.js';

export const runEmbedded = (
  path: string,
  rootDirectory: string,
  stop$?: Observable<StopRequest>,
): Observable<WorkerOutcome> =>
  defer(() => {
    const socket = join(rootDirectory, 'runtime.sock');
    startRuntime(socket, join(rootDirectory, 'runtime'));
    // It waits until the runtime serves.
    const directories = { podLogsDirectory: join(rootDirectory, 'pod-logs'), rootDirectory };
    return runFolder(path, { endpoint: `unix://${socket}`, ...directories }, stop$);
  });

const startRuntime = (socket: string, stateDirectory: string): void => {
  mkdirSync(stateDirectory, { recursive: true });
  const folder = dirname(createRequire(import.meta.url).resolve('rx-kubelet/package.json'));
  const args = ['runtime', '--socket', socket, '--state-dir', stateDirectory];
  spawn(join(folder, 'bin/rx-kubelet'), args, { detached: true, stdio: 'ignore' }).unref();
};
