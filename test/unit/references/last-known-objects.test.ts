import { expect, it } from 'vitest';
import type { ApiObject } from '../../../src/model/kube-api/api-object.js';
import {
  type LastKnownObjects,
  NO_LAST_KNOWN,
  withKept,
  withoutKept,
  withRead,
  writeBegun,
  writeEnded,
  writeFailed,
} from '../../../src/model/references/last-known-objects.js';

const aSecret = (resourceVersion: string, uid = 'u'): ApiObject => ({ metadata: { uid, resourceVersion } });
const KEY = 'Secret ns/s';
type Step = (known: LastKnownObjects) => LastKnownObjects;
const steps: Readonly<Record<string, Step>> = {
  1: (known) => withKept(known, KEY, aSecret('1')),
  2: (known) => withKept(known, KEY, aSecret('2')),
  again: (known) => withKept(known, KEY, aSecret('1', 'v')),
  other: (known) => withKept(known, 'Secret ns/other', aSecret('7')),
  drop: (known) => withoutKept(known, KEY),
  begin: (known) => writeBegun(known, KEY),
  end: writeEnded,
  fail: (known) => writeFailed(known, KEY),
  read: (known) => withRead(known, KEY, aSecret('r')).known,
};
const after = (names: string): LastKnownObjects =>
  names
    .split(' ')
    .filter(Boolean)
    .reduce((known, name) => steps[name]!(known), NO_LAST_KNOWN);

it.each<[names: string, version: string | undefined, unwritten: readonly string[], hasFailed?: boolean]>([
  ['', undefined, []],
  ['1', '1', [KEY]],
  ['1 begin', '1', []],
  ['1 begin 1', '1', []],
  ['1 begin 2', '2', [KEY]],
  ['1 begin again', '1', [KEY]],
  ['1 begin end 1', '1', []],
  ['1 begin fail', '1', [KEY], true],
  ['1 begin fail 1', '1', [KEY], true],
  ['1 begin fail begin end', '1', []],
  ['1 begin drop', undefined, [KEY]],
  ['drop', undefined, [KEY]],
  ['1 other', '1', [KEY, 'Secret ns/other']],
  ['1 other 2', '2', [KEY, 'Secret ns/other']],
  ['read', 'r', []],
  ['1 read', '1', [KEY]],
  ['1 begin read', '1', []],
  ['drop read', undefined, [KEY]],
  ['drop begin end read', 'r', []],
])('after the steps "%s" the version %s is known, and %j has to be written', (names, version, unwritten, failed) => {
  const known = after(names);
  expect(known.objects.get(KEY)?.metadata.resourceVersion).toBe(version);
  expect([...known.unwritten]).toEqual(unwritten);
  expect(known.hasFailed).toBe(failed ?? false);
});

const services = (items: unknown) => ({ metadata: { resourceVersion: '1' }, items });

it.each<[key: string, object: unknown, problem: string | undefined]>([
  ['Secret ns/s', aSecret('1'), undefined],
  ['ConfigMap ns/c', aSecret('1'), undefined],
  ['ServiceList /', services([{ metadata: { name: 'a' } }]), undefined],
  ['ServiceList /', services(null), undefined],
  ['Pod ns/p', aSecret('1'), 'is of no known kind'],
  ['Secret ns/s', {}, 'has no metadata'],
  ['ServiceList /', { items: [] }, 'is no list'],
  ['ServiceList /', services({}), 'is no list'],
  ['ServiceList /', services([{ metadata: { name: 'a' } }, {}]), 'has no metadata'],
])('the object of the key "%s" on disk, %j, has the problem "%s"', (key, object, problem) => {
  const read = withRead(NO_LAST_KNOWN, key, object);
  expect(read.problem).toBe(problem);
  expect(read.known.objects.has(key)).toBe(problem === undefined);
});
