import { Registry } from 'prom-client';
import { defer, of, Subject, take } from 'rxjs';
import { expect, it } from 'vitest';
import type { LogSize } from '../../../src/model/stats/log-size.js';
import { registerLogSizes } from '../../../src/server/metrics/log-metrics.js';

const NAME = 'kubelet_container_log_filesystem_used_bytes';
const pod = { uid: 'u1', namespace: 'default', name: 'web' };
const linesIn = (text: string): readonly string[] =>
  text.split('\n').filter((line) => line.includes(NAME) && !line.startsWith('# HELP'));

it('has the size of the logs of each container that runs at the scrape', async () => {
  const registry = new Registry();
  const samples: LogSize[][] = [
    [
      { pod, container: 'main', usedBytes: 4_096 },
      { pod, container: 'side', usedBytes: 0 },
    ],
    [{ pod, container: 'main', usedBytes: 8_192 }],
    [],
  ];
  registerLogSizes(
    registry,
    defer(() => of(samples.shift() ?? [])),
  );
  const labels = (container: string) => `{uid="u1",namespace="default",pod="web",container="${container}"}`;
  expect(linesIn(await registry.metrics())).toEqual([
    `# TYPE ${NAME} gauge`,
    `${NAME}${labels('main')} 4096`,
    `${NAME}${labels('side')} 0`,
  ]);
  expect(linesIn(await registry.metrics())).toEqual([`# TYPE ${NAME} gauge`, `${NAME}${labels('main')} 8192`]);
  expect(linesIn(await registry.metrics())).toEqual([`# TYPE ${NAME} gauge`]);
});

it('reads nothing without a scrape, and serves whole samples to scrapes that overlap', async () => {
  const registry = new Registry();
  const sample$ = new Subject<readonly LogSize[]>();
  let reads = 0;
  registerLogSizes(
    registry,
    defer(() => {
      reads += 1;
      return sample$.pipe(take(1));
    }),
  );
  await Promise.resolve();
  expect(reads).toBe(0);
  const scrapes = Promise.all([registry.metrics(), registry.metrics()]);
  expect(reads).toBe(2);
  sample$.next([{ pod, container: 'main', usedBytes: 1 }]);
  for (const text of await scrapes) expect(linesIn(text)).toHaveLength(2);
});
