import { execFileSync } from 'node:child_process';
import { mkdir, mkdtemp, rename, rm, stat, symlink, utimes, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { firstValueFrom, NEVER, Subject, tap } from 'rxjs';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { isMissing, type ManifestDisk, manifestLister, watchPath } from '../../../src/sources/manifest-files.js';
import { manifestReader, readListing } from '../../../src/sources/manifest-reader.js';

let directory: string;

beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), 'manifest-files-'));
});

afterEach(() => rm(directory, { recursive: true, force: true }));

describe('manifestLister', () => {
  // Around the sizes of buffers, at which a reader of lines may take the last one for the rest of a longer one.
  it.each([4_096, 8_192, 65_536, 131_072].flatMap((size) => [size - 1, size, size + 1]))(
    'keeps the last line of a file of %i bytes that ends without a line break',
    async (size) => {
      const head = '{apiVersion: v1, kind: Pod, metadata: {name: a}, spec: {containers: [{name: a, image: i}]}}\n# ä';
      const tail =
        '\n--- {apiVersion: v1, kind: Pod, metadata: {name: last}, spec: {containers: [{name: a, image: i}]}}';
      await writeFile(join(directory, 'a.yaml'), head + 'x'.repeat(size - Buffer.byteLength(head + tail)) + tail);
      const listing = await readListing(manifestLister(directory), manifestReader({}, undefined, undefined))();
      const [content] = listing.kind === 'files' ? listing.files.map((file) => file.content) : [];
      const reading = content?.kind === 'text' ? content.reading : undefined;
      expect(reading?.pods.map(({ pod }) => pod.metadata.name)).toEqual(['a', 'last']);
    },
  );

  it('sees every edit, even of the same size and within the same tick of the clock', async () => {
    const list = manifestLister(directory);
    const file = join(directory, 'a.yaml');
    for (let edit = 100; edit < 300; edit += 1) {
      await writeFile(file, `${edit}`);
      expect(await list()).toMatchObject({
        kind: 'files',
        files: [{ file, content: { kind: 'text', text: `${edit}` } }],
      });
    }
    expect(await list()).toEqual({ kind: 'files', files: [{ file, content: { kind: 'unchanged' } }] });
  });

  it('sees a second write of the same size that no time of the file shows', async () => {
    const file = join(directory, 'a.yaml');
    // Neither the clock nor that of the file system ticks.
    const frozen: ManifestDisk = {
      now: () => 1_000_000,
      stat: async (path) =>
        Object.assign(await stat(path, { bigint: true }), {
          mtimeMs: 999_999n,
          mtimeNs: 999_999_000_000n,
          ctimeMs: 999_999n,
          ctimeNs: 999_999_000_000n,
        }),
    };
    const list = manifestLister(directory, frozen);
    for (const text of ['one', 'two']) {
      await writeFile(file, text);
      expect(await list()).toMatchObject({ files: [{ file, content: { kind: 'text', text } }] });
    }
    expect(await list()).toEqual({ kind: 'files', files: [{ file, content: { kind: 'unchanged' } }] });
  });

  it('takes a file for just written although its time was set back', async () => {
    const file = join(directory, 'a.yaml');
    const list = manifestLister(directory, {
      now: () => Date.now(),
      stat: async (path) => Object.assign(await stat(path, { bigint: true }), { ctimeNs: 5n }),
    });
    for (const text of ['one', 'two']) {
      await writeFile(file, text);
      await utimes(file, 1, 1);
      expect(await list()).toMatchObject({ files: [{ file, content: { kind: 'text', text } }] });
    }
  });

  it('lets no entry stand in the way of the others', async () => {
    const [good, loop, nowhere] = ['good', 'loop', 'nowhere'].map((name) => join(directory, name));
    await writeFile(good!, 'x');
    await symlink('loop', loop!);
    await symlink('none', nowhere!);
    const list = manifestLister(directory);
    expect(await list()).toMatchObject({
      kind: 'files',
      files: [
        { file: good, content: { kind: 'text', text: 'x' } },
        { file: loop, content: { kind: 'unreadable', message: 'cannot be read (ELOOP)' } },
        { file: nowhere, content: { kind: 'dangling' } },
      ],
    });
  });

  it('lists the name of a file that vanishes before it is read', async () => {
    const [first, second] = [join(directory, 'a'), join(directory, 'b')];
    await writeFile(first, 'x');
    await writeFile(second, 'y');
    const list = manifestLister(directory, {
      now: () => Date.now(),
      stat: async (path) => {
        // Another process removes both, one after its name was listed and the other after its reading has begun.
        await rm(path);
        if (path === second) await writeFile(path, 'z');
        return stat(path, { bigint: true });
      },
    });
    expect(await list()).toMatchObject({
      kind: 'files',
      files: [
        { file: first, content: { kind: 'vanished' } },
        { file: second, content: { kind: 'text', text: 'z' } },
      ],
    });
  });

  it('reads again what could not be read, though nothing of the file has changed', async () => {
    const file = join(directory, 'a.yaml');
    await writeFile(file, 'x');
    await utimes(file, 1, 1);
    let failure: string | undefined = 'EMFILE';
    const list = manifestLister(directory, {
      now: () => Date.now() + 3_600_000,
      stat: async (path) => {
        if (failure !== undefined) throw Object.assign(new Error(failure), { code: failure });
        return stat(path, { bigint: true });
      },
    });
    const content = { kind: 'unreadable', message: 'cannot be read (EMFILE)', isUnknown: true };
    expect(await list()).toEqual({ kind: 'files', files: [{ file, content }] });
    failure = undefined;
    expect(await list()).toMatchObject({ files: [{ file, content: { kind: 'text', text: 'x' } }] });
    failure = 'EIO';
    expect(await list()).toMatchObject({ files: [{ file, content: { kind: 'unreadable' } }] });
    failure = undefined;
    expect(await list()).toMatchObject({ files: [{ file, content: { kind: 'text', text: 'x' } }] });
  });

  it('tries at every listing what it could not reach', async () => {
    const [folder, file] = [join(directory, 'elsewhere'), join(directory, 'm', 'a')];
    await mkdir(join(directory, 'm'));
    await symlink('../elsewhere/a', file);
    await symlink('elsewhere', folder);
    const list = manifestLister(join(directory, 'm'));
    expect(await list()).toMatchObject({ files: [{ content: { message: 'cannot be read (ELOOP)' } }] });
    await rm(folder);
    await mkdir(folder);
    await writeFile(join(folder, 'a'), 'x');
    expect(await list()).toMatchObject({ files: [{ content: { kind: 'text' } }] });
  });

  it.each([
    ['UTF-16 with a mark', Buffer.from('\uFEFFkind: Pod', 'utf16le'), 'is UTF-16, expected UTF-8'],
    ['UTF-16 without one', Buffer.from('kind: Pod', 'utf16le'), 'is UTF-16, expected UTF-8'],
    ['UTF-16 of the other order', Buffer.from('kind: Pod', 'utf16le').swap16(), 'is UTF-16, expected UTF-8'],
    ['a compressed file', gzipSync('kind: Pod'), 'is not text, expected UTF-8'],
    ['Latin-1', Buffer.from('# f\xFCr', 'latin1'), 'is not text, expected UTF-8'],
  ])('says of %s what it is', async (_what, bytes, message) => {
    const file = join(directory, 'a.yaml');
    await writeFile(file, bytes);
    const content = { kind: 'unreadable', message };
    expect(await manifestLister(directory)()).toEqual({ kind: 'files', files: [{ file, content }] });
  });

  it('says of a name that is not UTF-8 that it is not', async () => {
    await writeFile(Buffer.concat([Buffer.from(`${directory}/a`), Buffer.from([0xff])]), 'x');
    const content = { kind: 'unreadable', message: 'has a name that is not UTF-8 (expected one that is)' };
    expect(await manifestLister(directory)()).toEqual({
      kind: 'files',
      files: [{ file: `${directory}/a\uFFFD`, content }],
    });
  });

  it('does not open what is no file', async () => {
    const file = join(directory, 'pipe');
    execFileSync('mkfifo', [file]);
    const content = { kind: 'unreadable', message: 'is not a regular file (expected a manifest)' };
    expect(await manifestLister(directory)()).toEqual({ kind: 'files', files: [{ file, content }] });
  });

  it('forgets what it knew of a path that was missing', async () => {
    const path = join(directory, 'm');
    const list = manifestLister(path);
    expect(await list()).toEqual({ kind: 'missing' });
    await mkdir(path);
    await writeFile(join(path, 'a'), 'x');
    const content = { kind: 'text', text: 'x', digest: expect.any(String) as unknown };
    const found = { kind: 'files', files: [{ file: join(path, 'a'), content }] };
    const first = await list();
    expect(first).toMatchObject(found);
    await rename(path, join(directory, 'n'));
    expect(await list()).toEqual({ kind: 'missing' });
    await rename(join(directory, 'n'), path);
    // The same digest shows that it is the same text.
    expect(await list()).toEqual(first);
  });
});

describe('watchPath', () => {
  it('finds out at the next check that a link points elsewhere, and ends', async () => {
    const [link, next] = [join(directory, 'link'), join(directory, 'next')];
    await mkdir(join(directory, 'one'));
    await mkdir(join(directory, 'two'));
    await symlink('one', link);
    const check$ = new Subject<void>();
    const watching = vi.fn();
    const ended = vi.fn();
    const subscription = watchPath(link)(check$).subscribe({ next: watching, complete: ended });
    await vi.waitFor(() => expect(watching).toHaveBeenCalled(), { timeout: 90_000, interval: 5 });
    await symlink('two', next);
    await rename(next, link);
    expect(ended).not.toHaveBeenCalled();
    check$.next();
    await vi.waitFor(() => expect(ended).toHaveBeenCalled(), { timeout: 90_000, interval: 5 });
    expect(check$.observed).toBe(false);
    subscription.unsubscribe();
  });

  it('says of a missing path that it is missing', async () => {
    const failed = firstValueFrom(watchPath(join(directory, 'none'))(NEVER));
    await expect(failed).rejects.toSatisfy(isMissing);
  });

  it('leaves nothing behind when unsubscribed before it watches', async () => {
    const watching = vi.fn();
    watchPath(directory)(NEVER).subscribe(watching).unsubscribe();
    // Another watch of the same path begins later, so that the first one would have begun by then.
    await firstValueFrom(watchPath(directory)(NEVER).pipe(tap(() => expect(watching).not.toHaveBeenCalled())));
  });
});
