import { spawn } from 'node:child_process';
import { existsSync, mkdirSync, readdirSync, readFileSync, rmdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { firstValueFrom, type Observable, toArray } from 'rxjs';
import { cgroupMounts } from '../../../src/model/cgroups/cgroup-mounts.js';
import { processId, signalProcess, type ProcessId } from '../../../src/runtime/embedded/confinement/process-tree.js';
import { eventually } from '../../embedded/eventually.js';

export const mounts = cgroupMounts(readFileSync('/proc/self/mountinfo', 'utf8'));
export const read = (...path: string[]): string => readFileSync(join(...path), 'utf8').trim();
export const all = <T>(source$: Observable<T>): Promise<T[]> => firstValueFrom(source$.pipe(toArray()));

/** A cgroup of its own in every tree of this machine, made and taken away by the test itself. */
export class CgroupStage {
  readonly name = `rxcg-${process.pid}-${Math.trunc(performance.now())}`;
  readonly directories = mounts.hierarchies.map(({ mountPoint }) => join(mountPoint, this.name));
  private readonly processes: ProcessId[] = [];

  constructor() {
    for (const { mountPoint, controllers } of mounts.hierarchies) {
      const directory = join(mountPoint, this.name);
      mkdirSync(directory);
      if (!controllers.includes('cpuset')) continue;
      for (const file of ['cpuset.cpus', 'cpuset.mems'])
        writeFileSync(join(directory, file), readFileSync(join(mountPoint, file)));
    }
  }

  /** The directory in the tree of a controller. */
  in(controller: string): string {
    const tree = mounts.hierarchies.find(
      ({ controllers, version }) => controllers.includes(controller) || (controller === '' && version === 2),
    );
    if (!tree) throw new Error(`this machine does not have the controller ${controller}, which the test needs`);
    return join(tree.mountPoint, this.name);
  }

  /** Starts a process that stays, and moves it. */
  async processIn(directory: string, script = 'sleep 2147483'): Promise<number> {
    const child = spawn('sh', ['-c', `echo $$ > ${join(directory, 'cgroup.procs')} && echo in && exec ${script}`], {
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    const { pid } = child;
    const started = pid === undefined ? undefined : processId(pid);
    if (pid === undefined || !started) throw new Error(`no process could be started in ${directory}`);
    this.processes.push(started);
    let said = '';
    child.stdout.setEncoding('utf8').on('data', (part: string) => (said += part));
    await eventually('the process is in the cgroup', () => {
      if (child.exitCode !== null) throw new Error(`the process for ${directory} has ended with ${child.exitCode}`);
      return said.includes('in');
    });
    return pid;
  }

  async dispose(): Promise<void> {
    for (const process of this.processes) signalProcess(process, 'SIGKILL');
    await eventually('the cgroups of the test are gone', () => {
      for (const directory of this.directories) removeAll(directory);
      return true;
    });
  }
}

const removeAll = (directory: string): void => {
  if (!existsSync(directory)) return;
  for (const entry of readdirSync(directory, { withFileTypes: true }))
    if (entry.isDirectory()) removeAll(join(directory, entry.name));
  rmdirSync(directory);
};
