import fc from 'fast-check';
import { describe, expect, it, vi } from 'vitest';
import { DOUBT_MS } from '../../../src/model/config/absences.js';
import {
  foldManifestListing,
  type ManifestFile,
  type ManifestFilesState,
  type ManifestListing,
  NO_MANIFEST_FILES,
} from '../../../src/model/config/fold-manifest-listing.js';
import { readManifest } from '../../../src/model/manifest/parse-manifest.js';

const PLACE = { path: '/m', nodeName: 'n' };

const doc = (name: string, image = 'i'): string =>
  `apiVersion: v1\nkind: Pod\nmetadata: {name: ${name}}\nspec: {containers: [{name: c, image: ${image}}]}\n`;
const BROKEN = 'apiVersion: v1\nkind: Pood\n';

const text = (file: string, ...documents: readonly string[]): ManifestFile => ({
  file,
  content: { kind: 'text', text: documents.join('---\n') },
});
/** A text that its reader can distinguish from others. */
const version = (file: string, digest: number, ...documents: readonly string[]): ManifestFile => ({
  file,
  content: { kind: 'text', text: documents.join('---\n'), digest: String(digest) },
});
const unchanged = (file: string): ManifestFile => ({ file, content: { kind: 'unchanged' } });
const unreadable = (file: string): ManifestFile => ({ file, content: { kind: 'unreadable', message: 'no' } });
/** The machine could not look. */
const unknown = (file: string): ManifestFile => ({
  file,
  content: { kind: 'unreadable', message: 'no', isUnknown: true },
});
const vanished = (file: string): ManifestFile => ({ file, content: { kind: 'vanished' } });
const dangling = (file: string): ManifestFile => ({ file, content: { kind: 'dangling' } });
const files = (...found: readonly ManifestFile[]): ManifestListing => ({ kind: 'files', files: found });
const MISSING: ManifestListing = { kind: 'missing' };
const UNREADABLE: ManifestListing = { kind: 'unreadable', message: 'no' };

/** One line per listing: `[names]` for a set, with `?` for a partial one, `!` for an error, `~` for a notice of pods that are kept, `+` for a recovery. */
const play = (listings: readonly ManifestListing[], everyMs: number = DOUBT_MS): readonly string[] => {
  let state = NO_MANIFEST_FILES;
  return listings.map((listing, index) => {
    const folded = foldManifestListing(state, listing, PLACE, index * everyMs);
    state = folded.state;
    return folded.events
      .map((event) => {
        if (event.kind === 'set')
          return `[${event.pods.map(({ metadata, spec }) => `${metadata.name.replace('-n', '')}${spec.containers[0]?.image === 'i' ? '' : "'"}`).join(' ')}]${event.isPartial ? '?' : ''}`;
        if (event.problem.severity === 'info') return `+${event.problem.from}`;
        return event.problem.severity === 'error' ? '!' : `~${event.problem.keeps?.length}`;
      })
      .join(' ');
  });
};

describe('foldManifestListing', () => {
  it('makes no text of a pod whose reader has made its hash, unless the pod was there before with this UID', () => {
    const read = (digest: number, ...documents: readonly string[]): ManifestFile => {
      const one = documents.join('---\n');
      return {
        file: 'a',
        content: { kind: 'text', text: one, digest: String(digest), reading: readManifest(one, { file: 'a' }) },
      };
    };
    const [first, second] = [read(1, doc('p'), doc('q')), read(2, doc('p'), doc('q', 'j'))];
    const texts = vi.spyOn(JSON, 'stringify');
    try {
      const { state } = foldManifestListing(NO_MANIFEST_FILES, files(first), PLACE, 0);
      expect(texts.mock.calls.length).toBe(0);
      const again = foldManifestListing(state, files(second), PLACE, 0);
      expect(texts.mock.calls.length).toBe(2);
      expect(again.state.pods?.map((pod, index) => pod === state.pods?.[index])).toEqual([true, false]);
    } finally {
      texts.mockRestore();
    }
  });

  it.each<[what: string, listings: readonly ManifestListing[], said: readonly string[]]>([
    ['an empty directory is a set, once', [files(), files()], ['[]', '']],
    [
      'pods stand in the order of files and documents',
      [files(text('a', doc('z'), doc('w')), text('b', doc('x')))],
      ['[z w x]'],
    ],
    [
      'at first, what cannot be looked into may hold pods of an earlier agent',
      [files(text('a', doc('p')), unknown('b')), files(unchanged('a'), text('b', doc('q')))],
      ['! [p]?', '+b [p q]'],
    ],
    [
      'a part stays one until everything is known, and then the same pods are a whole',
      [
        files(unknown('a'), unknown('b')),
        files(text('a', doc('p')), unknown('b')),
        files(text('a', doc('p')), text('b', '# nothing\n')),
      ],
      ['! ! []?', '+a [p]?', '+b [p]'],
    ],
    [
      'what cannot be looked into is a part no longer once it is gone, or is known to be bad',
      [files(unknown('a'), unknown('b')), files(unreadable('a')), files(unreadable('a'))],
      ['! ! []?', '!', '+b []'],
    ],
    [
      'later, what cannot be looked into keeps its pods, and the set is whole',
      [files(text('a', doc('p'))), files(unknown('a'), text('b', doc('q')))],
      ['[p]', '! ~1 [p q]'],
    ],
    [
      'at first, a file that is bad by itself is no reason to doubt',
      [files(text('a', doc('p')), unreadable('b'))],
      ['! [p]'],
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
      [files(text('a', doc('p')), text('b', doc('q'))), files(unchanged('b')), files(unchanged('b'))],
      ['[p q]', '', '[q]'],
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
      'a file repaired to what it was changes nothing, and is reported once',
      [files(text('a', doc('p'))), files(text('a', BROKEN)), files(text('a', doc('p'))), files(unchanged('a'))],
      ['[p]', '! ~1', '+a', ''],
    ],
    [
      'a broken file that is deleted takes its kept pods along',
      [files(text('a', doc('p'))), files(text('a', BROKEN)), files(), files()],
      ['[p]', '! ~1', '', '+a []'],
    ],
    [
      'one broken document keeps its pod beside the edited others',
      [files(text('a', doc('p'), doc('q'))), files(text('a', doc('p', 'j'), BROKEN))],
      ['[p q]', "! ~1 [p' q]"],
    ],
    [
      'a broken document beside the others keeps no pod twice',
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
    [
      'a file that still cannot be read says nothing more, and is read when it can be',
      [files(text('a', doc('p'))), files(unreadable('a')), files(unreadable('a')), files(text('a', doc('p', 'j')))],
      ['[p]', '! ~1', '', "+a [p']"],
    ],
    [
      'a missing path wants nothing once there is no doubt, and is reported once',
      [MISSING, MISSING, MISSING, MISSING],
      ['!', '[]', '', ''],
    ],
    ['a missing path that appears at once has nothing to say', [MISSING, files(text('a', doc('p')))], ['!', '+/m [p]']],
    [
      'a path that vanishes takes its pods along',
      [files(text('a', doc('p'))), MISSING, MISSING, MISSING, files(text('a', doc('p')))],
      ['[p]', '', '! []', '', '+/m [p]'],
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
      'a repair is reported of the file that was broken, however often it was listed meanwhile',
      [
        files(text('a', BROKEN), text('b', BROKEN)),
        files(unchanged('a'), unchanged('b')),
        files(text('a'), text('b', doc('q'))),
      ],
      ['! ! []', '', '! +b [q]'],
    ],
    [
      'what is reported of a broken file is taken back when it is gone',
      [files(text('a', BROKEN)), files(), files(), files(text('a', doc('p')))],
      ['! []', '', '+a', '[p]'],
    ],
  ])('%s', (_what, listings, said) => {
    expect(play(listings)).toEqual(said);
  });

  it.each<[what: string, listings: readonly ManifestListing[], said: readonly string[]]>([
    [
      'a path that vanishes and comes back as it was changes nothing and says nothing',
      [
        files(version('a', 1, doc('p')), version('b', 1, BROKEN)),
        MISSING,
        files(version('a', 1, doc('p')), version('b', 1, BROKEN)),
      ],
      ['! [p]', '', ''],
    ],
    [
      'a file that vanishes and comes back as it was changes nothing',
      [
        files(text('a', doc('p')), text('b', doc('q'))),
        files(unchanged('b')),
        files(text('a', doc('p')), unchanged('b')),
      ],
      ['[p q]', '', ''],
    ],
    [
      'a file that comes back with something else is read at once',
      [files(text('a', doc('p'))), files(), files(text('a', doc('p', 'j')))],
      ['[p]', '', "[p']"],
    ],
    [
      'one that comes back is in doubt again when it vanishes again',
      [files(text('a', doc('p'))), files(), files(text('a', doc('p'))), files(), files()],
      ['[p]', '', '', '', ''],
    ],
    [
      'a new file acts at once while another is in doubt',
      [files(text('a', doc('p'))), files(text('b', doc('q')))],
      ['[p]', '[p q]'],
    ],
    [
      'a renamed file waits for the name of its pod, whether it comes before or after the old one',
      [files(text('b', doc('p'))), files(text('a', doc('p', 'j'))), files(unchanged('a')), files(unchanged('a'))],
      ['[p]', '', '', "[p']"],
    ],
    [
      'a duplicate that is ignored does not come in because its file is in doubt',
      [
        files(text('a', doc('p')), text('b', doc('p', 'j'))),
        files(unchanged('a')),
        files(unchanged('a')),
        files(unchanged('a')),
      ],
      ['! [p]', '', '', '+b'],
    ],
    [
      'a duplicate takes over, and its file can be used again, when the doubt is over',
      [
        files(text('a', doc('p')), text('b', doc('p', 'j'))),
        files(unchanged('b')),
        files(unchanged('b')),
        files(unchanged('b')),
      ],
      ['! [p]', '', '', "+b [p']"],
    ],
    [
      'a listing that fails ends a doubt without a verdict',
      [files(text('a', doc('p'))), MISSING, UNREADABLE, MISSING, MISSING],
      ['[p]', '', '!', '', ''],
    ],
    [
      'a link to nothing is reported when the doubt is over, and when it leads somewhere again',
      [
        files(dangling('a')),
        files(dangling('a')),
        files(dangling('a')),
        files(dangling('a')),
        files(text('a', doc('p'))),
      ],
      ['[]?', '', '! []', '', '+a [p]'],
    ],
    [
      'a file that vanishes between the first listing and its reading may hold pods, until it is back',
      [files(vanished('a'), text('b', doc('q'))), files(text('a', doc('p')), text('b', doc('q')))],
      ['[q]?', '[p q]'],
    ],
    [
      'a file that vanishes between the first listing and its reading may hold pods, until the doubt is over',
      [files(vanished('a'), text('b', doc('q'))), files(text('b', doc('q'))), files(text('b', doc('q')))],
      ['[q]?', '', '[q]'],
    ],
    [
      'a file of which only the name is listed keeps its pods, as one that is missing',
      [files(text('a', doc('p'))), files(vanished('a')), files(), files(vanished('a'))],
      ['[p]', '', '', '[]'],
    ],
    [
      'a link whose end vanishes takes its pods along when the doubt is over',
      [
        files(text('a', doc('p'))),
        files(dangling('a')),
        files(dangling('a')),
        files(dangling('a')),
        files(),
        files(),
        files(),
      ],
      ['[p]', '', '', '! []', '', '', '+a'],
    ],
  ])('within half of the doubt, %s', (_what, listings, said) => {
    expect(play(listings, DOUBT_MS / 2)).toEqual(said);
  });

  it('says which of two pods of one name counts, once', () => {
    const twice = files(text('a', doc('p'), doc('p', 'j')), text('b', doc('p')));
    const first = foldManifestListing(NO_MANIFEST_FILES, twice, PLACE, 0);
    expect(first.events.map((event) => (event.kind === 'problem' ? event.problem.message : 'set'))).toEqual([
      'a: default/p-n is ignored, because another pod of this file has the same name and comes first',
      'b: default/p-n is ignored, because a pod of a has the same name and comes first',
      'set',
    ]);
    expect(first.events.map((one) => one.kind === 'problem' && one.problem.continues)).toEqual([
      undefined,
      undefined,
      false,
    ]);
    const broken = files(text('a', doc('p')), text('b', doc('p'), BROKEN));
    const { events } = foldManifestListing(NO_MANIFEST_FILES, broken, PLACE, 0);
    expect(events.map((one) => one.kind === 'problem' && one.problem.continues)).toEqual([undefined, true, false]);
    const event = {
      reason: 'FailedValidation',
      message: expect.stringContaining('duplicate pod name "p-n", ignoring') as unknown,
    };
    expect(first.events[0]).toMatchObject({ problem: { severity: 'error', from: 'a', event } });
    const second = foldManifestListing(
      first.state,
      files(unchanged('a'), unchanged('b'), text('c', doc('q'))),
      PLACE,
      1,
    );
    expect(second.events.map(({ kind }) => kind)).toEqual(['set']);
  });

  it('asks for the look that can end a doubt', () => {
    const asked = (state: ManifestFilesState, now: number, listing = files()) =>
      foldManifestListing(state, listing, PLACE, now);
    const known = foldManifestListing(NO_MANIFEST_FILES, files(text('a', doc('p'))), PLACE, 0);
    expect(known.againInMs).toBeUndefined();
    const doubted = asked(known.state, 100);
    expect(doubted.againInMs).toBe(DOUBT_MS);
    expect(asked(doubted.state, 600).againInMs).toBe(DOUBT_MS - 500);
    expect(asked(doubted.state, 100 + DOUBT_MS).againInMs).toBeUndefined();
    expect(asked(doubted.state, 600, UNREADABLE).againInMs).toBeUndefined();
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
          state = foldManifestListing(state, files(text('f', ...documents)), PLACE, 0).state;
          wanted = new Set(good.length === names.length ? good : [...wanted, ...good]);
          const running = (state.files.get('f')?.pods ?? []).map(({ metadata }) => metadata.name.replace('-n', ''));
          expect([...running].sort()).toEqual([...wanted].sort());
        }
      }),
    );
  });

  it('keeps the very pod, so that nothing compares as changed', () => {
    const first = foldManifestListing(NO_MANIFEST_FILES, files(text('a', doc('p'))), PLACE, 0).state;
    const second = foldManifestListing(first, files(text('a', doc('p'), doc('q'))), PLACE, 0).state;
    expect(second.pods?.[0]).toBe(first.pods?.[0]);
  });

  it('says of a name that is too long for the node where it stands', () => {
    const { events } = foldManifestListing(NO_MANIFEST_FILES, files(text('a', doc('p'.repeat(252)))), PLACE, 0);
    expect(events.map(({ kind }) => kind)).toEqual(['problem', 'set']);
    expect(events[0]).toMatchObject({
      problem: { manifest: { file: 'a', line: 1, column: 1, field: 'metadata.name' } },
    });
  });
});
