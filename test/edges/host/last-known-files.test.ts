import {
  existsSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { lastValueFrom } from 'rxjs';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { forgetLastKnown, lastKnownFiles, type LastKnownPlace } from '../../../src/host/files/last-known-files.js';
import type { ApiObject } from '../../../src/model/kube-api/api-object.js';
import { lastKnownKey } from '../../../src/model/references/last-known-key.js';
import type { Pod } from '../../../src/model/pod/pod.js';
import type { KnownPods } from '../../../src/streams/ports/last-known.js';

let root: string;
beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), 'last-known-'));
});
afterEach(() => rmSync(root, { recursive: true, force: true }));

const podOf = (name: string): Pod => ({
  metadata: { uid: name, name, namespace: 'default', labels: { quote: '"\n' } },
  spec: { containers: [], fieldOfTomorrow: [1] } as Pod['spec'],
});
const known = (...names: readonly string[]): KnownPods => ({ pods: names.map(podOf), resourceVersion: '7', at: 99 });
const secret: ApiObject = { metadata: { name: 's', namespace: 'default' } };
const configMap: ApiObject = { metadata: { name: 'c', namespace: 'default' } };
const SECRET = lastKnownKey('Secret', 'default', 's');
const CONFIG_MAP = lastKnownKey('ConfigMap', 'default', 'c');

const stage = (place: Partial<LastKnownPlace> = {}) => {
  const said: { readonly message: string; readonly fields: object }[] = [];
  const say = (fields: object, message: string) => void said.push({ message, fields });
  const files = lastKnownFiles({
    rootDirectory: root,
    nodeName: 'node-1',
    server: 'https://api:6443',
    keepsSecrets: true,
    log: { info: say, warn: say },
    ...place,
  });
  return {
    said,
    read: () => lastValueFrom(files.readPods()),
    write: (pods: KnownPods) => lastValueFrom(files.writePods(pods), { defaultValue: undefined }),
    readObjects: () => lastValueFrom(files.readObjects()),
    writeObject: (key: string, object: ApiObject) =>
      lastValueFrom(files.writeObject(key, object), { defaultValue: undefined }),
    removeObject: (key: string) => lastValueFrom(files.removeObject(key), { defaultValue: undefined }),
  };
};
const podsPath = () => join(root, 'last-known', 'pods.json');
const objectFiles = (): readonly string[] =>
  ['objects', 'secrets']
    .map((folder) => join(root, 'last-known', folder))
    .flatMap((folder) => (existsSync(folder) ? readdirSync(folder).map((name) => join(folder, name)) : []));

describe('pods', () => {
  it('are given to a later agent as they were written last, whole', async () => {
    const { write } = stage();
    const first = known('a', 'b');
    await write(first);
    await write({ ...first, pods: [...first.pods.slice(1), podOf('c')], resourceVersion: '8' });
    expect(await stage().read()).toEqual({ ...known('b', 'c'), resourceVersion: '8' });
  });

  it('may be none', async () => {
    await stage().write(known());
    expect(await stage().read()).toEqual(known());
  });

  it('are replaced as a whole, for the owner only', async () => {
    await stage().write(known('a'));
    const before = statSync(podsPath()).ino;
    await stage().write(known('b'));
    expect(statSync(podsPath()).ino).not.toBe(before);
    expect(statSync(podsPath()).mode & 0o777).toBe(0o600);
    expect(statSync(join(root, 'last-known')).mode & 0o777).toBe(0o700);
    expect(readdirSync(join(root, 'last-known'))).toEqual(['pods.json']);
  });

  it('are undefined where nothing was written', async () => {
    expect(await stage().read()).toBeUndefined();
  });

  it.each([
    '{"half',
    '',
    'null',
    '[]',
    '{}',
    '{"format":2}',
    '{"format":1,"nodeName":"node-1","server":"https://api:6443","pods":{}}',
  ])('that are %j are named, put aside and ignored', async (text) => {
    await stage().write(known('a'));
    writeFileSync(podsPath(), text);
    const { read, said } = stage();
    expect(await read()).toBeUndefined();
    expect(said).toMatchObject([{ fields: { path: podsPath(), aside: `${podsPath()}.broken` } }]);
    expect(readFileSync(`${podsPath()}.broken`, 'utf8')).toBe(text);
    expect(existsSync(podsPath())).toBe(false);
    await stage().write(known('b'));
    expect(await stage().read()).toEqual(known('b'));
  });

  it.each<Partial<LastKnownPlace>>([{ nodeName: 'node-2' }, { server: 'https://other:6443' }])(
    'of another place than %j are ignored, and stay until they are replaced',
    async (place) => {
      await stage().write(known('a'));
      const { read, said } = stage(place);
      expect(await read()).toBeUndefined();
      expect(said).toHaveLength(1);
      expect(await stage().read()).toEqual(known('a'));
    },
  );

  it('that cannot be written or read are errors with the path', async () => {
    writeFileSync(join(root, 'last-known'), '');
    await expect(stage().write(known('a'))).rejects.toThrow(join(root, 'last-known'));
    await expect(stage().read()).rejects.toThrow(podsPath());
  });
});

describe('ConfigMaps and Secrets', () => {
  it('are given to a later agent by their keys', async () => {
    const { writeObject, removeObject } = stage();
    await writeObject(SECRET, secret);
    await writeObject(CONFIG_MAP, configMap);
    await writeObject('ConfigMap default/gone', configMap);
    await removeObject('ConfigMap default/gone');
    await removeObject('ConfigMap default/never');
    expect(await stage().readObjects()).toEqual(
      new Map([
        [SECRET, secret],
        [CONFIG_MAP, configMap],
      ]),
    );
    expect(objectFiles().map((path) => statSync(path).mode & 0o777)).toEqual([0o600, 0o600]);
  });

  it('are none where nothing was written', async () => {
    expect(await stage().readObjects()).toEqual(new Map());
  });

  it('cannot leave their folder by their names', async () => {
    await stage().writeObject('ConfigMap ../../x', configMap);
    expect(objectFiles()).toHaveLength(1);
    expect([...(await stage().readObjects()).keys()]).toEqual(['ConfigMap ../../x']);
  });

  it('may be refused, as far as they are secret: then none is written, and those that were are removed', async () => {
    await stage().writeObject(SECRET, secret);
    await stage({ server: 'https://other:6443' }).writeObject('Secret default/elsewhere', secret);
    writeFileSync(`${objectFiles()[0]}.broken`, 'secret');
    const refusing = stage({ keepsSecrets: false });
    await refusing.writeObject('Secret default/other', secret);
    await refusing.writeObject(CONFIG_MAP, configMap);
    expect([...(await refusing.readObjects()).keys()]).toEqual([CONFIG_MAP]);
    expect(objectFiles()).toHaveLength(1);
  });

  it('that are broken are named and put aside; the others are there', async () => {
    const { writeObject, readObjects, said } = stage();
    await writeObject(CONFIG_MAP, configMap);
    const [path = ''] = objectFiles();
    await writeObject(SECRET, secret);
    writeFileSync(path, '{');
    expect([...(await readObjects()).keys()]).toEqual([SECRET]);
    expect(said).toMatchObject([{ fields: { path } }]);
    expect(existsSync(`${path}.broken`)).toBe(true);
  });
});

it('removes what writes that were killed have left, but none that is under way', async () => {
  const { read, write, writeObject, readObjects } = stage();
  await write(known('a'));
  await writeObject(CONFIG_MAP, configMap);
  const [objectPath = ''] = objectFiles();
  const left = [`${podsPath()}.123`, `${objectPath}.456`];
  const underWay = [`${podsPath()}.789`, `${objectPath}.790`];
  for (const path of [...left, ...underWay]) writeFileSync(path, '{');
  for (const path of left) utimesSync(path, 0, 0);
  expect(await read()).toEqual(known('a'));
  expect((await readObjects()).size).toBe(1);
  expect([...left, ...underWay].filter((path) => existsSync(path))).toEqual(underWay);
});

it('forgets everything where nothing is to be kept', async () => {
  await stage().write(known('a'));
  await lastValueFrom(forgetLastKnown(root), { defaultValue: undefined });
  await lastValueFrom(forgetLastKnown(root), { defaultValue: undefined });
  expect(readdirSync(root)).toEqual([]);
});
