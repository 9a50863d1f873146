import { describe, expect } from 'vitest';
import { alone } from './churn.js';
import { it } from './daemon.js';
import { eventually } from './eventually.js';
import { manifest, SLEEP } from './manifests.js';

/** A third line with a slip of the pen in its tenth column. */
const BROKEN = `apiVersion: v1
kind: Pod
metadata: { nmae: broken }
spec: { containers: [{ name: main, image: host, command: [sleep, '9'] }] }
`;
const SLIP = /:3:13: metadata\.nmae: is not a known field \(expected perhaps name\)/;

describe.concurrent('a manifest that cannot be used', () => {
  it('does not stop the documents beside it', async ({ daemon }) => {
    const good = (name: string) => manifest(daemon.directory, { name });
    daemon.write('mixed.yaml', `${BROKEN}---\n${good('one')}\n---\n${good('two')}\n`);
    daemon.write('garbage.yaml', 'kind: [');
    daemon.apply({ name: 'three' });
    await daemon.start();
    for (const name of ['one', 'two', 'three']) await daemon.reached(name, 'CONTAINER_RUNNING');
    expect((await daemon.shownPods()).map(({ metadata }) => metadata.name).toSorted()).toEqual([
      ...['one-node1', 'three-node1', 'two-node1'],
    ]);
    const said = daemon.logged().filter(({ level }) => level !== 'info');
    const problems = said.map(({ message }) => message);
    expect(problems).toContainEqual(expect.stringMatching(/^.*mixed\.yaml:3:13: metadata\.nmae/));
    expect(problems).toContainEqual(expect.stringMatching(SLIP));
    expect(problems).toContainEqual(expect.stringMatching(/garbage\.yaml:1:\d+: /));
  });

  it('leaves what runs of it alone until it is repaired', async ({ daemon }) => {
    daemon.apply(alone('kept', SLEEP));
    daemon.apply({ name: 'other' });
    await daemon.start();
    const before = await daemon.reached('kept', 'CONTAINER_RUNNING');
    const process = await daemon.processOf('kept');
    const isUntouched = async () => {
      expect(await daemon.reached('kept', 'CONTAINER_RUNNING')).toMatchObject({
        id: before.id,
        startedAt: before.startedAt,
      });
      expect(await daemon.processOf('kept')).toEqual(process);
      expect(daemon.lines('starts-kept')).toHaveLength(1);
    };

    /** Resolves with the pod once it runs as another one; the garbage of earlier ones is not counted. */
    const replaced = (previous: string | undefined) =>
      eventually('the other pod was replaced', async () => {
        const [newest] = await daemon.containersOf('other');
        return newest?.state === 'CONTAINER_RUNNING' && newest.uid !== previous && newest.uid;
      });
    const first = await replaced(undefined);

    daemon.write('kept.yaml', BROKEN);
    const problem = await eventually('the journal has it', () =>
      daemon.journal().find((entry) => entry.kind === 'config-problem' && (entry.keeps?.length ?? 0) > 0),
    );
    expect(problem).toMatchObject({
      source: 'file',
      from: expect.stringMatching(/kept\.yaml$/) as unknown,
      keeps: [{ name: 'kept-node1' }],
    });
    await eventually('the log has it', () => {
      const messages = daemon.logged().map(({ message }) => message);
      expect(messages).toContainEqual(expect.stringMatching(SLIP));
      expect(messages).toContainEqual(
        expect.stringMatching(/kept\.yaml: until this is repaired, default\/kept-node1 stays as last read$/),
      );
      return true;
    });
    const why = await daemon.run('why', 'kept-node1', '--root-dir', daemon.rootDir);
    expect(why.stdout).toContain('kept-node1_default is Running');
    expect(why.stdout).toMatch(/unchanged: file .*kept\.yaml cannot be used since/);
    // Others go on meanwhile; once their change has come through, this one would have been stopped, too.
    daemon.apply({ name: 'other', labels: { changed: 'yes' } });
    const second = await replaced(first);
    await isUntouched();

    // Repaired as it was.
    daemon.apply(alone('kept', SLEEP));
    await eventually('the journal has the repair', () =>
      daemon.journal().some(({ kind }) => kind === 'config-recovered'),
    );
    daemon.apply({ name: 'other', labels: { changed: 'again' } });
    await replaced(second);
    await isUntouched();
    const after = await daemon.run('why', 'kept-node1', '--root-dir', daemon.rootDir);
    expect(after.stdout).not.toMatch(/unchanged:/);

    // Broken again and repaired as something else.
    const problems = () =>
      daemon.journal().filter((entry) => entry.kind === 'config-problem' && entry.keeps !== undefined).length;
    const earlier = problems();
    daemon.write('kept.yaml', BROKEN);
    await eventually('the journal has it again', () => problems() > earlier);
    daemon.apply({ ...alone('kept', SLEEP), labels: { changed: 'yes' } });
    await eventually('it is replaced', async () => {
      const [newest] = await daemon.containersOf('kept');
      return (
        newest?.state === 'CONTAINER_RUNNING' && newest.id !== before.id && daemon.processesOf('kept').length === 1
      );
    });
    expect(await daemon.processOf('kept')).not.toEqual(process);
    expect(daemon.lines('doubles')).toEqual([]);
  });
});
