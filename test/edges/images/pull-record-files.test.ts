import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { firstValueFrom, lastValueFrom, type Observable } from 'rxjs';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { Registry } from 'prom-client';
import { countPullRecords, pullRecordFiles } from '../../../src/images/pull-record-files.js';
import { registerPullRecords } from '../../../src/server/metrics/pull-record-metrics.js';

let root: string;
let warnings: unknown[];
beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), 'rx-kubelet-records-'));
  warnings = [];
});
afterEach(() => rmSync(root, { recursive: true, force: true }));

const records = () => pullRecordFiles(root, { warn: (fields) => warnings.push(fields) });
const done = (act$: Observable<never>): Promise<unknown> => lastValueFrom(act$, { defaultValue: undefined });
const modeOf = (path: string): string => (statSync(path).mode & 0o777).toString(8);

const record = {
  lastUpdatedTime: '2026-06-07T08:09:10Z',
  imageRef: 'sha256:1',
  credentialMapping: { 'r.example.com/app': { nodePodsAccessible: true } },
};

describe('records of pulled images', () => {
  it('outlive the agent, one file for each image, for their owner only, in the format of the kubelet', async () => {
    await done(records().writePulled(record));
    const folder = join(root, 'image_manager', 'pulled');
    // The hash of what the runtime calls the image.
    const file = 'sha256-51ae7fa00c92525c319404a3a6d400e52ff9372c5a39cb415e0486fe425f3165';
    expect(readdirSync(folder)).toEqual([file]);
    expect(JSON.parse(readFileSync(join(folder, file), 'utf8'))).toEqual({
      kind: 'ImagePulledRecord',
      apiVersion: 'kubelet.config.k8s.io/v1beta1',
      ...record,
    });
    expect([modeOf(folder), modeOf(join(folder, file))]).toEqual(['700', '600']);
    expect(await firstValueFrom(records().pulled('sha256:1'))).toMatchObject(record);
    expect(await firstValueFrom(records().everyPulled())).toMatchObject([record]);
    await done(records().removePulled('sha256:1'));
    await done(records().removePulled('sha256:1'));
    expect(await firstValueFrom(records().pulled('sha256:1'))).toBeUndefined();
  });

  it('a record of a Go kubelet with null fields is read as one without these fields', async () => {
    await done(records().writePulled(record));
    const folder = join(root, 'image_manager', 'pulled');
    const [file = ''] = readdirSync(folder);
    const written = { ...record, kind: 'ImagePulledRecord', credentialMapping: null };
    writeFileSync(join(folder, file), JSON.stringify(written));
    const read = await firstValueFrom(records().pulled(record.imageRef));
    expect(read).toEqual({ ...written, credentialMapping: undefined });
    expect(warnings).toEqual([]);
  });

  it('of pulls that were begun are kept beside them', async () => {
    expect(await firstValueFrom(records().intents())).toEqual([]);
    await done(records().writeIntent('app:1'));
    await done(records().writeIntent('app:2'));
    const folder = join(root, 'image_manager', 'pulling');
    const [file = ''] = readdirSync(folder);
    expect(JSON.parse(readFileSync(join(folder, file), 'utf8'))).toMatchObject({ kind: 'ImagePullIntent' });
    expect([...(await firstValueFrom(records().intents()))].sort()).toEqual(['app:1', 'app:2']);
    await done(records().removeIntent('app:1'));
    expect(await firstValueFrom(records().intents())).toEqual(['app:2']);
  });

  it('that cannot be read are an error for the image, and left out of lists with a warning that names the file', async () => {
    await done(records().writePulled(record));
    const folder = join(root, 'image_manager', 'pulled');
    const path = join(folder, readdirSync(folder)[0] ?? '');
    writeFileSync(join(folder, 'of-somebody-else'), 'x');
    for (const [text, problem] of [
      ['{', `${path}: `],
      ['[]', `${path}: kind is undefined (expected ImagePulledRecord)`],
      ['1', `${path}: is not an object`],
    ] as const) {
      writeFileSync(path, text);
      await expect(firstValueFrom(records().pulled('sha256:1'))).rejects.toThrow(problem);
      expect(await firstValueFrom(records().everyPulled())).toEqual([]);
      expect(warnings.splice(0)).toEqual([{ error: expect.stringContaining(problem) as string }]);
    }
  });

  it('hold the hash of a credential, which says nothing of it and differs with it', () => {
    const { hashOf } = records();
    const hash = hashOf({ username: 'anna', password: 'secret' });
    expect(hash).toMatch(/^[0-9a-f]{64}$/);
    expect(hashOf({ username: 'anna', password: 'secret' })).toBe(hash);
    expect(hashOf({ username: 'anna', password: 'secret', identityToken: '' })).toBe(hash);
    expect(hashOf({ username: 'anna', password: 'other' })).not.toBe(hash);
    expect(hashOf({ username: 'annasecret', password: '' })).not.toBe(hash);
  });
});

describe('the number of records', () => {
  const [intents, pulled] = ['kubelet_imagemanager_ondisk_pullintents', 'kubelet_imagemanager_ondisk_pulledrecords'];
  const scraped = async (count: typeof countPullRecords): Promise<readonly string[]> => {
    const registry = new Registry();
    registerPullRecords(registry, () => count(root));
    return (await registry.metrics()).split('\n').filter((line) => /^kubelet/.test(line));
  };

  it('is that on the disk at a scrape, also before the first pull of this agent', async () => {
    expect(await scraped(countPullRecords)).toEqual([`${intents} 0`, `${pulled} 0`]);
    await done(records().writeIntent('r.example.com/app:1'));
    await done(records().writePulled(record));
    await done(records().writePulled({ ...record, imageRef: 'sha256:2' }));
    // The rest of a write that a crash has cut off is none.
    writeFileSync(join(root, 'image_manager', 'pulled', '.new-1'), '{');
    expect(await scraped(countPullRecords)).toEqual([`${intents} 1`, `${pulled} 2`]);
    await done(records().removeIntent('r.example.com/app:1'));
    await done(records().removePulled('sha256:2'));
    expect(await scraped(countPullRecords)).toEqual([`${intents} 0`, `${pulled} 1`]);
  });

  it('has no series when the disk cannot be read', async () => {
    expect(await scraped(() => Promise.reject(new Error('EIO: i/o error, scandir')))).toEqual([]);
  });
});
