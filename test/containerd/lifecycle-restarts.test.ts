import { expect } from 'vitest';
import { eventually } from '../embedded/eventually.js';
import { QUICK_RESTARTS } from '../embedded/quick-restarts.js';
import { killProcess } from '../support/kill-process.js';
import { running } from './inside.js';
import { overContainerd } from './missing.js';
import { onOneNode } from './one-node.js';

const it = onOneNode((node) => ['--config', node.configuration(QUICK_RESTARTS)]);

/** Ends with the first code, then with the second one and so on; all instances see the pod's shared memory. */
const endsWith = (...codes: readonly number[]): string =>
  `echo x >> /dev/shm/$0; set -- ${codes.join(' ')}; shift $(($(wc -l < /dev/shm/$0) - 1)); exit \${1:-0}`;
const container = (name: string, script: string, more: object = {}) => ({
  ...{ name, command: ['/bin/sh', '-c', script, name], ...more },
});

overContainerd('containers that end', () => {
  it('are started again as the restart policy says', async ({ node }) => {
    node.apply({ name: 'on-failure', restartPolicy: 'OnFailure', containers: [container('main', endsWith(3, 0))] });
    node.apply({ name: 'never', restartPolicy: 'Never', containers: [{ script: 'exit 4' }] });
    node.apply({ name: 'job', restartPolicy: 'Never', containers: [{ script: 'exit 0' }] });
    node.apply({ name: 'always', restartPolicy: 'Always', containers: [{ script: 'exit 0' }] });
    expect(await node.reached('never', 'CONTAINER_EXITED')).toMatchObject({ exitCode: 4, reason: 'Error' });
    expect(await node.reached('on-failure', 'CONTAINER_EXITED', { attempt: 1 })).toMatchObject({
      ...{ exitCode: 0, reason: 'Completed' },
    });
    // By then the others would have been started again, too.
    await node.reached('always', 'CONTAINER_EXITED', { attempt: 2 });
    for (const pod of ['never', 'job']) expect(await node.containersOf(pod)).toMatchObject([{ attempt: 0 }]);
    expect((await node.containersOf('on-failure'))[0]).toMatchObject({ attempt: 1 });
    await eventually('the phases show the same', async () => {
      const pods = ['always', 'never', 'on-failure', 'job'];
      const phases = await Promise.all(pods.map(async (name) => (await node.podStatus(name))?.phase));
      expect(phases).toEqual(['Running', 'Failed', 'Succeeded', 'Succeeded']);
      return true;
    });
    for (const pod of ['never', 'on-failure', 'job']) {
      await eventually(`the sandbox of ${pod} is stopped`, async () => {
        return (await node.sandboxOf(pod)).state === 'SANDBOX_NOTREADY';
      });
    }
    node.delete('always.yaml');
  });

  it('do not run a second time under the policy Never, also once the runtime has lost them', async ({ node }) => {
    node.apply({
      ...{ name: 'once', restartPolicy: 'Never' },
      containers: [
        container('done', 'exit 3'),
        container('always', 'sleep 1', { restartPolicy: 'Always' }),
        container('stays', 'exec sleep 2147483'),
      ],
    });
    const { id: containerId } = await node.reached('once', 'CONTAINER_EXITED', { name: 'done' });
    await eventually('its status has the end', async () => {
      const { containerStatuses = [] } = (await node.podStatus('once')) ?? {};
      return containerStatuses.some(({ name, state }) => name === 'done' && state?.terminated?.exitCode === 3);
    });
    await node.ask((runtime) => runtime.removeContainer({ containerId }));
    const [always] = await node.containersOf('once', 'always');
    // Each of its ends causes a sync.
    await node.reached('once', 'CONTAINER_EXITED', { name: 'always', attempt: (always?.attempt ?? 0) + 2 });
    expect(await node.containersOf('once', 'done')).toEqual([]);
    expect((await node.podStatus('once'))?.containerStatuses?.find(({ name }) => name === 'done')).toMatchObject({
      ...{ restartCount: 0, state: { terminated: { exitCode: 3 } } },
    });
    node.withdraw('once');
  });

  it('are started again as they say themselves', async ({ node }) => {
    const rule = (operator: string, ...values: readonly number[]) => ({
      action: 'Restart',
      exitCodes: { operator, values },
    });
    node.apply({
      ...{ name: 'rules', restartPolicy: 'Always' },
      containers: [
        // Twice by the rule; the third code is not one of it.
        container('in', endsWith(42, 42, 1), { restartPolicy: 'Never', restartPolicyRules: [rule('In', 42)] }),
        container('not-in', endsWith(5, 7, 9), { restartPolicy: 'Never', restartPolicyRules: [rule('NotIn', 7)] }),
        container('never', endsWith(1), { restartPolicy: 'Never' }),
        container('on-failure', endsWith(1, 0), { restartPolicy: 'OnFailure' }),
        container('always', endsWith(0)),
      ],
    });
    for (const [name, attempt] of [
      ['in', 2] as const,
      ['not-in', 1] as const,
      ['on-failure', 1] as const,
      ['never', 0] as const,
    ])
      await node.reached('rules', 'CONTAINER_EXITED', { name, attempt });
    const [always] = await node.containersOf('rules', 'always');
    // By then the others would have been started again, too.
    await node.reached('rules', 'CONTAINER_EXITED', { name: 'always', attempt: (always?.attempt ?? 0) + 2 });
    const newest = async (name: string) => {
      const [{ id, attempt } = { id: '', attempt: -1 }] = await node.containersOf('rules', name);
      const { exitCode, state } = await node.status(id);
      return `${name} ${state} ${exitCode} at attempt ${attempt}`;
    };
    expect(await Promise.all(['in', 'not-in', 'never', 'on-failure'].map(newest))).toEqual([
      'in CONTAINER_EXITED 1 at attempt 2',
      'not-in CONTAINER_EXITED 7 at attempt 1',
      'never CONTAINER_EXITED 1 at attempt 0',
      'on-failure CONTAINER_EXITED 0 at attempt 1',
    ]);
    node.delete('rules.yaml');
  });

  it('take all others along if they say so', async ({ node }) => {
    const restartPolicyRules = [{ action: 'RestartAllContainers', exitCodes: { operator: 'In', values: [88] } }];
    node.apply({
      ...{ name: 'all', restartPolicy: 'Never' },
      initContainers: [{ name: 'init', script: 'echo init >> /dev/shm/order' }],
      containers: [
        container('main', 'until [ -e /dev/shm/go ]; do sleep 0.05; done; rm /dev/shm/go; exit 88', {
          ...{ restartPolicy: 'Never', restartPolicyRules },
        }),
        { name: 'other' },
      ],
    });
    const [main, other] = [await running(node, 'all'), await running(node, 'all', 'other')];
    const sandbox = await node.sandboxOf('all');
    await node.letGo(main.id, '/dev/shm/go');
    const again = await eventually('all of them run again', async () => {
      const both = [await running(node, 'all'), await running(node, 'all', 'other')];
      expect(both.map(({ id }) => id)).not.toContain(main.id);
      expect(both.map(({ id }) => id)).not.toContain(other.id);
      return both;
    });
    // In the same sandbox, the init container first; nothing of the former instances is left.
    expect((await node.sandboxOf('all')).id).toBe(sandbox.id);
    expect(await node.exec(again[0]?.id ?? '', 'cat', '/dev/shm/order')).toBe('init\ninit');
    expect((await node.containersOf('all')).map(({ name }) => name).toSorted()).toEqual(['init', 'main', 'other']);
  });
});

overContainerd('how a container has ended', () => {
  it.for([
    ['by-itself', 'exit 7', { exitCode: 7, reason: 'Error' }],
    ['well', 'exit 0', { exitCode: 0, reason: 'Completed' }],
    ['killed', 'kill -KILL $$$$', { exitCode: 137, reason: 'Error' }],
    ['asked', 'kill -TERM $$$$; exit 1', { exitCode: 143, reason: 'Error' }],
    ['faulty', 'kill -SEGV $$$$', { exitCode: 139, reason: 'Error' }],
  ] as const)('is reported as the kernel has it: %s', async ([name, script, end], { node }) => {
    // The first process of a namespace is not killed by signals from inside, so this one is the second. Two dollars mean one.
    node.apply({ name, ...{ restartPolicy: 'Never', containers: [{ script: `sh -c '${script}'; exit $?` }] } });
    expect(await node.reached(name, 'CONTAINER_EXITED')).toMatchObject(end);
    await eventually('the pod says the same', async () => {
      const status = await node.podStatus(name);
      expect(status?.containerStatuses?.[0]?.state?.terminated).toMatchObject(end);
      return status?.phase === (end.exitCode === 0 ? 'Succeeded' : 'Failed');
    });
  });

  it('is reported of a process that was killed from outside', async ({ node }) => {
    node.apply({ name: 'from-outside', restartPolicy: 'Never' });
    killProcess((await running(node, 'from-outside')).pid);
    expect(await node.reached('from-outside', 'CONTAINER_EXITED')).toMatchObject({ exitCode: 137, reason: 'Error' });
    await eventually('the pod has failed', async () => (await node.podStatus('from-outside'))?.phase === 'Failed');
  });
});
