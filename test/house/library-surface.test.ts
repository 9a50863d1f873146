import { readdirSync, readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import * as library from '../../src/index.js';
import * as node from '../../src/node.js';
import * as sim from '../../src/sim.js';
import { exportsOf } from './library-exports.js';

const textsOf = (folder: string, ending: string): readonly string[] =>
  readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith(ending))
    .map((name) => readFileSync(`${folder}/${name}`, 'utf8'));

const words = new Set([...textsOf('docs', '.md'), ...textsOf('examples', '.ts')].join('\n').match(/[\w$]+/g));

describe.each([
  { entry: 'rx-kubelet', exported: library, exports: exportsOf('src/index.ts') },
  { entry: 'rx-kubelet/node', exported: node, exports: exportsOf('src/node.ts') },
  { entry: 'rx-kubelet/sim', exported: sim, exports: exportsOf('src/sim.ts') },
])('what $entry shows', ({ exported, exports }) => {
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
