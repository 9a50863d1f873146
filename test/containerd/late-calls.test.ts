import { expect } from 'vitest';
import { eventually } from '../embedded/eventually.js';
import { leftovers } from './leftovers.js';
import { overContainerd } from './missing.js';
import { IMPATIENT, it, startOver } from './proxied-node.js';

const SLOW_MACHINE_MS = 600_000;
const LONG_MS = 180_000;
/** Garbage is collected every minute. */
const COLLECTED_MS = 180_000;

overContainerd('what the runtime does after its pod has gone', () => {
  it('is found and taken away', { timeout: SLOW_MACHINE_MS }, async ({ node, proxy }) => {
    const late = [
      proxy.delay({ methods: 'runPodSandbox', pod: 'sandbox', times: 1 }),
      proxy.delay({ methods: 'createContainer', pod: 'create', times: 1 }),
      proxy.delay({ methods: 'startContainer', pod: 'start', times: 1 }),
    ];
    const pods = ['sandbox', 'create', 'start'];
    for (const name of [...pods, 'steady']) node.apply({ name });
    await startOver(node, proxy, IMPATIENT);
    await eventually('all three are under way', () => late.every(({ hits }) => hits() === 1));
    const steady = await node.reached('steady', 'CONTAINER_RUNNING');
    for (const name of pods) node.delete(`${name}.yaml`);
    await eventually(
      'the agent has given up its calls and forgotten the pods',
      () => node.journal().filter(({ kind }) => kind === 'forgotten').length === pods.length,
      LONG_MS,
    );
    for (const { release } of late) release();
    await eventually(
      'the runtime has made the sandbox, and found that it cannot do the rest in one that has stopped',
      () => late.every(({ outcomes }) => outcomes.length === 1),
      LONG_MS,
    );
    const [sandbox, ...rest] = late.map(({ outcomes: [outcome] }) => outcome);
    expect(sandbox).toBe('ok');
    expect(rest).not.toContain('ok');
    await eventually(
      'nothing of any of them is left',
      async () => {
        for (const pod of pods) expect([pod, await node.tracesOf(pod)]).toEqual([pod, []]);
        expect((await leftovers(node)).known).toEqual([]);
        return true;
      },
      COLLECTED_MS,
    );
    // containerd 1.6 may forget the shim of a sandbox whose caller goes away while it starts; no client can ask it to remove that.
    const { lost } = await leftovers(node);
    if (lost.length > 0) console.warn(`containerd has lost sight of:\n${lost.join('\n')}`);
    expect(await node.reached('steady', 'CONTAINER_RUNNING')).toMatchObject({ id: steady.id });
    expect(await node.kill('SIGTERM')).toEqual({ code: 0, signal: null });
  });
});
