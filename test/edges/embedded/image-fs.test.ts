import { execFileSync } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { eventually, RuntimeUnderTest } from './runtime-under-test.js';

describe('ImageFsInfo', () => {
  const host = new RuntimeUnderTest();
  beforeAll(() => host.start());
  afterAll(() => host.dispose());
  /** Bytes and inodes, as du(1) counts them. */
  const counted = (): readonly [bigint, bigint] => {
    const du = (option: string): bigint =>
      BigInt(execFileSync('du', ['-s', option, host.stateDirectory], { encoding: 'utf8' }).split('\t')[0] ?? '');
    const own = BigInt(execFileSync('stat', ['-c', '%b', host.stateDirectory], { encoding: 'utf8' }).trim()) * 512n;
    return [du('-B1') - own, du('--inodes') - 1n];
  };
  const info = async () => {
    const { imageFilesystems, containerFilesystems } = await host.images.imageFsInfo({});
    const figures = [...imageFilesystems, ...containerFilesystems].map(({ usedBytes, inodesUsed, fsId }) => [
      fsId?.mountpoint,
      usedBytes?.value,
      inodesUsed?.value,
    ]);
    return { images: figures[0], containers: figures[1], count: figures.length };
  };

  it('counts no space of the machine as that of images, and the files of containers as theirs', async () => {
    const pod = await host.sandbox('space');
    const containerId = await host.run(pod, 'head -c 3000000 /dev/zero | tr "\\0" x');
    await host.exited(containerId);
    await eventually('the figures agree', async () => {
      const { images, containers, count } = await info();
      expect(count).toBe(2);
      expect(images).toEqual([host.stateDirectory, 0n, 0n]);
      const [bytes, inodes] = counted();
      return containers?.[1] === bytes && containers[2] === inodes;
    });
    expect((await info()).containers?.[1]).toBeGreaterThan(3_000_000n);

    const before = (await info()).containers;
    mkdirSync(join(host.stateDirectory, 'more', 'below'), { recursive: true });
    writeFileSync(join(host.stateDirectory, 'more', 'below', 'file'), Buffer.alloc(1_000_000, 'x'));
    const after = (await info()).containers;
    expect(Number(after?.[1]) - Number(before?.[1])).toBeGreaterThanOrEqual(1_000_000);
    expect(Number(after?.[2]) - Number(before?.[2])).toBe(3);
  });
});
