import { describe, expect, it } from 'vitest';
import { foldManifestListing, NO_MANIFEST_FILES } from '../../../src/model/config/fold-manifest-listing.js';
import { cutQuotes } from '../../../src/model/manifest/cut-quotes.js';
import { formatManifestProblem } from '../../../src/model/manifest/manifest-problem.js';
import { readManifest } from '../../../src/model/manifest/parse-manifest.js';

const HUGE = 'x'.repeat(1_000_000);
const pod = (fields: string, spec = 'containers: [{name: c, image: i}]') =>
  `{apiVersion: v1, kind: Pod, metadata: {name: p${fields}}, spec: {${spec}}}`;

describe('what is said of a huge text', () => {
  it.each([
    ['is a line for one that is no manifest', HUGE],
    ['is a line for one in quotes', JSON.stringify(`"${HUGE}`)],
    ['is a line for its kind', `kind: ${HUGE}`],
    ['is a line for its version', `kind: Pod\napiVersion: ${HUGE}`],
    ['is a line for the name of a field', pod(`, ${HUGE}: 1`)],
    ['is a line for a key that is no plain name', pod(`, labels: {"${HUGE} ": 1}`)],
    ['is a line for a label', pod(`, labels: {a: ${HUGE}}`)],
    ['is a line for a namespace', pod(`, namespace: ${HUGE}`)],
    ['is a line for a number', pod('', `hostNetwork: ${'1'.repeat(300)}, containers: [{name: c, image: i}]`)],
    ['is a line for an image', pod('', `containers: [{name: ${HUGE}, image: i, imagePullPolicy: ${HUGE}}]`)],
    ['is a line for an alias', `a: *${HUGE}`],
    ['is a line for a tag', `a: !<${HUGE}> b`],
    ['is a line for an anchor', `a: &${HUGE}`],
    ['is a line for an item of a list', `kind: PodList\napiVersion: v1\nitems: [{kind: ${HUGE}}]`],
    ['is a line for a directive', `%${HUGE}\n---\na: b`],
    ['is a line for a key that stands twice', `${HUGE}: a\n${HUGE}: b`],
  ])('%s', (_what, text) => {
    const { problems } = readManifest(text, { file: 'f' });
    expect(problems.length).toBeGreaterThan(0);
    for (const problem of problems) expect(formatManifestProblem(problem).length).toBeLessThan(1_200);
  });

  it('is at most twenty lines, and how many more there would be', () => {
    const keys = Array.from({ length: 50 }, (_, index) => `k${index}: 1`).join(', ');
    const content = {
      kind: 'text' as const,
      text: `{apiVersion: v1, kind: Pod, metadata: {name: p}, spec: {containers: [], ${keys}}}`,
    };
    const listing = { kind: 'files' as const, files: [{ file: 'f', content }] };
    const { events } = foldManifestListing(NO_MANIFEST_FILES, listing, { path: 'm', nodeName: 'n' }, 0);
    const messages = events.flatMap((event) => (event.kind === 'problem' ? [event.problem.message] : []));
    expect(messages).toHaveLength(21);
    expect(messages[20]).toBe('f: and 30 more problems; `rx-kubelet validate` prints all of them');
  });
});

it.each([
  ['nothing to cut', 'is "a" and "b"'],
  ['an open quote', 'is "a'],
  ['sixty characters', `is "${'a'.repeat(58)}"`],
])('leaves %s', (_what, text) => {
  expect(cutQuotes(text)).toBe(text);
});

it.each([
  ['a long quote', `is "${'a'.repeat(59)}", not "b"`, `is "${'a'.repeat(57)}…", not "b"`],
  ['a quote within quotes', `is "${'\\"'.repeat(50)}" here`, `is "${'\\"'.repeat(28)}…" here`],
  ['no half of a letter', `is "${'a'.repeat(56)}😀aaa"`, `is "${'a'.repeat(56)}…"`],
  ['no part of an escape', `is "${'a'.repeat(54)}\\u0001aaa"`, `is "${'a'.repeat(54)}…"`],
  ['a long text', 'a'.repeat(501), `${'a'.repeat(499)}…`],
])('cuts %s', (_what, text, cut) => {
  expect(cutQuotes(text)).toBe(cut);
});
