import { execFileSync } from 'node:child_process';
import { lstatSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { describe, expect, it } from 'vitest';
import { volumeFiles } from '../../../src/host/volumes/volume-files.js';
import { done, makeDirectory, modeOf, volumeStage } from './volume-stage.js';

const { at } = volumeStage();
const files = volumeFiles();
const check = (path: string, type: string) => done(files.checkHostPath(path, type));
const make = async (): Promise<void> => {
  makeDirectory(at('directory'));
  writeFileSync(at('file'), 'content');
  symlinkSync('file', at('link'));
  execFileSync('mkfifo', [at('pipe')]);
};

describe('a path of the machine', () => {
  it.each([
    ['directory', 'Directory'],
    ['directory', 'DirectoryOrCreate'],
    ['file', 'File'],
    ['file', 'FileOrCreate'],
    ['link', 'File'],
    ['missing', ''],
    ['pipe', ''],
  ])('%s is fine as %j', async (name, type) => {
    await make();
    await check(at(name), type);
    expect(readFileSync(at('file'), 'utf8')).toBe('content');
  });

  it.each([
    ['file', 'Directory', 'a directory'],
    ['file', 'DirectoryOrCreate', 'a directory'],
    ['pipe', 'DirectoryOrCreate', 'a directory'],
    ['missing', 'Directory', 'a directory'],
    ['directory', 'File', 'a file'],
    ['directory', 'FileOrCreate', 'a file'],
    ['pipe', 'FileOrCreate', 'a file'],
    ['missing', 'File', 'a file'],
    ['file', 'Socket', 'a socket file'],
    ['missing', 'Socket', 'a socket file'],
    ['file', 'CharDevice', 'a character device'],
    ['file', 'BlockDevice', 'a block device'],
  ])('%s is refused as %s', async (name, type, what) => {
    await make();
    await expect(check(at(name), type)).rejects.toThrow(`hostPath type check failed: ${at(name)} is not ${what}`);
  });

  it('is a socket or a character device where the type says so', async () => {
    const server = createServer();
    await new Promise<void>((resolve) => server.listen(at('socket'), resolve));
    try {
      await check(at('socket'), 'Socket');
      await check('/dev/null', 'CharDevice');
    } finally {
      await new Promise((resolve) => server.close(resolve));
    }
  });

  it('is made as a directory with its parents, or as an empty file without them', async () => {
    await check(at('a', 'b'), 'DirectoryOrCreate');
    expect(modeOf(at('a', 'b'))).toBe('755');
    await check(at('new'), 'FileOrCreate');
    expect([lstatSync(at('new')).size, modeOf(at('new'))]).toEqual([0, '644']);
    await expect(check(at('c', 'new'), 'FileOrCreate')).rejects.toThrow('ENOENT');
  });

  it('has no ".." and a known type', async () => {
    await expect(check('/a/../b', '')).rejects.toThrow("invalid HostPath `/a/../b`: must not contain '..'");
    await expect(check('/', 'Folder')).rejects.toThrow('Folder is an invalid volume type');
  });
});
