import { describe, expect, it } from 'vitest';
import type { Metric, MetricDescriptor, PodSandboxMetrics } from '../../../src/generated/runtime/v1/api.js';
import { familyText } from '../../../src/model/stats/exposition.js';
import { metricsOfRuntime, runtimeMetrics } from '../../../src/model/stats/runtime-metrics.js';

const descriptor = (name: string, labelKeys: string[], help = `About ${name}.`): MetricDescriptor => ({
  name,
  help,
  labelKeys,
});
const metric = (name: string, value: number, labelValues: string[], over: Partial<Metric> = {}): Metric => ({
  ...{ name, labelValues, timestamp: 0n, metricType: 'COUNTER', value: { value: BigInt(value) } },
  ...over,
});
const pod = (metrics: Metric[], ...containers: Metric[][]): PodSandboxMetrics => ({
  podSandboxId: 's',
  metrics,
  containerMetrics: containers.map((own) => ({ containerId: 'c', metrics: own })),
});
const CPU = descriptor('container_cpu_usage_seconds_total', ['id', 'cpu']);
const MEMORY = descriptor('container_memory_usage_bytes', ['id']);

const textOf = (...pods: PodSandboxMetrics[]) => {
  const { families, problems } = runtimeMetrics([CPU, MEMORY], pods);
  return { text: families.map(familyText).join(''), problems };
};

describe('the metrics of a runtime', () => {
  it('are families in the order of their descriptors, of pods and containers together', () => {
    const memory = { metricType: 'GAUGE', timestamp: 1_700_000_000_123_456_789n } as const;
    const { text, problems } = textOf(
      pod([metric(MEMORY.name, 7, ['/a'], memory)], [metric(CPU.name, 3, ['/a/1', 'total'])]),
      pod([metric(MEMORY.name, 8, ['/b "x"'], memory)]),
    );
    expect(problems).toEqual([]);
    expect(text).toBe(
      [
        '# HELP container_cpu_usage_seconds_total About container_cpu_usage_seconds_total.',
        '# TYPE container_cpu_usage_seconds_total counter',
        'container_cpu_usage_seconds_total{id="/a/1",cpu="total"} 3',
        '# HELP container_memory_usage_bytes About container_memory_usage_bytes.',
        '# TYPE container_memory_usage_bytes gauge',
        'container_memory_usage_bytes{id="/a"} 7 1700000000123',
        String.raw`container_memory_usage_bytes{id="/b \"x\""} 8 1700000000123`,
        '',
      ].join('\n'),
    );
  });

  it.each<[why: string, bad: Metric, problem: string]>([
    ['without a descriptor', metric('other', 1, []), 'metric "other" of the runtime: it has no descriptor'],
    [
      'with a label too few',
      metric(CPU.name, 1, ['/']),
      `metric "${CPU.name}" of the runtime: it has 1 labels (expected 2)`,
    ],
    [
      'of a second type',
      metric(MEMORY.name, 1, ['/'], { metricType: 'GAUGE' }),
      `metric "${MEMORY.name}" of the runtime: it is a gauge (expected counter)`,
    ],
    [
      'with the labels of another one',
      metric(MEMORY.name, 1, ['/a']),
      `metric "${MEMORY.name}" of the runtime: its labels {id="/a"} are there twice`,
    ],
  ])('are left out where one is %s, and the others stay', (_, bad, problem) => {
    const { text, problems } = textOf(pod([metric(MEMORY.name, 5, ['/a'])], [bad, metric(MEMORY.name, 6, ['/b'])]));
    expect(problems).toEqual([problem]);
    expect(text.split('\n').filter((line) => !line.startsWith('#'))).toEqual([
      'container_memory_usage_bytes{id="/a"} 5',
      'container_memory_usage_bytes{id="/b"} 6',
      '',
    ]);
  });

  it('need names that Prometheus can read', () => {
    const names = [descriptor('a-b', []), descriptor('ab', ['c-d'])];
    const { families, problems } = runtimeMetrics(names, [
      pod([metric('a-b', 1, []), metric('a-b', 2, []), metric('ab', 1, ['x'])]),
    ]);
    expect(families).toEqual([]);
    expect(problems).toEqual([
      'metric "a-b" of the runtime: it has no valid name',
      'metric "ab" of the runtime: "c-d" is no name of a label',
    ]);
  });

  it('have help texts of one line, and a value of 0 where there is none', () => {
    const { families } = runtimeMetrics(
      [descriptor('a', [], 'one\\two\nthree')],
      [pod([metric('a', 0, [], { value: undefined })])],
    );
    expect(families.map(familyText)).toEqual(['# HELP a one\\\\two\\nthree\n# TYPE a counter\na 0\n']);
  });

  it('come with the machine, and with whether all of them could be read', () => {
    const errorOf = (problems: readonly string[]) =>
      [...metricsOfRuntime({ families: [], problems })].map(familyText).filter((text) => text.includes('container_'));
    expect(errorOf([])).toEqual([expect.stringContaining('container_scrape_error 0\n')]);
    expect(errorOf(['one'])).toEqual([expect.stringContaining('container_scrape_error 1\n')]);
  });
});
