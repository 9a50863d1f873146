import { defer, ignoreElements, merge, type Observable, tap } from 'rxjs';
import type { TestScheduler } from 'rxjs/testing';
import type { Pod, PodStatus } from '../../../src/model/pod/pod.js';
import { type KubeletState, kubeletState } from '../../../src/streams/sync-loop/kubelet-state.js';
import { statusManager } from '../../../src/streams/status/status-manager.js';
import { aPod } from '../../support/a-pod.js';
import { fakePodApi, type FakePodApi, type FakePodApiOptions } from '../../support/fake-pod-api.js';
import { metricLines } from '../../support/metric-lines.js';

export interface Stage extends FakePodApi {
  readonly state: KubeletState;
  readonly logged: string[];
  readonly observed: string[];
  readonly written: string[];
  /** The watch brings what the API has of the pod. */
  readonly echo: (name: string) => void;
  /** What is asked of the API while `happens$` happens. */
  readonly during: (happens$: Observable<() => void>) => Observable<string>;
}

export const stageOf = (
  scheduler: TestScheduler,
  options: Partial<FakePodApiOptions> & { readonly couldRun?: () => boolean } = {},
): Stage => {
  const fake = fakePodApi({ scheduler, ...options });
  const state = kubeletState();
  const { metrics, lines: observed } = metricLines();
  const logged: string[] = [];
  const written: string[] = [];
  const level = (name: string) => (_fields: object, message: string) => void logged.push(`${name} ${message}`);
  const manager = statusManager({
    api: fake.api,
    state: { ...state, workers: { couldHaveRunningContainers: options.couldRun ?? (() => false) } },
    written: ({ metadata, status }) => written.push(`${metadata.name} ${status?.phase}`),
    metrics,
    log: { debug: () => undefined, info: level('info'), warn: level('warn'), error: level('error') },
    scheduler,
    wallClock: () => scheduler.now(),
  });
  const echo = (name: string): void => {
    const pod = fake.pod(name);
    if (!pod) return;
    state.apply({ kind: 'pod-set', pod });
    const { pod: resolved } = state.pods.resolve(pod);
    if (resolved) state.apply({ kind: 'api-object-changed', uid: resolved.metadata.uid });
  };
  return {
    ...{ ...fake, state, logged, observed, written, echo },
    during: (happens$) =>
      defer(() =>
        merge(
          fake.request$,
          manager.run$,
          happens$.pipe(
            tap((happen) => happen()),
            ignoreElements(),
          ),
        ),
      ),
  };
};

export const podOf = (name: string, sketch: object = {}): Pod =>
  aPod({ uid: `uid-${name}`, name, source: 'api', ...sketch });

/** A pod that the API has and that the watch has shown. */
export const added = (stage: Stage, pod: Pod): void => {
  stage.write(pod);
  stage.echo(pod.metadata.name);
};

export const status = (phase: string, more: Partial<PodStatus> = {}): PodStatus => ({
  phase,
  startTime: 'then',
  ...more,
});
export const says =
  (stage: Stage, name: string, phase: string, more: Partial<PodStatus> = {}): (() => void) =>
  () =>
    void stage.state.apply({ kind: 'status', uid: `uid-${name}`, status: status(phase, more) });
