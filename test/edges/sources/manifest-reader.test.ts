import { pathToFileURL } from 'node:url';
import { expect, it } from 'vitest';
import type { ManifestListing } from '../../../src/model/config/fold-manifest-listing.js';
import { readManifest } from '../../../src/model/manifest/parse-manifest.js';
import { manifestReader, readListing } from '../../../src/sources/manifest-reader.js';

/** What `npm run build` has made. */
const WORKER = pathToFileURL('dist/manifest-worker.js');
const pods = (count: number): string =>
  Array.from(
    { length: count },
    (_, index) =>
      `--- {apiVersion: v1, kind: Pod, metadata: {name: p${index}}, spec: {containers: [{name: c, image: i}]}}\n`,
  ).join('');
const program = (code: string): URL => new URL(`data:text/javascript,${encodeURIComponent(code)}`);

/** The answer, and how often the loop went round meanwhile. */
const turnsDuring = async <T>(work: Promise<T>): Promise<{ readonly result: T; readonly turns: number }> => {
  let turns = 0;
  let isDone = false;
  const turn = (): void => {
    turns += 1;
    if (!isDone) setImmediate(turn);
  };
  setImmediate(turn);
  const result = await work;
  isDone = true;
  return { result, turns };
};

it('reads a large text in a thread of its own, while the loop goes on', async () => {
  const text = pods(900);
  const { result, turns } = await turnsDuring(manifestReader({}, undefined, WORKER)(text, { file: 'f' }));
  expect(result).toEqual(readManifest(text, { file: 'f' }));
  expect(result.pods).toHaveLength(900);
  expect(turns).toBeGreaterThan(10);
});

it('reads a small text where it is, and a large one too where there is no program for the thread', async () => {
  const broken = program('process.exit(3)');
  expect((await manifestReader({}, undefined, broken)(pods(2), { file: 'f' })).pods).toHaveLength(2);
  expect((await manifestReader({})(pods(900), { file: 'f' })).pods).toHaveLength(900);
});

it.each([
  ['process.exit(3)', 'could not be read: the thread that reads it ended with code 3'],
  ['throw new Error("no")', 'could not be read: no'],
])('makes a problem of a thread that ends early: %s', async (code, message) => {
  const { pods: none, problems } = await manifestReader({}, undefined, program(code))(pods(900), { file: 'f' });
  expect(none).toEqual([]);
  expect(problems).toMatchObject([{ file: 'f', message }]);
});

it('gives a listing a turn after its last reading', async () => {
  const listing = {
    kind: 'files',
    files: [{ file: 'f', content: { kind: 'text', text: pods(1), digest: 'd' } }],
  } as const;
  const list = readListing(
    () => Promise.resolve(listing),
    (one, origin) => Promise.resolve(readManifest(one, origin)),
  );
  expect((await turnsDuring(list())).turns).toBe(1);
});

it('reads at the next listing what no thread could be had for, though the file has not changed', async () => {
  // Node refuses this at once, as it does when the machine is short of threads.
  const refused = new URL('http://localhost/');
  let worker = refused;
  const text = pods(900);
  const listed = (content: object): ManifestListing => ({ kind: 'files', files: [{ file: 'f', content }] }) as never;
  const listings = [listed({ kind: 'text', text, digest: 'd' }), ...[1, 2, 3].map(() => listed({ kind: 'unchanged' }))];
  const list = readListing(
    () => Promise.resolve(listings.shift()!),
    (one, origin) => manifestReader({}, undefined, worker)(one, origin),
  );
  const unread = {
    kind: 'unreadable',
    isUnknown: true,
    message: expect.stringMatching(/^cannot be read now: /) as string,
  };
  expect(await list()).toMatchObject({ files: [{ content: unread }] });
  expect(await list()).toMatchObject({ files: [{ content: unread }] });
  worker = WORKER;
  const reading = readManifest(text, { file: 'f' });
  expect(await list()).toEqual(listed({ kind: 'text', text, digest: 'd', reading }));
  expect(await list()).toEqual(listed({ kind: 'unchanged' }));
});

it('makes a problem of its file of a small text that cannot be read', async () => {
  const rules = Object.defineProperty({}, 'gates', {
    get: () => {
      throw new Error('a mistake of the program');
    },
  });
  const { pods: none, problems } = await manifestReader(rules)(pods(2), { file: 'f' });
  expect(none).toEqual([]);
  expect(problems).toMatchObject([{ file: 'f', message: 'could not be read: a mistake of the program' }]);
});
