import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect } from 'vitest';
import { it } from './daemon.js';
import { eventually } from './eventually.js';
import { followLog } from './follow-log.js';
import { SLEEP } from './manifests.js';

/** Prints its number and waits for a file of that number, then ends. */
const IN_TURNS =
  'echo >> "$DIR/runs"; run=$(wc -l < "$DIR/runs"); echo "run $run"; ' +
  'while [ ! -e "$DIR/end-$run" ]; do sleep 0.05; done; echo "end $run"; exit 1';

const printed = (stdout: string, stderr = '') => ({ code: 0, stdout, stderr });

describe.concurrent('the logs of a pod', () => {
  it('are printed while its agent runs, and after that was killed, and its runtime, too', async ({ daemon }) => {
    daemon.apply({
      name: 'web',
      containers: [
        { name: 'web', script: `echo one; echo two >&2; ${SLEEP}` },
        { name: 'side', script: `echo aside; ${SLEEP}` },
      ],
      initContainers: [{ name: 'init', script: 'echo first' }],
    });
    await daemon.start();
    for (const name of ['web', 'side']) {
      const { logPath } = await daemon.reached('web', 'CONTAINER_RUNNING', { name });
      const lines = name === 'web' ? ['one', 'two'] : ['aside'];
      await eventually('its lines are written', () => daemon.output({ logPath }).length === lines.length);
    }
    const logs = (...args: readonly string[]) => daemon.run('logs', '--root-dir', daemon.rootDir, ...args);
    await eventually('the agent knows the containers', async () => (await logs('web', 'side')).code === 0);
    const check = async (): Promise<void> => {
      const note = 'Defaulted container "web" out of: web, side, init (init)\n';
      const { stdout, ...others } = await logs('web');
      expect(others).toEqual({ code: 0, stderr: note });
      // The order of two streams is that in which the runtime reads them.
      expect(stdout.split('\n').toSorted()).toEqual(['', 'one', 'two']);
      expect(await logs('web-node1', 'web', '--stream', 'stderr')).toEqual(printed('two\n'));
      expect(await logs('web', '-c', 'side', '-n', 'default')).toEqual(printed('aside\n'));
      expect(await logs('web', 'init', '--tail', '1')).toEqual(printed('first\n'));
      for (const target of ['web/side', 'pod/web/side', 'web-node1_default/side']) {
        expect(await logs(target), target).toEqual(printed('aside\n'));
      }
      expect(await logs('web/side', '-c', 'web')).toEqual({
        ...{ code: 1, stdout: '' },
        stderr: 'Error: only one of -c or POD/CONTAINER is allowed\n',
      });
      expect((await logs('web', 'side', '--timestamps')).stdout).toMatch(
        /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{9}Z aside\n$/,
      );
      expect(await logs('web', 'other')).toEqual({
        ...{ code: 1, stdout: '' },
        stderr:
          'Error: container other is not valid for pod web-node1, choose one of: [web side] or one of the init containers: [init]\n',
      });
      expect(await logs('web', 'side', '-p')).toEqual({
        ...{ code: 1, stdout: '' },
        stderr: 'Error: previous terminated container "side" in pod "web-node1" not found\n',
      });
      expect(await logs('wep')).toEqual({
        ...{ code: 1, stdout: '' },
        stderr: 'Error: pods "wep" not found; pods here: web-node1_default\n',
      });
    };
    await check();
    await daemon.kill('SIGKILL');
    await check();
    await daemon.killRuntime('SIGKILL');
    await check();
  });

  it('are followed to the end of the container, and those of the next instance are another log', async ({ daemon }) => {
    daemon.apply({ name: 'turns', containers: [{ script: IN_TURNS }] });
    await daemon.start();
    await daemon.reached('turns', 'CONTAINER_RUNNING');
    const logs = (...args: readonly string[]) => daemon.run('logs', '--root-dir', daemon.rootDir, 'turns', ...args);
    await eventually('the agent knows the container', async () => (await logs()).stdout === 'run 1\n');

    const first = followLog(daemon, 'turns');
    await eventually('the log is followed', () => first.output === 'run 1\n');
    writeFileSync(join(daemon.directory, 'end-1'), '');
    expect([await first.exit, first.output, first.problems]).toEqual([[0, null], 'run 1\nend 1\n', '']);

    await daemon.reached('turns', 'CONTAINER_RUNNING', { attempt: 1 });
    await eventually('the agent knows both instances', async () => {
      expect(await logs('-p')).toEqual(printed('run 1\nend 1\n'));
      expect(await logs()).toEqual(printed('run 2\n'));
      return true;
    });

    // The log goes on without the agent.
    const second = followLog(daemon, 'turns');
    await eventually('the log is followed', () => second.output === 'run 2\n');
    await daemon.kill('SIGKILL');
    expect(await logs('-p', '--tail=1')).toEqual(printed('end 1\n'));
    const third = followLog(daemon, 'turns', '--tail=0');
    writeFileSync(join(daemon.directory, 'end-2'), '');
    expect([await second.exit, second.output, second.problems]).toEqual([[0, null], 'run 2\nend 2\n', '']);
    expect([await third.exit, third.problems]).toEqual([[0, null], '']);
    expect(await logs('-f')).toEqual(printed('run 2\nend 2\n'));
  });
});
