import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { cgroupVersion } from '../../../src/host/cgroups/host-cgroups.js';

let root: string;
beforeEach(() => (root = mkdtempSync(join(tmpdir(), 'cgroup-version-'))));
afterEach(() => rmSync(root, { recursive: true }));

it('the version of cgroups is 2 where one tree has all controllers', () => {
  for (const file of ['cgroup.controllers', 'cgroup.procs']) writeFileSync(join(root, file), '');
  expect(cgroupVersion(root)).toBe(2);
});

it('it is 1 where each controller has a tree, also with one of version 2 beside them', () => {
  mkdirSync(join(root, 'memory'));
  expect(cgroupVersion(root)).toBe(1);
  mkdirSync(join(root, 'unified'));
  writeFileSync(join(root, 'unified/cgroup.controllers'), '');
  expect(cgroupVersion(root)).toBe(1);
});

it('it is unknown where none are mounted', () => {
  expect(cgroupVersion(root)).toBeUndefined();
  expect(cgroupVersion(join(root, 'none'))).toBeUndefined();
});
