import { mkdir, mkdtemp, rename, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { firstValueFrom, NEVER, Subject, tap } from 'rxjs';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { isMissing, manifestLister, watchPath } from '../../../src/sources/manifest-files.js';

let directory: string;

beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), 'manifest-files-'));
});

afterEach(() => rm(directory, { recursive: true, force: true }));

describe('manifestLister', () => {
  it('sees every edit, even of the same size and within the same tick of the clock', async () => {
    const list = manifestLister(directory);
    const file = join(directory, 'a.yaml');
    for (let edit = 100; edit < 300; edit += 1) {
      await writeFile(file, `${edit}`);
      expect(await list()).toEqual({ kind: 'files', files: [{ file, content: { kind: 'text', text: `${edit}` } }] });
    }
    expect(await list()).toEqual({ kind: 'files', files: [{ file, content: { kind: 'unchanged' } }] });
  });

  it('forgets what it knew of a path that was missing', async () => {
    const path = join(directory, 'm');
    const list = manifestLister(path);
    expect(await list()).toEqual({ kind: 'missing' });
    await mkdir(path);
    await writeFile(join(path, 'a'), 'x');
    const found = { kind: 'files', files: [{ file: join(path, 'a'), content: { kind: 'text', text: 'x' } }] };
    expect(await list()).toEqual(found);
    await rename(path, join(directory, 'n'));
    expect(await list()).toEqual({ kind: 'missing' });
    await rename(join(directory, 'n'), path);
    expect(await list()).toEqual(found);
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
    await vi.waitFor(() => expect(watching).toHaveBeenCalled(), { timeout: 20_000, interval: 5 });
    await symlink('two', next);
    await rename(next, link);
    expect(ended).not.toHaveBeenCalled();
    check$.next();
    await vi.waitFor(() => expect(ended).toHaveBeenCalled(), { timeout: 20_000, interval: 5 });
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
