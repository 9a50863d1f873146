import { describe, expect, it } from 'vitest';
import { seededRandom } from '../../src/tools/sim/world/seeded-random.js';
import { SyncedRecord, SyncedRecords } from '../../src/tools/sim/disk/synced-record.js';
import { COMMIT_MS, VolatileTree } from '../../src/tools/sim/disk/volatile-tree.js';

const SEEDS = Array.from({ length: 60 }, (_, seed) => seed);

/** The files after a loss of power 1 s after the changes, for each of many seeds. */
const afterLoss = (change: (tree: VolatileTree) => void, before: (tree: VolatileTree) => void = () => undefined) =>
  SEEDS.map((seed) => {
    let now = 0;
    const tree = new VolatileTree(() => now);
    before(tree);
    now = 10_000;
    change(tree);
    now = 11_000;
    tree.losePower(seededRandom(seed));
    return tree;
  });
const kinds = (trees: readonly VolatileTree[]): readonly string[] =>
  [...new Set(trees.map((tree) => tree.paths().join(' ')))].sort();

describe('the files after a loss of power', () => {
  it('are those of five seconds before, and any or the first of the changes since', () => {
    const trees = afterLoss(
      (tree) => {
        tree.write('/b', 'new');
        tree.write('/c', 'new');
      },
      (tree) => tree.write('/a', 'old'),
    );
    expect(kinds(trees)).toEqual(['/a', '/a /b', '/a /b /c', '/a /c']);
    for (const tree of trees) expect(tree.read('/a')).toBe('old');
  });

  it('are all there after five seconds without a change', () => {
    for (const seed of SEEDS) {
      let now = 0;
      const tree = new VolatileTree(() => now);
      tree.write('/a', 'new');
      now = COMMIT_MS;
      tree.losePower(seededRandom(seed));
      expect([tree.paths(), tree.read('/a')]).toEqual([['/a'], 'new']);
    }
  });

  it('have a directory that was synced, with those above it, and not what it holds', () => {
    const trees = afterLoss((tree) => {
      tree.makeDirectory('/pods/uid/mark');
      tree.sync('/pods/uid/mark');
      tree.write('/pods/uid/mark/file', 'new');
    });
    for (const tree of trees) expect(tree.list('/pods/uid')).toEqual(['mark']);
    expect([...new Set(trees.map((tree) => tree.list('/pods/uid/mark').join(' ')))].sort()).toEqual(['', 'file']);
  });

  it('have a directory that was synced after its parent had been removed and made again', () => {
    const trees = afterLoss(
      (tree) => {
        tree.remove('/pods/uid');
        tree.makeDirectory('/pods/uid');
        tree.makeDirectory('/pods/uid/mark');
        tree.sync('/pods/uid/mark');
      },
      (tree) => tree.makeDirectory('/pods/uid/old'),
    );
    for (const tree of trees) expect(tree.list('/pods/uid')).toEqual(['mark']);
  });

  it('have the old content, the new one or none', () => {
    const trees = afterLoss(
      (tree) => tree.write('/a', 'new'),
      (tree) => tree.write('/a', 'old'),
    );
    expect([...new Set(trees.map((tree) => tree.read('/a')))].sort()).toEqual(['', 'new', 'old']);
  });

  it('have a directory and all of its parents, or none of them', () => {
    expect(kinds(afterLoss((tree) => tree.makeDirectory('/a/b/c')))).toEqual(['', '/a /a/b /a/b/c']);
  });

  it('lack a file whose directory is lost', () => {
    const trees = afterLoss((tree) => {
      tree.makeDirectory('/a');
      tree.write('/a/b', '');
    });
    expect(kinds(trees)).toEqual(['', '/a', '/a /a/b']);
  });

  it('may be back after their removal, and under their former name', () => {
    const before = (tree: VolatileTree) => tree.write('/a', '');
    expect(kinds(afterLoss((tree) => tree.remove('/a'), before))).toEqual(['', '/a']);
    expect(kinds(afterLoss((tree) => tree.rename('/a', '/b'), before))).toEqual(['/a', '/b']);
    expect(kinds(afterLoss((tree) => tree.compress('/a'), before))).toEqual(['/a', '/a.gz']);
    expect(kinds(afterLoss((tree) => tree.link('/a', '/b'), before))).toEqual(['/a', '/a /b']);
  });

  it('can be changed and lost again', () => {
    const [tree] = afterLoss(
      () => undefined,
      (one) => one.write('/a', 'old'),
    );
    tree!.write('/a', 'changed');
    expect(tree!.read('/a')).toBe('changed');
    const again = SEEDS.map((seed) => {
      const [one] = afterLoss(
        () => undefined,
        (of) => of.write('/a', 'old'),
      );
      one!.write('/a', 'changed');
      one!.losePower(seededRandom(seed));
      return one!.read('/a');
    });
    expect([...new Set(again)].sort()).toEqual(['', 'changed', 'old']);
  });

  it('does not grow a log that was open', () => {
    let now = 0;
    const tree = new VolatileTree(() => now);
    tree.openLog('/log', 100);
    now = 10_000;
    tree.write('/b', '');
    tree.losePower(seededRandom(1));
    const size = tree.size('/log');
    now = 20_000;
    expect(tree.size('/log')).toBe(size);
  });
});

describe('a record that is synced', () => {
  const valuesAfter = (act: (record: SyncedRecord<string>, wait: (ms: number) => void) => void) => {
    const values = SEEDS.map((seed) => {
      let now = 0;
      const record = new SyncedRecord('old', () => now);
      act(record, (ms) => (now += ms));
      record.losePower(seededRandom(seed));
      return record.value;
    });
    return [...new Set(values)].sort();
  };

  it('is the old or the new one until its write has ended', () => {
    expect(valuesAfter((record) => void record.write('new'))).toEqual(['new', 'old']);
  });

  it('is never lost once its write has ended', () => {
    expect(valuesAfter((record) => record.write('new')())).toEqual(['new']);
  });

  it('is never older than the last one whose write has ended', () => {
    const values = valuesAfter((record) => {
      const first = record.write('first');
      record.write('second')();
      first();
      record.write('third');
    });
    expect(values).toEqual(['second', 'third']);
  });

  it('is on the disk after five seconds, also if the agent has died before the end of the write', () => {
    const act = (record: SyncedRecord<string>, wait: (ms: number) => void) => {
      record.write('new');
      wait(6_000);
      record.write('newest');
    };
    expect(valuesAfter(act)).toEqual(['new', 'newest']);
  });

  it('is removed like it is written', () => {
    const records = SEEDS.map((seed) => {
      const of = new SyncedRecords<string>(() => 0);
      of.write('kept', 'a')();
      of.write('removed', 'b')();
      of.write('removed', undefined)();
      of.write('unsure', 'c');
      expect([...of.all().keys()]).toEqual(['kept', 'unsure']);
      of.losePower(seededRandom(seed));
      return [...of.all().keys()].join(' ');
    });
    expect([...new Set(records)].sort()).toEqual(['kept', 'kept unsure']);
  });
});
