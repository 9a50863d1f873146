import { Registry } from 'prom-client';
import { expect, it } from 'vitest';
import { refusedIn, refusedManifests } from '../../../src/cli/running-agent/refused-manifests.js';
import type { JournalEntry, JournalRecord } from '../../../src/model/journal/journal.js';
import { allHealth, oneHealth, Remark } from '../../../src/server/routes/health.js';
import { registerRefusedManifests } from '../../../src/server/metrics/refused-manifests-metric.js';

const bad = (from: string, problem: string, more: object = {}): JournalRecord => ({
  ...{ kind: 'config-problem', source: 'file', from, problem, causes: [] },
  ...more,
});
const pod = { name: 'a', namespace: 'default', uid: 'u' };

it('counts what is refused until it is repaired, and names what has to be', async () => {
  const refused = refusedManifests();
  const registry = new Registry();
  registerRefusedManifests(registry, refused.count);
  refused.observe(bad('m/a.yaml', 'm/a.yaml:3:1: one'));
  refused.observe(bad('m/a.yaml', 'm/a.yaml:4:1: two', { continues: true }));
  refused.observe(bad('m/a.yaml', 'm/a.yaml: until this is repaired', { continues: true, keeps: [pod] }));
  refused.observe(bad('m/b.yaml', 'm/b.yaml:1:1: three'));
  expect(refused.count()).toBe(2);
  expect(refused.lines()).toEqual(['m/a.yaml:3:1: one', 'm/a.yaml:4:1: two', 'm/b.yaml:1:1: three']);
  expect(await registry.metrics()).toContain('\nrx_kubelet_refused_manifests 2\n');

  refused.observe({ kind: 'config-recovered', source: 'file', from: 'm/a.yaml', causes: [] });
  refused.observe(bad('m/b.yaml', 'm/b.yaml:9:9: another one'));
  expect(refused.lines()).toEqual(['m/b.yaml:9:9: another one']);
  refused.observe({ kind: 'config-recovered', source: 'file', from: 'm/b.yaml', causes: [] });
  expect(refused.count()).toBe(0);
});

it('reads the same from a journal, of the present run only', () => {
  const entries = [
    bad('m/a.yaml', 'of an earlier run'),
    { kind: 'agent-started', version: '1', node: 'n', causes: [] },
    bad('m/b.yaml', 'of this run'),
  ].map((record, index) => ({ ...record, id: `e${index}`, at: index }) as JournalEntry);
  expect(refusedIn(entries)).toEqual(['of this run']);
});

it('is shown by health, which does not fail by it', () => {
  const checks = { ping: () => undefined, manifests: () => new Remark('2 manifests are refused') };
  expect(allHealth(checks, new URLSearchParams())).toEqual({ status: 200, body: 'ok' });
  expect(allHealth(checks, new URLSearchParams('verbose')).body).toBe(
    '[+]ping ok\n[+]manifests ok: 2 manifests are refused\nhealthz check passed\n',
  );
  expect(oneHealth(checks.manifests)).toEqual({ status: 200, body: 'ok: 2 manifests are refused\n' });
});
