import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  foldManifestListing,
  type ManifestFile,
  type ManifestListing,
  NO_MANIFEST_FILES,
} from '../../src/model/fold-manifest-listing.js';

const PLACE = { path: '/m', nodeName: 'n' };

const doc = (name: string, image = 'i'): string =>
  `apiVersion: v1\nkind: Pod\nmetadata: {name: ${name}}\nspec: {containers: [{name: c, image: ${image}}]}\n`;
const BROKEN = 'apiVersion: v1\nkind: Pood\n';

const text = (file: string, ...documents: readonly string[]): ManifestFile => ({
  file,
  content: { kind: 'text', text: documents.join('---\n') },
});
const unchanged = (file: string): ManifestFile => ({ file, content: { kind: 'unchanged' } });
const unreadable = (file: string): ManifestFile => ({ file, content: { kind: 'unreadable', message: 'no' } });
const files = (...found: readonly ManifestFile[]): ManifestListing => ({ kind: 'files', files: found });

/** One line per listing: `[names]` for a set, `!` for an error, `~` for a notice of pods that are kept, `+` for a recovery. */
const play = (...listings: readonly ManifestListing[]): readonly string[] => {
  let state = NO_MANIFEST_FILES;
  return listings.map((listing) => {
    const folded = foldManifestListing(state, listing, PLACE);
    state = folded.state;
    return folded.events
      .map((event) => {
        if (event.kind === 'set')
          return `[${event.pods.map(({ metadata, spec }) => `${metadata.name.replace('-n', '')}${spec.containers[0]?.image === 'i' ? '' : "'"}`).join(' ')}]`;
        if (event.problem.severity === 'info') return `+${event.problem.from}`;
        return event.problem.severity === 'error' ? '!' : `~${event.problem.keeps?.length}`;
      })
      .join(' ');
  });
};

describe('foldManifestListing', () => {
  it.each<[what: string, listings: readonly ManifestListing[], said: readonly string[]]>([
    ['an empty directory is a set, once', [files(), files()], ['[]', '']],
    [
      'pods stand in the order of files and documents',
      [files(text('a', doc('z'), doc('w')), text('b', doc('x')))],
      ['[z w x]'],
    ],
    ['an unchanged listing says nothing', [files(text('a', doc('p'))), files(unchanged('a'))], ['[p]', '']],
    [
      'a text that means the same says nothing',
      [files(text('a', doc('p'))), files(text('a', `# hi\n${doc('p')}`))],
      ['[p]', ''],
    ],
    ['an edit is a set', [files(text('a', doc('p'))), files(text('a', doc('p', 'j')))], ['[p]', "[p']"]],
    ['a new file is a set', [files(text('b', doc('p'))), files(text('a', doc('q')), unchanged('b'))], ['[p]', '[q p]']],
    [
      'a deleted file takes its pods along',
      [files(text('a', doc('p')), text('b', doc('q'))), files(unchanged('b'))],
      ['[p q]', '[q]'],
    ],
    ['a file that is broken from the start has no pods', [files(text('a', BROKEN))], ['! []']],
    ['a broken file keeps its pods', [files(text('a', doc('p'))), files(text('a', BROKEN))], ['[p]', '! ~1']],
    [
      'a broken file that stays so says nothing more',
      [files(text('a', doc('p'))), files(text('a', BROKEN)), files(unchanged('a'))],
      ['[p]', '! ~1', ''],
    ],
    [
      'a repaired file has the pods that it says',
      [files(text('a', doc('p'))), files(text('a', BROKEN)), files(text('a', doc('q')))],
      ['[p]', '! ~1', '+a [q]'],
    ],
    [
      'a file repaired to what it was changes nothing, and is told once',
      [files(text('a', doc('p'))), files(text('a', BROKEN)), files(text('a', doc('p'))), files(unchanged('a'))],
      ['[p]', '! ~1', '+a', ''],
    ],
    [
      'a broken file that is deleted takes its kept pods along',
      [files(text('a', doc('p'))), files(text('a', BROKEN)), files()],
      ['[p]', '! ~1', '[]'],
    ],
    [
      'one broken document keeps its pod beside the edited others',
      [files(text('a', doc('p'), doc('q'))), files(text('a', doc('p', 'j'), BROKEN))],
      ['[p q]', "! ~1 [p' q]"],
    ],
    [
      'a broken document beside the others keeps nobody twice',
      [files(text('a', doc('p'))), files(text('a', doc('p'), BROKEN))],
      ['[p]', '!'],
    ],
    [
      'kept pods outlive a second slip',
      [files(text('a', doc('p'), doc('q'))), files(text('a', BROKEN, doc('q'))), files(text('a', BROKEN, BROKEN))],
      ['[p q]', '! ~1 [q p]', '! ! ~2'],
    ],
    [
      'a good file without documents has no pods',
      [files(text('a', doc('p'))), files(text('a', '# off\n'))],
      ['[p]', '[]'],
    ],
    [
      'an emptied file keeps its pods, as it may be half written',
      [files(text('a', doc('p'))), files(text('a', ''))],
      ['[p]', '! ~1'],
    ],
    [
      'a file that cannot be read keeps its pods',
      [files(text('a', doc('p'))), files(unreadable('a'))],
      ['[p]', '! ~1'],
    ],
    ['a missing path wants nothing, and is told once', [{ kind: 'missing' }, { kind: 'missing' }], ['! []', '']],
    [
      'a path that vanishes takes its pods along',
      [files(text('a', doc('p'))), { kind: 'missing' }, files(text('a', doc('p')))],
      ['[p]', '! []', '+/m [p]'],
    ],
    [
      'a path that cannot be looked into says no set',
      [{ kind: 'unreadable', message: 'no' }, files()],
      ['!', '+/m []'],
    ],
    [
      'a path that cannot be looked into keeps its pods',
      [files(text('a', doc('p'))), { kind: 'unreadable', message: 'no' }, files(unchanged('a'))],
      ['[p]', '!', '+/m'],
    ],
    [
      'a repair is told of the file that was broken, however often it was listed meanwhile',
      [
        files(text('a', BROKEN), text('b', BROKEN)),
        files(unchanged('a'), unchanged('b')),
        files(text('a'), text('b', doc('q'))),
      ],
      ['! ! []', '', '! +b [q]'],
    ],
    [
      'a broken file that is deleted has not recovered',
      [files(text('a', BROKEN)), files(), files(text('a', doc('p')))],
      ['! []', '', '[p]'],
    ],
  ])('%s', (_what, listings, said) => {
    expect(play(...listings)).toEqual(said);
  });

  it('never drops a pod of a file that holds something broken, and never keeps one of a good file', () => {
    const name = fc.constantFrom('a', 'b', 'c', undefined);
    const versions = fc.array(fc.uniqueArray(name, { minLength: 1, maxLength: 3 }), { maxLength: 6 });
    fc.assert(
      fc.property(versions, (given) => {
        let state = NO_MANIFEST_FILES;
        let wanted = new Set<string>();
        for (const names of given) {
          const good = names.filter((one) => one !== undefined);
          const documents = names.map((one) => (one === undefined ? BROKEN : doc(one)));
          state = foldManifestListing(state, files(text('f', ...documents)), PLACE).state;
          wanted = new Set(good.length === names.length ? good : [...wanted, ...good]);
          const running = (state.pods.get('f') ?? []).map(({ metadata }) => metadata.name.replace('-n', ''));
          expect([...running].sort()).toEqual([...wanted].sort());
        }
      }),
    );
  });

  it('keeps the very pod, so that nothing compares as changed', () => {
    const first = foldManifestListing(NO_MANIFEST_FILES, files(text('a', doc('p'))), PLACE).state;
    const second = foldManifestListing(first, files(text('a', doc('p'), doc('q'))), PLACE).state;
    expect(second.pods.get('a')?.[0]).toBe(first.pods.get('a')?.[0]);
  });

  it('says of a name that is too long for the node where it stands', () => {
    const { events } = foldManifestListing(NO_MANIFEST_FILES, files(text('a', doc('p'.repeat(252)))), PLACE);
    expect(events.map(({ kind }) => kind)).toEqual(['problem', 'set']);
    expect(events[0]).toMatchObject({
      problem: { manifest: { file: 'a', line: 1, column: 1, field: 'metadata.name' } },
    });
  });
});
