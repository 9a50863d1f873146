import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { buffer } from 'node:stream/consumers';
import { setImmediate as turn } from 'node:timers/promises';
import { extract, pack } from 'tar-stream';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { tarDownload } from '../../../src/cli/local/tar-download.js';

let folder: string;
beforeEach(() => (folder = mkdtempSync(join(tmpdir(), 'rx-kubelet-download-'))));
afterEach(() => rmSync(folder, { recursive: true, force: true }));

/** A wait without an end is the fault that is looked for. */
const HANG_MS = 30_000;

it('fails when the archive is cut off before its first file is open', { timeout: HANG_MS }, async () => {
  const whole = pack();
  whole.entry({ name: 'tmp/big' }, Buffer.alloc(1_000_000));
  whole.finalize();
  const archive = extract();
  const written = tarDownload(archive, { copied: '/tmp/big', target: join(folder, 'big'), warn: () => undefined });
  // The folder may be there by then; then the file is being written.
  const rejected = expect(written).rejects.toThrow(/^the (archive ended within a file|copy has ended)$/);
  archive.write((await buffer(whole)).subarray(0, 20_000));
  await turn();
  archive.destroy(new Error('the copy has ended'));
  await rejected;
});
