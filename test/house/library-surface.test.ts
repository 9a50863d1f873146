import { readdirSync, readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import * as library from '../../src/index.js';
import * as node from '../../src/node.js';
import * as sim from '../../src/sim.js';

const textsOf = (folder: string, ending: string): readonly string[] =>
  readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith(ending))
    .map((name) => readFileSync(`${folder}/${name}`, 'utf8'));

describe('what the library shows', () => {
  const words = new Set([...textsOf('docs', '.md'), ...textsOf('examples', '.ts')].join('\n').match(/[\w$]+/g));

  it.each([
    ['rx-kubelet', library],
    ['rx-kubelet/node', node],
    ['rx-kubelet/sim', sim],
  ])('has a page or an example: %s', (_, exported) => {
    expect(Object.keys(exported).filter((name) => !words.has(name))).toEqual([]);
  });
});
