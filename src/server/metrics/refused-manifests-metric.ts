import { Gauge, type Registry } from 'prom-client';

/** The number of manifest files or URLs that cannot be used now. */
export const registerRefusedManifests = (registry: Registry, count: () => number): void => {
  new Gauge({
    name: 'rx_kubelet_refused_manifests',
    help: 'Files or URLs of manifests that cannot be used, until they are repaired.',
    registers: [registry],
    collect() {
      this.set(count());
    },
  });
};
