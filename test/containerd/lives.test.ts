import { readFileSync } from 'node:fs';
import { expect } from 'vitest';
import { NODE_NAME } from '../embedded/daemon.js';
import { eventually } from '../embedded/eventually.js';
import { type ContainerdNode, it } from './containerd-node.js';
import { overContainerd } from './missing.js';

const BACK_OFF_NS = 10_000_000_000n;
const SECOND_NS = 1_000_000_000n;

/** The newest container, once it runs and has written `up`. */
const up = async (
  node: ContainerdNode,
  pod: string,
  options?: { readonly name?: string; readonly attempt?: number },
) => {
  const status = await node.reached(pod, 'CONTAINER_RUNNING', options);
  await eventually(`${pod} is up`, () => node.output(status).includes('up'));
  node.keepLog(status);
  return status;
};

overContainerd(
  'the containers of a pod',
  () => {
    it('wait longer and longer when they keep failing', async ({ node }) => {
      node.apply({ name: 'crash', containers: [{ script: 'exit 1' }] });
      node.apply({ name: 'no-command', containers: [{ command: ['/no/such/file'] }] });
      await node.start();
      const second = await node.reached('crash', 'CONTAINER_EXITED', { attempt: 1 });
      await eventually('it is shown as backing off', async () => {
        expect(await node.waiting('crash')).toMatchObject({ reason: 'CrashLoopBackOff' });
        const { stdout } = await node.run('why', `crash-${NODE_NAME}`, '--root-dir', node.rootDir);
        expect(stdout).toContain('waits to be started again (CrashLoopBackOff)');
        return true;
      });
      const third = await node.reached('crash', 'CONTAINER_EXITED', { attempt: 2 });
      expect(third.startedAt - second.finishedAt).toBeGreaterThanOrEqual(BACK_OFF_NS);
      // What cannot even be started is reported in the words of the runtime.
      await eventually('it says what cannot be started', async () => {
        const text = JSON.stringify((await node.podStatus('no-command'))?.containerStatuses?.[0]);
        return text.includes('/no/such/file') && /RunContainerError|StartError|CrashLoopBackOff/.test(text);
      });
    });
  },
  { alone: true },
);

overContainerd(
  'stopping',
  () => {
    it('lets a container end by itself, and kills one that does not after its grace period', async ({ node }) => {
      const says = (action: string) => `trap '${action}' TERM; echo up; while :; do sleep 0.1; done`;
      await node.keepEnded(/^/);
      node.apply({ name: 'polite', containers: [{ script: says('echo bye; exit 7') }] });
      node.apply({ name: 'deaf', terminationGracePeriodSeconds: 3, containers: [{ script: says('echo deaf') }] });
      await node.start();
      const [polite, deaf] = await Promise.all([up(node, 'polite'), up(node, 'deaf')]);
      node.delete('polite.yaml');
      node.delete('deaf.yaml');
      expect(await node.reached('polite', 'CONTAINER_EXITED')).toMatchObject({ id: polite.id, exitCode: 7 });
      expect(node.output(polite).at(-1)).toBe('bye');
      const killed = await node.reached('deaf', 'CONTAINER_EXITED');
      expect(killed).toMatchObject({ id: deaf.id, exitCode: 137 });
      const asked = readFileSync(node.logFile(deaf), 'utf8')
        .split('\n')
        .find((line) => line.endsWith('stdout F deaf'));
      const askedAt = BigInt(Date.parse(asked?.split(' ')[0] ?? '')) * 1_000_000n;
      // The shell handles the signal when its sleep has ended, 0.1 s later at most.
      expect(killed.finishedAt - askedAt).toBeGreaterThanOrEqual(3n * SECOND_NS - SECOND_NS / 5n);
      await eventually('the sandboxes are stopped', async () =>
        (await node.sandboxes()).every(({ state }) => state === 'SANDBOX_NOTREADY'),
      );
    });

    it('runs the hook first', async ({ node }) => {
      const exec = { command: ['sh', '-c', 'echo hook > /proc/1/fd/1; sleep 1'] };
      const script = "trap 'echo term; exit 0' TERM; echo up; while :; do sleep 0.05; done";
      const grace = { terminationGracePeriodSeconds: 20 };
      await node.keepEnded(/^/);
      node.apply({ name: 'exec', ...grace, containers: [{ script, lifecycle: { preStop: { exec } } }] });
      node.apply({
        name: 'sleep',
        ...grace,
        containers: [{ script, lifecycle: { preStop: { sleep: { seconds: 2 } } } }],
      });
      const post = { exec: { command: ['sh', '-c', 'echo started > /proc/1/fd/1'] } };
      node.apply({ name: 'post', containers: [{ lifecycle: { postStart: post } }] });
      await node.start();
      const [hooked] = await Promise.all([up(node, 'exec'), up(node, 'sleep')]);
      const { logPath } = await node.reached('post', 'CONTAINER_RUNNING');
      await eventually('the hook after the start has run', () => node.output({ logPath }).includes('started'));
      const deletedAt = BigInt(Date.now()) * 1_000_000n;
      node.delete('exec.yaml');
      node.delete('sleep.yaml');
      expect(await node.reached('exec', 'CONTAINER_EXITED')).toMatchObject({ exitCode: 0 });
      expect(node.output(hooked)).toEqual(['up', 'hook', 'term']);
      const slept = await node.reached('sleep', 'CONTAINER_EXITED');
      expect(slept.exitCode).toBe(0);
      expect(slept.finishedAt - deletedAt).toBeGreaterThanOrEqual(2n * SECOND_NS);
    });

    it('takes the pods along with the agent where that is asked for', async ({ node }) => {
      node.apply({ name: 'one' });
      node.apply({ name: 'two' });
      await node.start('--stop-pods-on-exit');
      await Promise.all(['one', 'two'].map((pod) => node.reached(pod, 'CONTAINER_RUNNING')));
      expect(await node.kill('SIGTERM')).toEqual({ code: 0, signal: null });
      expect((await node.containers()).map(({ state }) => state)).toEqual(['CONTAINER_EXITED', 'CONTAINER_EXITED']);
      expect((await node.sandboxes()).map(({ state }) => state)).toEqual(['SANDBOX_NOTREADY', 'SANDBOX_NOTREADY']);
    });
  },
  { alone: true },
);

overContainerd(
  'an agent',
  () => {
    it('adopts what it finds, and puts up with a runtime that restarts', async ({ node }) => {
      node.apply({ name: 'steady', containers: [{}, { name: 'other' }] });
      node.apply({ name: 'done', restartPolicy: 'Never', containers: [{ script: 'exit 5' }] });
      await node.start();
      await Promise.all(['main', 'other'].map((name) => node.reached('steady', 'CONTAINER_RUNNING', { name })));
      await node.reached('done', 'CONTAINER_EXITED');
      const before = await node.containers();
      const again = async (phase: string) => {
        // A pod that comes after all others shows that they were looked at.
        node.apply({ name: phase });
        await node.reached(phase, 'CONTAINER_RUNNING');
        expect((await node.containers()).filter(({ pod }) => pod !== `${phase}-${NODE_NAME}`)).toEqual(before);
        node.withdraw(phase);
        await eventually(`${phase} is gone`, async () => {
          const { sandboxId = '' } = (await node.containersOf(phase))[0] ?? {};
          if (!sandboxId) return true;
          await node.ask((runtime) => runtime.removePodSandbox({ podSandboxId: sandboxId }));
          return undefined;
        });
      };
      expect(await node.kill('SIGTERM')).toEqual({ code: 0, signal: null });
      expect(await node.containers()).toEqual(before);
      await node.start();
      await again('after-the-agent');
      await node.killRuntime('SIGTERM');
      await node.startRuntime();
      await again('after-the-runtime');
      await eventually('it is healthy', async () => (await node.health()).status === 200);
      expect(await node.podStatus('done')).toMatchObject({ phase: 'Failed' });
    });
  },
  { alone: true },
);
