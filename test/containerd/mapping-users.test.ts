import { expect } from 'vitest';
import { eventually } from '../embedded/eventually.js';
import { NAMED, SERVER } from './containerd-node.js';
import { procStatus, running, toldOfContainer } from './inside.js';
import { overContainerd } from './missing.js';
import { onOneNode } from './one-node.js';

const it = onOneNode();

const groupsOf = (pid: number): readonly string[] => (procStatus(pid, 'Groups') ?? '').split(' ').filter(Boolean);
/** The effective user and group of a process. */
const idsOf = (pid: number): string => `${idOf(pid, 'Uid')}:${idOf(pid, 'Gid')}`;
const idOf = (pid: number, kind: 'Uid' | 'Gid') => procStatus(pid, kind)?.split('\t')[1];

overContainerd('the users of containers', () => {
  it('are those of the image, of the pod, or of the container', async ({ node }) => {
    node.apply({
      name: 'images',
      containers: [{ name: 'root' }, { name: 'number', image: SERVER }, { name: 'named', image: NAMED }],
    });
    node.apply({
      name: 'own',
      securityContext: { runAsUser: 2000, runAsGroup: 2001 },
      containers: [
        { name: 'pod' },
        { name: 'user', securityContext: { runAsUser: 3000 } },
        { name: 'group', image: NAMED, securityContext: { runAsGroup: 3001 } },
        { name: 'both', image: NAMED, securityContext: { runAsUser: 0, runAsGroup: 0 } },
      ],
    });
    const ids = async (pod: string, names: readonly string[]) =>
      Promise.all(names.map(async (name) => `${name} ${idsOf((await running(node, pod, name)).pid)}`));
    expect(await ids('images', ['root', 'number', 'named'])).toEqual([
      'root 0:0',
      'number 1000:1000',
      'named 1000:1000',
    ]);
    expect(await ids('own', ['pod', 'user', 'group', 'both'])).toEqual([
      ...['pod 2000:2001', 'user 3000:2001', 'group 2000:3001', 'both 0:0'],
    ]);
  });

  it('are in the groups of the pod, and in those of the image unless the pod is strict', async ({ node }) => {
    const securityContext = { fsGroup: 4000, supplementalGroups: [5000, 5001] };
    const containers = [{ image: NAMED }];
    node.apply({ name: 'merged', securityContext, containers });
    node.apply({
      ...{ name: 'strict', containers },
      securityContext: { ...securityContext, supplementalGroupsPolicy: 'Strict' },
    });
    const merged = await running(node, 'merged');
    expect(groupsOf(merged.pid)).toEqual(expect.arrayContaining(['3000', '4000', '5000', '5001']));
    const { config } = await toldOfContainer(node, merged.id);
    expect(config.linux.security_context?.supplemental_groups).toEqual([4000, 5000, 5001]);
    // containerd knows of strict pods from 2.0 on.
    const { features } = await node.ask((runtime) => runtime.status({ verbose: false }));
    if (!features?.supplementalGroupsPolicy) {
      await eventually('it is refused', async () => {
        expect(await node.podStatus('strict')).toMatchObject({
          ...{ phase: 'Failed', reason: 'SupplementalGroupsPolicyNotSupported' },
        });
        return true;
      });
      await expect(node.sandboxOf('strict')).rejects.toThrow('strict has no sandbox');
      return;
    }
    const strict = await running(node, 'strict');
    expect(groupsOf(strict.pid)).toEqual(expect.arrayContaining(['4000', '5000', '5001']));
    expect(groupsOf(strict.pid)).not.toContain('3000');
  });
});

overContainerd('a container that must not run as root', () => {
  it.for([
    ['root by its image', {}, 'container has runAsNonRoot and image will run as root'],
    ['zero', { containers: [{ securityContext: { runAsUser: 0 } }] }, "container's runAsUser breaks non-root policy"],
    [
      'a name',
      { containers: [{ image: NAMED }] },
      'container has runAsNonRoot and image has non-numeric user (web), cannot verify user is non-root',
    ],
  ] as const)('is not started as %s', async ([what, spec, message], { node }) => {
    const name = `as-${what.replaceAll(' ', '-')}`;
    node.apply({ name, ...spec, securityContext: { runAsNonRoot: true } });
    await eventually('the reason is reported', async () => {
      const waiting = await node.waiting(name);
      expect(waiting.reason).toBe('CreateContainerConfigError');
      expect(waiting.message?.slice(0, message.length)).toBe(message);
      expect(waiting.message?.slice(message.length)).toMatch(/^ \(pod: "as-.*", container: main\)$/);
      return true;
    });
    expect(await node.containersOf(name)).toEqual([]);
  });

  it.for([
    ['number-of-the-image', { image: SERVER }, '1000'],
    ['number-of-the-container', { securityContext: { runAsUser: 7 } }, '7'],
    ['number-in-place-of-a-name', { image: NAMED, securityContext: { runAsUser: 8 } }, '8'],
    ['root-after-all', { securityContext: { runAsNonRoot: false } }, '0'],
  ] as const)('is started as %s', async ([name, container, uid], { node }) => {
    node.apply({ name, securityContext: { runAsNonRoot: true }, containers: [container] });
    expect(idsOf((await running(node, name)).pid).split(':')[0]).toBe(uid);
  });
});
