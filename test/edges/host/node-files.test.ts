import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readlinkSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { lastValueFrom } from 'rxjs';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { nodeFiles } from '../../../src/host/files/node-files.js';
import { syncDirectory } from '../../../src/processes/sync-directory.js';

vi.mock('../../../src/processes/sync-directory.js', { spy: true });

let directory: string;
const at = (name: string): string => join(directory, name);
const done = (what: ReturnType<typeof nodeFiles.link>) => lastValueFrom(what, { defaultValue: 'done' });
beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'rx-files-'));
});
afterEach(() => rmSync(directory, { recursive: true, force: true }));

describe('a link to a log', () => {
  it('is made with its folder, which others may read', async () => {
    writeFileSync(at('0.log'), '');
    await done(nodeFiles.link(at('0.log'), at('links/web.log')));
    expect(readlinkSync(at('links/web.log'))).toBe(at('0.log'));
    expect(statSync(at('links')).mode & 0o755).toBe(0o755);
  });

  it('is not made where there is no log', async () => {
    await done(nodeFiles.link(at('0.log'), at('links/web.log')));
    expect(existsSync(at('links'))).toBe(false);
  });

  it('does not replace a file', async () => {
    writeFileSync(at('0.log'), '');
    writeFileSync(at('web.log'), 'kept');
    await expect(done(nodeFiles.link(at('0.log'), at('web.log')))).rejects.toThrow(/EEXIST.*web\.log/);
  });
});

describe('a directory that is kept', () => {
  it('is made with its parents, and all of them are synced up to the root', async () => {
    const synced = () => vi.mocked(syncDirectory).mock.calls.map(([path]) => path);
    await done(nodeFiles.keepDirectory(at('pods/uid/mark'), 0o750, directory));
    expect(statSync(at('pods/uid/mark')).mode & 0o777).toBe(0o750);
    expect(synced()).toEqual([at('pods/uid'), at('pods'), directory]);
    // One that an earlier call has made may not be on the disk yet.
    await done(nodeFiles.keepDirectory(at('pods/uid/mark'), 0o750, directory));
    expect(synced()).toHaveLength(6);
  });
});

describe('dangling links', () => {
  it('are those that lead nowhere, directly or by another link', async () => {
    writeFileSync(at('file'), '');
    mkdirSync(at('folder'));
    symlinkSync(at('file'), at('good'));
    symlinkSync(at('gone'), at('lost'));
    symlinkSync(at('file/below'), at('through-a-file'));
    symlinkSync(at('lost'), at('lost-too'));
    symlinkSync(at('good'), at('good-too'));
    expect((await lastValueFrom(nodeFiles.danglingLinks(directory))).toSorted()).toEqual([
      'lost',
      'lost-too',
      'through-a-file',
    ]);
  });

  it('are none where there is no folder', async () => {
    expect(await lastValueFrom(nodeFiles.danglingLinks(at('none')))).toEqual([]);
  });

  it('go without what they name', async () => {
    writeFileSync(at('file'), '');
    symlinkSync(at('file'), at('link'));
    await done(nodeFiles.remove(at('link')));
    expect([existsSync(at('link')), existsSync(at('file'))]).toEqual([false, true]);
  });
});
