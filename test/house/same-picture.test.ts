import { readFileSync } from 'node:fs';
import { expect, it } from 'vitest';

const textOf = (file: string): string => readFileSync(new URL(`../../${file}`, import.meta.url), 'utf8');
const kubelet = textOf('src/kubelet.ts');
const between = (text: string, from: string, to: string): string => (text.split(from)[1] ?? '').split(to)[0] ?? '';
/** `podStatuses$` as the picture writes it: `pod statuses`. */
const inWords = (name: string): string =>
  name.replace(/\$$/, '').replace(/[A-Z]/g, (letter) => ` ${letter.toLowerCase()}`);

/** The names of the file, in its order. */
const inputs = [...between(kubelet, 'parts.swap({', '});').matchAll(/^ +(\w+\$)[:,]/gm)].map(([, name = '']) => name);
const beside = [...between(kubelet, 'merge(', ').pipe(').matchAll(/(\w+\$),/g)].map(([, name = '']) => name);

const picture = between(textOf('README.md'), '```text\n', '```');
const architecture = textOf('docs/architecture.md');
/** The streams in the first column of the tables of one section. */
const streamsOf = (title: string, next: string): readonly (string | undefined)[] =>
  [...between(architecture, `## ${title}\n`, `## ${next}\n`).matchAll(/^\| `(\w+\$)` +\|/gm)].map(([, name]) => name);

it('the inputs of the loop stand in src/kubelet.ts, in the picture of the README and in docs/architecture.md in one order', () => {
  expect(inputs).toEqual(['config$', 'pleg$', 'probe$', 'syncTick$', 'housekeeping$', 'resize$', 'kill$', 'stop$']);
  const drawn = ['podConfig', ...inputs.slice(1).map((name) => (name === 'pleg$' ? 'pleg (' : `${inWords(name)}$`))];
  const places = drawn.map((name) => picture.indexOf(name));
  expect(places).not.toContain(-1);
  expect(places).toEqual(places.toSorted((one, other) => one - other));
  expect(streamsOf('The one loop', 'Beside the loop')).toEqual(inputs);
});

it('the streams beside the loop stand in src/kubelet.ts, in the picture of the README and in docs/architecture.md in one order', () => {
  expect(beside.length).toBeGreaterThan(10);
  const drawn = between(picture, 'no pod waits: ', '─▶').split(/[·,\n]/);
  // The picture shows the view of the Node as the Node.
  const inPicture = beside.map((name) => (name === 'nodeView$' ? 'node' : inWords(name)));
  expect(drawn.map((name) => name.trim())).toEqual(inPicture);
  expect(streamsOf('Beside the loop', 'From a file to a process')).toEqual(beside);
});

it('the gate is in all three', () => {
  expect([kubelet, picture, architecture].map((text) => /\bgate\b/.test(text))).toEqual([true, true, true]);
});
