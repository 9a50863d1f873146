import { describe, expect, it } from 'vitest';
import { parseQuantity } from '../../../src/model/resources/quantity.js';
import { formatManifestProblem } from '../../../src/model/manifest/manifest-problem.js';
import { readManifest } from '../../../src/model/manifest/parse-manifest.js';

const MEGABYTE = 2 ** 20;
const lines = (count: number, line: (index: number) => string): string =>
  Array.from({ length: count }, (_, index) => line(index)).join('');
const said = (text: string): readonly string[] =>
  readManifest(text, { file: 'f' }).problems.map((problem) => formatManifestProblem(problem).slice(0, 200));
const HEAD = 'apiVersion: v1\nkind: Pod\nmetadata: {name: a}\n';

// None of them is measured: in time that grows with the square of the text, each would take minutes.
describe('hostile texts', () => {
  it.each<[what: string, text: string, first: string]>([
    ['many keys', lines(90_000, (index) => `k${index}: v\n`), 'f:1:1: kind: is missing (expected Pod)'],
    [
      'too many keys',
      lines(200_000, (index) => `k${index}: v\n`),
      'f:100001:8: holds more than 100000 fields and list items',
    ],
    ['too many items', `[${'a,'.repeat(MEGABYTE)}]`, 'f:1:200003: holds more than 100000 fields and list items'],
    ['nothing but quotes', '"'.repeat(MEGABYTE), 'f:1:3: text follows that is not part of the document'],
    ['brackets', '['.repeat(MEGABYTE), 'f:1:101: is nested deeper than 100 levels'],
    ['braces', '{a: '.repeat(MEGABYTE), 'f:1:401: is nested deeper than 100 levels'],
    ['lists in lists', '- '.repeat(MEGABYTE), 'f:1:201: is nested deeper than 100 levels'],
    [
      'ever deeper keys',
      lines(3000, (index) => `${' '.repeat(index)}a:\n`),
      'f:101:102: is nested deeper than 100 levels',
    ],
    ['a text without an end', `a: "${'x '.repeat(2 * MEGABYTE)}`, 'f:1:4: a text in quotes does not end'],
    [
      'many documents',
      '--- a\n'.repeat(100_000),
      'f:1:5: is the string "a" (expected a mapping with apiVersion, kind, metadata and spec)',
    ],
    [
      'aliases of aliases, one in the other',
      `x0: &x0 [a]\n${lines(20_000, (index) => `x${index + 1}: &x${index + 1} [*x${index}]\n`)}`,
      'f:100:12: is nested deeper than 100 levels',
    ],
    [
      'aliases of a large text',
      `a: &a "${'x'.repeat(MEGABYTE)}"\nb: [${'*a, '.repeat(90_000)}]`,
      'f:2:45: excessive alias count: the aliases stand for more than 10485760 characters',
    ],
    [
      'volumes and mounts',
      `${HEAD}spec:\n  containers:\n  - name: c\n    image: i\n    volumeMounts:\n${lines(24_000, (index) => `    - {name: v${index}, mountPath: /m${index}}\n`)}`,
      'f:9:14: spec.containers[0].volumeMounts[0].name: is "v0" (expected the name of a volume; the pod has none)',
    ],
    [
      'fields that do not exist',
      `${HEAD}spec:\n${lines(90_000, (index) => `  hostname${index}: v\n`)}`,
      'f:5:3: spec.hostname0: is not a known field (expected perhaps hostname)',
    ],
    [
      'a quantity of digits',
      `${HEAD}spec: {containers: [{name: c, image: i, resources: {limits: {cpu: "${'9'.repeat(MEGABYTE)}x"}}}]}`,
      `f:4:67: spec.containers[0].resources.limits.cpu: is the string "${'9'.repeat(56)}…" (expected a quantity such as "500m", "128Mi" or 2)`,
    ],
  ])('%s', (_what, text, first) => {
    expect(said(text)[0]).toBe(first);
  });

  it('says a thousand problems, and how many more there are', () => {
    const problems = said(`${HEAD}spec:\n${lines(5000, (index) => `  k${index}: v\n`)}`);
    expect(problems).toHaveLength(1001);
    expect(problems.at(-1)).toBe('f:1004:3: 4001 more problems follow');
  });

  it('reads a thousand documents, and says that there are more', () => {
    const texts = said('--- a\n'.repeat(3000));
    expect(texts).toHaveLength(1001);
    expect(texts.at(-1)).toContain('f:1001:1: exceeds the limit of 1000 documents');
  });

  it('reads quantities of any length', () => {
    expect(parseQuantity(`${'0'.repeat(MEGABYTE)}5`)).toBe(5_000_000_000n);
    expect(parseQuantity(`0.${'0'.repeat(MEGABYTE)}1`)).toBe(1n);
    expect(parseQuantity(`1.5${'0'.repeat(MEGABYTE)}`)).toBe(1_500_000_000n);
    expect(parseQuantity('9'.repeat(MEGABYTE))).toBeGreaterThan(10n ** 100n);
    expect(parseQuantity(`${'1'.repeat(MEGABYTE)}x`)).toBeUndefined();
  });
});
