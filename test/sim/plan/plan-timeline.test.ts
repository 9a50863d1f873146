import { describe, expect, it } from 'vitest';
import { endOf, marksOf } from '../../../src/tools/timeline/lanes.js';
import { renderPage } from '../../../src/tools/timeline/render-page.js';
import { renderText } from '../../../src/tools/timeline/render-text.js';
import { planned } from './plan-of.js';

const { plan, timeline } = planned({
  spec: `  initContainers: [{name: prepare, image: "i:1"}]
  containers:
    - name: app
      image: i:1
      readinessProbe: {exec: {command: [ready]}}
      livenessProbe: {exec: {command: [live]}}
    - {name: bad, image: "i:1"}
`,
  scenario: `containers:
  prepare: {exitsAfter: 2s}
  app: [{failsProbes: {from: 1m, probe: liveness}}, {stopsAfter: 3s}]
  bad: {exitsAfter: 5s, exitCode: 1}
timeline: [{at: 4m, restartAgent: {}}]
`,
  for: '10m',
});
const [pod] = timeline.pods;
const marks = (lane: string) => pod?.lanes.find(({ name }) => name === lane)?.marks ?? [];

describe('the lanes of a plan', () => {
  it('are one for every container, for every probe of one, for the phase and for being ready', () => {
    expect(pod?.lanes.map(({ name }) => name)).toEqual([
      ...['config', 'prepare', 'app', 'app readiness', 'app liveness', 'bad', 'phase', 'ready'],
    ]);
  });

  it('lie within the time of the plan, in order, each mark with an id of its own', () => {
    expect([timeline.from, timeline.until, timeline.clock]).toEqual([0, plan.endMs, 'since-start']);
    const all = marksOf(timeline);
    expect(all.filter((mark) => mark.at < 0 || endOf(mark) < mark.at || endOf(mark) > plan.endMs)).toEqual([]);
    expect(new Set(all.map(({ id }) => id)).size).toBe(all.length);
    for (const { marks: own } of pod?.lanes ?? [])
      expect(own.map(({ at }) => at)).toEqual(own.map(({ at }) => at).toSorted((one, other) => one - other));
  });

  it('show what the plan says: starts, ends and waits of containers', () => {
    const bad = plan.pods[0]?.containers.find(({ name }) => name === 'bad');
    const ats = (look: string) => marks('bad').flatMap((mark) => (mark.look === look ? [mark.at] : []));
    expect(ats('start')).toEqual(bad?.instances.map(({ startedMs }) => startedMs));
    expect(ats('exit-bad')).toEqual(bad?.instances.flatMap(({ endedMs }) => endedMs ?? []));
    expect(ats('back-off')).toEqual(bad?.backOffs.map(({ atMs }) => atMs));
    expect(ats('back-off').length).toBeGreaterThan(3);
  });

  it('fold repeated results of a probe away, and keep a change of mind', () => {
    const made = marks('app liveness').filter(({ look }) => look === 'success' || look === 'failure');
    const probe = plan.pods[0]?.containers.find(({ name }) => name === 'app')?.probes[1];
    expect(made).toHaveLength(probe?.attempts ?? NaN);
    expect(made.filter(({ routine }) => routine === undefined).map(({ look }) => look)).toEqual([
      ...['success', 'failure', 'success'],
    ]);
    expect(marks('app liveness').filter(({ look }) => look === 'failing')).toHaveLength(1);
  });

  it('break where the agent restarts', () => {
    expect(timeline.breaks.map(({ at, text }) => `${at} ${text}`)).toEqual([
      ...['240000 the agent ends', '241000 the agent starts'],
    ]);
  });

  it('lead to the entries that they stem from, and to what is known of their causes', () => {
    const known = new Set(timeline.entries.map(({ id }) => id));
    const named = marksOf(timeline).flatMap(({ entry }) => entry ?? []);
    expect(named.length).toBeGreaterThan(20);
    expect(named.filter((id) => !known.has(id))).toEqual([]);
    for (const look of ['start', 'exit-bad', 'back-off'])
      expect(marks('bad').filter((mark) => mark.look === look && mark.entry === undefined)).toEqual([]);
  });

  it('can be drawn in a terminal, and on a page', () => {
    const lines = renderText(timeline, { width: 100, listed: 0 });
    expect(Math.max(...lines.map((line) => [...line].length))).toBeLessThanOrEqual(100);
    expect(lines.join('\n')).toMatch(/folded away: .*liveness probes/);
    expect(lines.join('\n')).not.toContain('earlier');
    expect(renderPage(timeline)).toMatch(/^<!doctype html>/);
  });

  it('speak on the page of what is in a plan: restarts and minutes, and no journal', () => {
    const page = renderPage(timeline);
    expect(page).toContain('Choose a mark to see its record of the agent in the simulated node');
    // The data and the script of the page are the same for all.
    const shown = page.slice(0, page.indexOf('<script'));
    expect(shown).not.toMatch(/journal|instance \d|\d{3}\.\d+s|UTC/i);
    expect(shown).toMatch(/started, restart 1, .* after the end of the run before/);
  });
});

it('draws probes that go on and on with few marks', () => {
  const { timeline: long } = planned({
    spec: '  containers:\n    - {name: app, image: "i:1", livenessProbe: {exec: {command: [live]}}}\n',
    for: '2h',
  });
  const lane = long.pods[0]?.lanes.find(({ name }) => name === 'app liveness');
  expect(lane?.marks.length).toBe(200);
  expect(lane?.marks[0]?.text).toBe('the liveness probe succeeds, the first of 720 in a row');
});
