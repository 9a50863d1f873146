import { Registry } from 'prom-client';
import { expect, it } from 'vitest';
import { imageMetrics } from '../../../src/server/metrics/image-metrics.js';

const MB = 1024n ** 2n;
const GB = 1024n ** 3n;

it('has the duration of a pull by the class of the size of its image', async () => {
  const registry = new Registry();
  const { imagePulled } = imageMetrics(registry);
  for (const [bytes, label] of [
    [0n, 'N/A'],
    [1n, '0-10MB'],
    [10n * MB, '0-10MB'],
    [10n * MB + 1n, '10MB-100MB'],
    [101n * MB, '100MB-500MB'],
    [501n * MB, '500MB-1GB'],
    [2n * GB, '1GB-5GB'],
    [6n * GB, '5GB-10GB'],
    [11n * GB, '10GB-20GB'],
    [21n * GB, '20GB-30GB'],
    [31n * GB, '30GB-40GB'],
    [41n * GB, '40GB-60GB'],
    [61n * GB, '60GB-100GB'],
    [101n * GB, 'GT100GB'],
  ] as const) {
    registry.resetMetrics();
    imagePulled(7.5, bytes);
    const series = `kubelet_image_pull_duration_seconds_sum{image_size_in_bytes="${label}"} 7.5`;
    expect((await registry.metrics()).split('\n')).toContain(series);
  }
  const bounds = [...(await registry.metrics()).matchAll(/_bucket\{le="([^"]+)"/g)].map(([, bound]) => Number(bound));
  expect(bounds).toEqual([
    ...[1, 5, 10, 20, 30, 60, 120, 180, 240, 300, 360, 480, 600, 900, 1200, 1800, 2700, 3600],
    Number.NaN,
  ]);
});

it('has the decisions about images, with what is not known', async () => {
  const registry = new Registry();
  const { imageEnsured } = imageMetrics(registry);
  imageEnsured('IfNotPresent', true, false);
  imageEnsured('IfNotPresent', true, false);
  imageEnsured('Always', undefined, true);
  imageEnsured('Never', false);
  const name = 'kubelet_image_manager_ensure_image_requests_total';
  expect(
    (await registry.metrics()).split('\n').filter((line) => line.includes(name) && !line.includes('HELP')),
  ).toEqual([
    `# TYPE ${name} counter`,
    `${name}{pull_policy="ifnotpresent",present_locally="true",pull_required="false"} 2`,
    `${name}{pull_policy="always",present_locally="unknown",pull_required="true"} 1`,
    `${name}{pull_policy="never",present_locally="false",pull_required="unknown"} 1`,
  ]);
});

it('has the checks of the records of pulls, by their results', async () => {
  const registry = new Registry();
  const { imageAccessChecked } = imageMetrics(registry);
  for (const result of ['mustAuthenticate', 'error', 'mustAuthenticate'] as const) imageAccessChecked(result);
  const name = 'kubelet_imagemanager_image_mustpull_checks_total';
  const lines = (await registry.metrics()).split('\n').filter((line) => line.startsWith(name));
  expect(lines).toEqual([`${name}{result="mustAuthenticate"} 2`, `${name}{result="error"} 1`]);
});
