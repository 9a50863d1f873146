import { Gauge, type Registry } from 'prom-client';

/** The numbers of records of image pulls on the disk. */
export interface PullRecordNumbers {
  readonly intents: number;
  readonly pulled: number;
}

/**
 * The records of image pulls, counted at each scrape. A number that cannot be counted has no series. The kubelet counts after each change of
 * its own, so that it has 0 until the first one of its life.
 *
 * Source: pkg/kubelet/images/pullmanager/metrics.go
 */
export const registerPullRecords = (registry: Registry, count: () => Promise<PullRecordNumbers>): void => {
  const gauge = (name: string, help: string, valueOf: (numbers: PullRecordNumbers) => number): void => {
    new Gauge({
      name,
      help,
      registers: [registry],
      async collect() {
        const numbers = await count().catch(() => undefined);
        if (numbers) this.set(valueOf(numbers));
        else this.remove();
      },
    });
  };
  gauge('kubelet_imagemanager_ondisk_pullintents', 'Image pulls that have begun.', ({ intents }) => intents);
  gauge(
    'kubelet_imagemanager_ondisk_pulledrecords',
    'Images with a record of who may use them.',
    ({ pulled }) => pulled,
  );
};
