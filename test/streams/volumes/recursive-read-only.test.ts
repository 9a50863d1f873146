import { expect, it } from 'vitest';
import type { RuntimeHandler } from '../../../src/generated/runtime/v1/api.js';
import { noMetrics } from '../../../src/streams/ports/metrics.js';
import { kubeletState } from '../../../src/streams/sync-loop/kubelet-state.js';
import { podVolumes } from '../../../src/streams/volumes/pod-volumes.js';
import { aPod } from '../../support/a-pod.js';
import { nodeFacts } from '../../support/node-facts.js';
import { noVolumeFiles } from '../../support/sync-context.js';
import { marbles } from '../../marbles/marbles.js';

const handler = (name: string, recursiveReadOnlyMounts: boolean): RuntimeHandler => ({
  name,
  features: { recursiveReadOnlyMounts, userNamespaces: false },
});

const nothing = (): void => undefined;

const container = {
  name: 'main',
  image: 'app:1',
  volumeMounts: [{ name: 'data', mountPath: '/data', readOnly: true, recursiveReadOnly: 'IfPossible' }],
};

it(
  'mounts are recursively read-only where the handler of the pod can make them, by the newest status of the runtime',
  marbles(({ scheduler, flush }) => {
    let handlers: readonly RuntimeHandler[] | undefined;
    const volumes = podVolumes({
      state: kubeletState(),
      volumeFiles: noVolumeFiles,
      node: nodeFacts,
      runtimeHandlers: () => handlers,
      runtimeClasses: (name) => (name === 'class-of-other' ? 'other' : undefined),
      record: () => '1',
      recordEvent: () => undefined,
      metrics: noMetrics,
      log: { debug: nothing, info: nothing, warn: nothing, error: nothing },
      scheduler,
    });
    const working = volumes.run$.subscribe();
    const seen: (boolean | undefined)[] = [];
    const look = (runtimeClassName?: string): void => {
      const pod = aPod({
        spec: {
          volumes: [{ name: 'data', emptyDir: {} }],
          containers: [container],
          ...(runtimeClassName !== undefined && { runtimeClassName }),
        },
      });
      volumes.mount(pod, []).subscribe();
      volumes
        .mountsOf(pod, container, { variable: () => undefined, images: new Map() })
        .subscribe(([mount]) => seen.push(mount?.recursiveReadOnly));
    };
    look();
    handlers = [handler('', true), handler('other', false)];
    look();
    look('class-of-other');
    look('class-of-none');
    handlers = [handler('', false), handler('other', true)];
    look();
    look('class-of-other');
    flush();
    working.unsubscribe();
    expect(seen).toEqual([false, true, false, false, false, true]);
  }),
);
