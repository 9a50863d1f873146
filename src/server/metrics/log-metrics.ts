import { Gauge, type Registry } from 'prom-client';
import { firstValueFrom, type Observable } from 'rxjs';
import type { LogSize } from '../../model/stats/log-size.js';

/**
 * The sizes of the logs of running containers, read at each scrape. `size$` emits once and has no errors.
 *
 * Source: pkg/kubelet/metrics/collectors/log_metrics.go
 */
export const registerLogSizes = (registry: Registry, size$: Observable<readonly LogSize[]>): void => {
  new Gauge({
    name: 'kubelet_container_log_filesystem_used_bytes',
    help: 'Bytes of the logs of a running container on their file system.',
    labelNames: ['uid', 'namespace', 'pod', 'container'],
    registers: [registry],
    async collect() {
      const sizes = await firstValueFrom(size$);
      // Scrapes overlap, so nothing is awaited between these.
      this.reset();
      for (const { pod, container, usedBytes } of sizes) {
        this.set({ uid: pod.uid, namespace: pod.namespace, pod: pod.name, container }, usedBytes);
      }
    },
  });
};
