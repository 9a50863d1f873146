import { readdirSync, readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import * as library from '../../src/index.js';
import * as marbles from '../../src/marbles.js';
import * as node from '../../src/node.js';
import * as sim from '../../src/sim.js';
import { exportsOf } from './library-exports.js';
import { exportedPlaces, keyOf, typesReachedFrom } from './reachable-types.js';

const textsOf = (folder: string, ending: string): readonly string[] =>
  readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith(ending))
    .map((name) => readFileSync(`${folder}/${name}`, 'utf8'));

const words = new Set([...textsOf('docs', '.md'), ...textsOf('examples', '.ts')].join('\n').match(/[\w$]+/g));

const ENTRIES = [
  { entry: 'rx-kubelet', exported: library, file: 'src/index.ts' },
  { entry: 'rx-kubelet/node', exported: node, file: 'src/node.ts' },
  { entry: 'rx-kubelet/sim', exported: sim, file: 'src/sim.ts' },
  { entry: 'rx-kubelet/marbles', exported: marbles, file: 'src/marbles.ts' },
].map((one) => ({ ...one, exports: exportsOf(one.file) }));

/** The types that a program cannot import although an export names them. The search does not go into them. */
const NOT_IMPORTED: readonly { readonly reason: string; readonly types: readonly string[] }[] = [
  {
    reason: 'shorthands of the declarations in their file, which export every type made with them',
    types: [
      'src/model/node-state/state-change.ts#ChangeKind',
      'src/model/node-state/state-change.ts#ChangeOf',
      'src/model/references/referenced-object.ts#AsJson',
      'src/model/references/source-object.ts#Named',
      'src/tools/recording/replay/replay-result.ts#ReplayCounts',
      'src/tools/sim/faults/fault.ts#AtWrite',
      'src/tools/sim/faults/fault.ts#Chance',
      'src/tools/sim/faults/fault.ts#OfCalls',
      'src/tools/sim/invariants/pod-truth.ts#Journaled',
    ],
  },
  {
    reason: 'calls between a VirtualScheduler and its own actions; a program calls `schedule`, as of every scheduler',
    types: [
      'src/tools/sim/world/virtual-scheduler.ts#Share',
      'src/tools/sim/world/virtual-scheduler.ts#VirtualAction',
      'src/tools/sim/world/virtual-scheduler.ts#Work',
    ],
  },
  {
    reason: 'the inside of a SimulatedRuntime; its `sandboxes()` and `containers()` return what a program reads',
    types: ['src/tools/sim/runtime/runtime-store.ts#RuntimeStore'],
  },
];

describe('the types in the signatures of the library', () => {
  const exceptions = new Set(NOT_IMPORTED.flatMap(({ types }) => types));
  const places = ENTRIES.flatMap(({ file }) => exportedPlaces(file));
  const exported = new Set(places.map(keyOf));
  const { types, inferred } = typesReachedFrom(places, exceptions);
  /** The namespace `cri` and the exported types of the pods export the generated code. */
  const own = [...types].filter(([type]) => !type.startsWith('src/generated/'));

  it('can all be read: no signature leaves a type to the compiler', () => {
    expect(inferred).toEqual([]);
    expect(own.length).toBeGreaterThan(400);
  });

  it('can be imported, each by its name', () => {
    const missing = own.filter(([type]) => !exported.has(type) && !exceptions.has(type));
    expect(missing.map(([type, through]) => `${type}, in the signature of ${through}`)).toEqual([]);
  });

  it('have no exception that none of them needs', () => {
    expect([...exceptions].filter((type) => exported.has(type) || !types.has(type))).toEqual([]);
  });

  it('have one name each, and each name is that of one type', () => {
    const names = ENTRIES.flatMap(({ exports }) => exports.map(({ name }) => name));
    expect(names.filter((name, index) => names.indexOf(name) !== index)).toEqual([]);
  });
});

describe.each(ENTRIES)('what $entry shows', ({ exported, exports }) => {
  const namesOf = (wanted: (one: (typeof exports)[number]) => boolean): readonly string[] =>
    exports.filter(wanted).map(({ name }) => name);

  it('is read in full: its values are those of the module', () => {
    expect(namesOf(({ kind }) => kind !== 'type').toSorted()).toEqual(Object.keys(exported).sort());
  });

  it('has a page or an example, each type too', () => {
    expect(exports.length).toBeGreaterThan(Object.keys(exported).length);
    expect(namesOf(({ name }) => !words.has(name))).toEqual([]);
  });

  it('is no value of which only the type can be imported', () => {
    expect(namesOf(({ isTypeOfValue }) => isTypeOfValue)).toEqual([]);
  });
});
