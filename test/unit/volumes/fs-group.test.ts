import { describe, expect, it } from 'vitest';
import { fsGroupMode, fsUser } from '../../../src/model/volumes/fs-group.js';
import { aContainer, aPod } from '../pods.js';

it.each([
  [0o100600, false, false, 0o660],
  [0o100600, false, true, 0o640],
  [0o100644, false, true, 0o644],
  [0o100400, false, true, 0o440],
  [0o040755, true, false, 0o2775],
  [0o040700, true, true, 0o2750],
  [0o041777, true, false, 0o3777],
])('mode %o (directory: %s, read-only: %s) becomes %o', (mode, isDirectory, isReadOnly, expected) =>
  expect(fsGroupMode(mode, isDirectory, isReadOnly)).toBe(expected),
);

describe('the user of a pod', () => {
  const as = (name: string, runAsUser?: number) =>
    aContainer(name, runAsUser === undefined ? {} : { securityContext: { runAsUser } });

  it.each([
    ['no user', aPod(), undefined],
    ['one user', aPod({ containers: [as('a', 5), as('b', 5)] }), 5],
    ['root', aPod({ containers: [as('a', 0)] }), 0],
    ['the user of the pod', aPod({ containers: [as('a'), as('b', 5)], securityContext: { runAsUser: 5 } }), 5],
    ['two users', aPod({ containers: [as('a', 5), as('b', 6)] }), undefined],
    ['a user and an image', aPod({ containers: [as('a', 5), as('b')] }), undefined],
    ['another init container', aPod({ containers: [as('a', 5)], initContainers: [as('i', 6)] }), undefined],
    ['an ephemeral container', aPod({ containers: [as('a', 5)], ephemeralContainers: [as('e')] }), 5],
  ])('with %s', (_, pod, expected) => expect(fsUser(pod)).toBe(expected));
});
