import { expect, it } from 'vitest';
import {
  changedObjects,
  type ManifestObjects,
  NO_MANIFEST_OBJECTS,
  objectFor,
  withoutReferrer,
  withReferrer,
  withSourceObjects,
} from '../../../src/model/references/manifest-objects.js';
import { type SourceObject, sourceObjectKey } from '../../../src/model/references/source-object.js';
import { aPod } from '../../support/a-pod.js';

const configMap = (name: string, value = '1'): SourceObject => ({
  ...{ apiVersion: 'v1', kind: 'ConfigMap', metadata: { name, namespace: 'default', uid: name }, data: { value } },
});
const secret = (name: string, value = '1'): SourceObject => ({
  ...{ apiVersion: 'v1', kind: 'Secret', metadata: { name, namespace: 'default', uid: name }, data: { value } },
});
const user = (uid: string, source: string, ...names: readonly string[]) =>
  aPod({
    ...{ uid, source },
    spec: {
      containers: [
        { name: 'c', envFrom: names.flatMap((name) => [{ configMapRef: { name } }, { secretRef: { name } }]) },
      ],
    },
  });
const used = withReferrer(withReferrer(NO_MANIFEST_OBJECTS, user('p', 'file', 'a', 'b')), user('q', 'http', 'c'));

it.each<[before: readonly SourceObject[], after: readonly SourceObject[], changed: readonly string[]]>([
  [[], [], []],
  [[], [configMap('a'), configMap('b'), configMap('c')], ['ConfigMap default/a', 'ConfigMap default/b']],
  [[configMap('a')], [configMap('a')], []],
  [[configMap('a'), configMap('b')], [configMap('b'), configMap('a', '2')], ['ConfigMap default/a']],
  [[configMap('a'), secret('b')], [secret('a')], ['ConfigMap default/a', 'Secret default/b', 'Secret default/a']],
])('of the objects %j, replaced by %j, those that pods use have changed: %j', (before, after, changed) => {
  const [old, current] = [before, after].map((objects) => withSourceObjects(used, 'file', objects)) as [
    ManifestObjects,
    ManifestObjects,
  ];
  expect(changedObjects(old, current, 'file').map(sourceObjectKey)).toEqual(changed);
});

it('the objects of an unregistered pod are not used any more', () => {
  const unused = withoutReferrer(used, user('p', 'file'));
  expect(changedObjects(unused, withSourceObjects(unused, 'file', [configMap('a')]), 'file')).toEqual([]);
});

it('a newer spec of a pod replaces the objects that it uses', () => {
  const newer = withReferrer(used, user('p', 'file', 'd'));
  const objects = withSourceObjects(newer, 'file', [configMap('a'), configMap('d')]);
  expect(changedObjects(newer, objects, 'file').map(sourceObjectKey)).toEqual(['ConfigMap default/d']);
});

it('a pod reads the objects of its own source, by kind, namespace and name', () => {
  const objects = withSourceObjects(withSourceObjects(used, 'file', [configMap('a')]), 'http', [secret('a')]);
  const a = { namespace: 'default', name: 'a' };
  expect(objectFor(objects, user('x', 'file'), 'ConfigMap', a)).toEqual(configMap('a'));
  expect(objectFor(objects, user('x', 'file'), 'Secret', a)).toBeUndefined();
  expect(objectFor(objects, user('x', 'http'), 'Secret', a)).toEqual(secret('a'));
  expect(objectFor(objects, user('x', 'file'), 'ConfigMap', { ...a, namespace: 'other' })).toBeUndefined();
  expect(objectFor(objects, user('x', 'api'), 'ConfigMap', a)).toBeUndefined();
});
