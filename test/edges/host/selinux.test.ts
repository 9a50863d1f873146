import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { hasSelinux } from '../../../src/host/facts/selinux.js';

const ROOT = '22 1 8:1 / / rw,relatime shared:1 - ext4 /dev/sda1 rw,seclabel';
const SELINUX = '31 23 0:20 / /sys/fs/selinux rw,nosuid,noexec,relatime shared:9 - selinuxfs selinuxfs rw';
const LABEL = 'system_u:system_r:kubelet_t:s0\0';

/** A directory in place of `/proc`, with these files. */
const procWith = (mountInfo?: string, label?: string): string => {
  const proc = mkdtempSync(join(tmpdir(), 'rx-selinux-'));
  onTestFinished(() => rmSync(proc, { recursive: true }));
  const plant = (path: string, text: string | undefined): void => {
    if (text === undefined) return;
    mkdirSync(dirname(join(proc, path)), { recursive: true });
    writeFileSync(join(proc, path), text);
  };
  plant('self/mountinfo', mountInfo);
  plant('thread-self/attr/current', label);
  return proc;
};

describe('SELinux', () => {
  it.each<[string, string | undefined, string | undefined, boolean]>([
    ['is enabled with a writable mount and a label', `${ROOT}\n${SELINUX}\n`, LABEL, true],
    [
      'is enabled at another mount point, without optional fields',
      SELINUX.replace('shared:9 ', '').replace('/sys/fs', '/x'),
      LABEL,
      true,
    ],
    ['is enabled where the label cannot be read', SELINUX, undefined, true],
    ['is off without a policy', SELINUX, 'kernel\0', false],
    ['is off on a read-only mount', SELINUX.replace(' rw,nosuid', ' ro,nosuid'), LABEL, false],
    ['is off on a read-only file system', SELINUX.replace(/rw$/, 'ro'), LABEL, false],
    ['is off without a mount of it', ROOT, LABEL, false],
    ['is off where only a source has its name', ROOT.replace('/dev/sda1', 'selinuxfs'), LABEL, false],
    ['is off without mounts', '', LABEL, false],
    ['is off without a list of mounts', undefined, LABEL, false],
  ])('%s', (_, mountInfo, label, expected) => expect(hasSelinux(procWith(mountInfo, label))).toBe(expected));
});
