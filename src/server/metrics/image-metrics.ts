import { Counter, Histogram, type Registry } from 'prom-client';
import type { Metrics } from '../../streams/ports/metrics.js';

const MB = 1024 ** 2;
const GB = 1024 ** 3;

/** A class has the images above its size; the last one that fits counts. Source: pkg/kubelet/metrics/metrics.go imageSizeBuckets */
const SIZES: readonly (readonly [above: number, label: string])[] = [
  [0, '0-10MB'],
  [10 * MB, '10MB-100MB'],
  [100 * MB, '100MB-500MB'],
  [500 * MB, '500MB-1GB'],
  [GB, '1GB-5GB'],
  [5 * GB, '5GB-10GB'],
  [10 * GB, '10GB-20GB'],
  [20 * GB, '20GB-30GB'],
  [30 * GB, '30GB-40GB'],
  [40 * GB, '40GB-60GB'],
  [60 * GB, '60GB-100GB'],
  [100 * GB, 'GT100GB'],
];

/** Source: pkg/kubelet/metrics/metrics.go GetImageSizeBucket */
const sizeClass = (bytes: bigint): string => SIZES.findLast(([above]) => bytes > above)?.[1] ?? 'N/A';

const known = (value: boolean | undefined): string => (value === undefined ? 'unknown' : String(value));

/** Source: pkg/kubelet/metrics/metrics.go ImagePullDuration, pkg/kubelet/images/metrics.go and pullmanager/metrics.go */
export const imageMetrics = (
  registry: Registry,
): Pick<Metrics, 'imageEnsured' | 'imageAccessChecked' | 'imagePulled'> => {
  const registers = [registry];
  const ensured = new Counter({
    name: 'kubelet_image_manager_ensure_image_requests_total',
    help: 'Decisions about the image of a container.',
    labelNames: ['pull_policy', 'present_locally', 'pull_required'],
    registers,
  });
  const pullSeconds = new Histogram({
    name: 'kubelet_image_pull_duration_seconds',
    help: 'Seconds of pulls that worked, with their waits.',
    labelNames: ['image_size_in_bytes'],
    buckets: [1, 5, 10, 20, 30, 60, 120, 180, 240, 300, 360, 480, 600, 900, 1200, 1800, 2700, 3600],
    registers,
  });
  const accessChecks = new Counter({
    name: 'kubelet_imagemanager_image_mustpull_checks_total',
    help: 'Checks of the records whether a pod may use a present image without a pull.',
    labelNames: ['result'],
    registers,
  });
  return {
    imageAccessChecked: (result) => accessChecks.inc({ result }),
    imageEnsured: (pullPolicy = '', isPresent, mustPull) =>
      ensured.inc({
        pull_policy: pullPolicy.toLowerCase(),
        present_locally: known(isPresent),
        pull_required: known(mustPull),
      }),
    imagePulled: (seconds, bytes) => pullSeconds.observe({ image_size_in_bytes: sizeClass(bytes) }, seconds),
  };
};
