import { appendFile, mkdir, mkdtemp, open, rename, rm, symlink, unlink, utimes, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { basename, dirname, join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { fileSource, type FileSource } from '../../../src/sources/file-source.js';
import { type Listening, listenTo, manifestOf } from './source-events.js';

let directory: string;
let opened: Listening[];

beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), 'manifests-'));
  opened = [];
});

afterEach(async () => {
  for (const { subscription } of opened) subscription.unsubscribe();
  await rm(directory, { recursive: true, force: true });
});

/** The check at intervals is an hour away, so that every change is seen by watching. */
const listen = (path: string, options: Partial<FileSource> = {}): Listening => {
  const listening = listenTo(fileSource({ path, nodeName: 'Node1', fileCheckFrequencyMs: 3_600_000, ...options }));
  opened.push(listening);
  return listening;
};

const until = (check: () => void) => vi.waitFor(check, { timeout: 90_000, interval: 5 });
const pod = (name: string) => `${name}-node1`;
const file = (name: string) => join(directory, name);

/** Puts a file in place as a whole: `writeFile` empties it first, and an empty manifest is another event. */
const put = async (path: string, text: string): Promise<void> => {
  const draft = join(dirname(path), `.${basename(path)}.draft`);
  await writeFile(draft, text);
  await rename(draft, path);
};

/** Edits a file in place by one write of a text of the same length. */
const edit = async (path: string, text: string): Promise<void> => {
  const opened = await open(path, 'r+');
  try {
    expect((await opened.stat()).size).toBe(text.length);
    await opened.write(text, 0);
  } finally {
    await opened.close();
  }
};

/** Has the source read the directory after it began to watch? Then every later change is a change to see. */
const settled = async (listening: Listening): Promise<void> => {
  await put(file('settled.yaml'), manifestOf('settled'));
  await until(() => expect(listening.names()).toContain(pod('settled')));
  await unlink(file('settled.yaml'));
  await until(() => expect(listening.names()).not.toContain(pod('settled')));
};

describe('fileSource', () => {
  it('lists a directory at once, in the order of names, without dot files and subdirectories', async () => {
    await writeFile(file('b.yaml'), manifestOf('second'));
    await writeFile(
      file('a.json'),
      JSON.stringify({
        apiVersion: 'v1',
        kind: 'Pod',
        metadata: { name: 'first' },
        spec: { containers: [{ name: 'c', image: 'i' }] },
      }),
    );
    await writeFile(file('.hidden.yaml'), manifestOf('hidden'));
    await mkdir(file('sub'));
    await writeFile(join(file('sub'), 'c.yaml'), manifestOf('sub'));
    const listening = listen(directory);
    await until(() => expect(listening.names()).toEqual([pod('first'), pod('second')]));
    expect(listening.problems()).toEqual([]);
  });

  it('says of an empty directory that it wants nothing', async () => {
    const listening = listen(`${directory}/`);
    await until(() => expect(listening.names()).toEqual([]));
    expect(listening.problems()).toEqual([]);
  });

  it('sees a file created, edited in place, replaced by a rename, renamed and deleted', async () => {
    const listening = listen(directory);
    await settled(listening);
    const image = () =>
      listening.events
        .flatMap((event) => (event.kind === 'set' ? [event.pods[0]?.spec.containers[0]?.image] : []))
        .at(-1);
    await put(file('a.yaml'), manifestOf('a', 'one'));
    await until(() => expect(image()).toBe('one'));
    await edit(file('a.yaml'), manifestOf('a', 'two'));
    await until(() => expect(image()).toBe('two'));
    await writeFile(file('.a.yaml.tmp'), manifestOf('a', 'three'));
    await rename(file('.a.yaml.tmp'), file('a.yaml'));
    await until(() => expect(image()).toBe('three'));
    await rename(file('a.yaml'), file('z.yaml'));
    await put(file('b.yaml'), manifestOf('b'));
    await until(() => expect(listening.names()).toEqual([pod('b'), pod('a')]));
    await unlink(file('z.yaml'));
    await until(() => expect(listening.names()).toEqual([pod('b')]));
    expect(listening.problems()).toEqual([]);
  });

  it('keeps the pod of a file that is broken until it is repaired, and says where it is broken', async () => {
    const listening = listen(directory);
    await settled(listening);
    await put(file('a.yaml'), manifestOf('a', 'one'));
    await until(() => expect(listening.names()).toEqual([pod('a')]));
    const before = listening.events.length;
    await put(file('a.yaml'), manifestOf('a', 'two').replace('image', 'imagee'));
    await until(() => expect(listening.events.length).toBeGreaterThanOrEqual(before + 2));
    expect(listening.events.slice(before).map(({ kind }) => kind)).toEqual(['problem', 'problem']);
    expect(listening.problems()).toEqual([
      `${file('a.yaml')}:8:5: spec.containers[0].imagee: is not a known field (expected perhaps image)`,
      `${file('a.yaml')}: until this is repaired, default/a-node1 stays as last read`,
    ]);
    await put(file('a.yaml'), manifestOf('b', 'two'));
    await until(() => expect(listening.names()).toEqual([pod('b')]));
  });

  it('survives its directory being deleted and made again', async () => {
    const path = file('manifests');
    await mkdir(path);
    await writeFile(join(path, 'a.yaml'), manifestOf('a'));
    const listening = listen(path);
    await until(() => expect(listening.names()).toEqual([pod('a')]));
    await rm(path, { recursive: true });
    await until(() => expect(listening.problems()).toEqual([expect.stringContaining('does not exist')]));
    await until(() => expect(listening.names()).toEqual([]));
    await mkdir(path);
    await put(join(path, 'b.yaml'), manifestOf('b'));
    await until(() => expect(listening.names()).toEqual([pod('b')]));
    // The new directory is watched, not only listed.
    await put(join(path, 'c.yaml'), manifestOf('c'));
    await until(() => expect(listening.names()).toEqual([pod('b'), pod('c')]));
  });

  it('follows a path to another directory that takes its place', async () => {
    const [path, other] = [file('manifests'), file('other')];
    await mkdir(path);
    await mkdir(other);
    await writeFile(join(path, 'a.yaml'), manifestOf('a'));
    await writeFile(join(other, 'b.yaml'), manifestOf('b'));
    const listening = listen(path);
    await until(() => expect(listening.names()).toEqual([pod('a')]));
    await rename(path, file('aside'));
    await rename(other, path);
    await until(() => expect(listening.names()).toEqual([pod('b')]));
    await put(join(path, 'c.yaml'), manifestOf('c'));
    await until(() => expect(listening.names()).toEqual([pod('b'), pod('c')]));
  });

  it('waits for a path that does not exist yet', async () => {
    const path = join(file('later'), 'manifests');
    const listening = listen(path);
    await until(() => expect(listening.names()).toEqual([]));
    await until(() => expect(listening.problems()).toEqual([expect.stringContaining(`${path}: does not exist`)]));
    await mkdir(path, { recursive: true });
    await put(join(path, 'a.yaml'), manifestOf('a'));
    await until(() => expect(listening.names()).toEqual([pod('a')]));
  });

  it('takes a single file, sees it replaced, keeps its pod while it is broken, and drops it when it is gone', async () => {
    const path = file('pod.yaml');
    await writeFile(path, manifestOf('a'));
    const listening = listen(path);
    await until(() => expect(listening.names()).toEqual([pod('a')]));
    await writeFile(file('next'), manifestOf('b'));
    await rename(file('next'), path);
    await until(() => expect(listening.names()).toEqual([pod('b')]));
    await writeFile(file('next'), 'kind: Pod: no');
    await rename(file('next'), path);
    await until(() => expect(listening.problems().at(-1)).toContain('stays as last read'));
    expect(listening.names()).toEqual([pod('b')]);
    await unlink(path);
    await until(() => expect(listening.names()).toEqual([]));
  });

  it('reads what links point to, as mounted config maps have it', async () => {
    await mkdir(file('..one'));
    await mkdir(file('..two'));
    await writeFile(join(file('..one'), 'pod.yaml'), manifestOf('one'));
    await writeFile(join(file('..two'), 'pod.yaml'), manifestOf('two'));
    await symlink('..one', file('..data'));
    await symlink('..data/pod.yaml', file('pod.yaml'));
    const listening = listen(directory);
    await until(() => expect(listening.names()).toEqual([pod('one')]));
    await symlink('..two', file('..next'));
    await rename(file('..next'), file('..data'));
    await until(() => expect(listening.names()).toEqual([pod('two')]));
  });

  it('reads 200 files that appear at once, and only those that change afterwards', async () => {
    const listening = listen(directory);
    await settled(listening);
    const names = Array.from({ length: 200 }, (_, index) => `p${String(index).padStart(3, '0')}`);
    await Promise.all(names.map((name) => put(file(`${name}.yaml`), manifestOf(name))));
    await until(() => expect(listening.names()).toEqual(names.map(pod)));
    const setOf = () => listening.events.findLast((event) => event.kind === 'set')!;
    const before = setOf();
    await put(file('p100.yaml'), manifestOf('p100', 'other'));
    await until(() => expect(setOf()).not.toBe(before));
    const changed = setOf().pods.filter((one, index) => one !== before.pods[index]);
    expect(changed.map(({ metadata }) => metadata.name)).toEqual([pod('p100')]);
  });

  it('says nothing when a file is touched or its text stays the same', async () => {
    await writeFile(file('a.yaml'), manifestOf('a'));
    const listening = listen(directory);
    await settled(listening);
    const count = listening.events.length;
    await utimes(file('a.yaml'), 1, 1);
    await edit(file('a.yaml'), manifestOf('a'));
    await put(file('b.yaml'), manifestOf('b'));
    await until(() => expect(listening.names()).toEqual([pod('a'), pod('b')]));
    expect(listening.events.length).toBe(count + 1);
  });

  it('refuses a file of more than 10 MiB, with any content', async () => {
    const text = manifestOf('a');
    await writeFile(file('a.yaml'), text);
    await appendFile(file('a.yaml'), '#'.repeat(10 * 2 ** 20 - text.length));
    const listening = listen(directory);
    await until(() => expect(listening.names()).toEqual([pod('a')]));
    await appendFile(file('a.yaml'), '#');
    await until(() => expect(listening.problems().at(0)).toContain('is larger than 10485760 bytes'));
    expect(listening.names()).toEqual([pod('a')]);
  });

  it('checks at intervals what no watch reports', async () => {
    await mkdir(file('real'));
    await writeFile(join(file('real'), 'a.yaml'), manifestOf('a'));
    await mkdir(file('manifests'));
    // A change behind a link to a file elsewhere is none of the watched directory.
    await symlink('../real/a.yaml', join(file('manifests'), 'a.yaml'));
    const listening = listen(file('manifests'), { fileCheckFrequencyMs: 50 });
    await until(() => expect(listening.names()).toEqual([pod('a')]));
    await writeFile(join(file('real'), 'a.yaml'), manifestOf('b'));
    await until(() => expect(listening.names()).toEqual([pod('b')]));
  });

  it('keeps the pods of a path that it can no longer look into', async () => {
    const path = file('manifests');
    await mkdir(path);
    await writeFile(join(path, 'a.yaml'), manifestOf('a'));
    const listening = listen(path);
    await until(() => expect(listening.names()).toEqual([pod('a')]));
    await rename(path, file('aside'));
    await symlink('manifests', path);
    await until(() => expect(listening.problems().at(-1)).toContain('cannot be read (ELOOP)'));
    await unlink(path);
    await rename(file('aside'), path);
    await put(join(path, 'b.yaml'), manifestOf('b'));
    await until(() => expect(listening.names()).toEqual([pod('a'), pod('b')]));
  });

  it('says that something else than a file or directory holds no manifests', async () => {
    const listening = listen('/dev/null');
    await until(() =>
      expect(listening.problems()).toEqual([expect.stringContaining('neither a file nor a directory')]),
    );
    expect(listening.names()).toBeUndefined();
  });
});
