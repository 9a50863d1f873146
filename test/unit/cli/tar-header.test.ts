import { extract } from 'tar-stream';
import { expect, it } from 'vitest';
import { bytePath } from '../../../src/processes/byte-path.js';
import { TAR_END, tarHeader, type TarHeader, tarPadding } from '../../../src/cli/local/tar-header.js';

const FILE: TarHeader = { name: 'a', type: 'file', mode: 0o100644, uid: 0, gid: 0, mtimeMs: 0, size: 0 };

/** The header as a reader of archives takes it. */
const readBack = (header: TarHeader): Promise<object> =>
  new Promise((resolve, reject) => {
    const reader = extract();
    reader.on('entry', (read) => resolve(read));
    reader.on('error', reject);
    reader.write(Buffer.concat([tarHeader(header), TAR_END]));
  });

it.each([
  ['a long name', { name: bytePath(`${'ä'.repeat(60)}/b`) }, { name: `${'ä'.repeat(60)}/b`, type: 'file' }],
  ['a name of 100 bytes', { name: 'n'.repeat(100) }, { name: 'n'.repeat(100) }],
  ['a folder', { name: 'a', type: 'directory' }, { name: 'a/', type: 'directory' }],
  ['a folder of 100 bytes', { name: 'n'.repeat(100), type: 'directory' }, { name: `${'n'.repeat(100)}/` }],
  ['a long target', { type: 'symlink', linkName: 'l'.repeat(101) }, { type: 'symlink', linkname: 'l'.repeat(101) }],
  ['a mode with all bits', { mode: 0o107777 }, { mode: 0o7777 }],
  ['a size of 8 GiB', { size: 2 ** 33 }, { size: 2 ** 33 }],
  ['a size just below', { size: 2 ** 33 - 1 }, { size: 2 ** 33 - 1 }],
  ['an owner above 21 bits', { uid: 2 ** 21, gid: 2 ** 32 - 2 }, { uid: 2 ** 21, gid: 2 ** 32 - 2 }],
  ['a time after 2038', { mtimeMs: 2 ** 33 * 1000 + 5 }, { mtime: new Date(2 ** 33 * 1000) }],
  ['a time before 1970', { mtimeMs: -5 }, { mtime: new Date(0) }],
] as const)('the header of an archive has %s', async (_, given, expected) => {
  expect(await readBack({ ...FILE, ...given })).toMatchObject(expected);
});

it.each([
  [0, 0],
  [1, 511],
  [512, 0],
  [513, 511],
])('a content of %i bytes is followed by %i zeros', (size, zeros) => {
  expect(tarPadding(size)).toEqual(Buffer.alloc(zeros));
});
