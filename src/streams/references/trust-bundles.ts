import {
  BehaviorSubject,
  defer,
  distinctUntilChanged,
  EMPTY,
  filter,
  finalize,
  first,
  ignoreElements,
  map,
  type Observable,
  of,
  type SchedulerLike,
  switchMap,
  tap,
  timeout,
} from 'rxjs';
import { errorText } from '../../model/cri/cri-error.js';
import { isServerAway } from '../../model/kube-api/server-away.js';
import type { Pod } from '../../model/pod/pod.js';
import type { ClusterTrustBundle } from '../../model/references/referenced-object.js';
import { refersToTrustBundles, type TrustBundle, trustBundleOf } from '../../model/references/trust-bundle.js';
import type { ReferenceChange } from '../ports/pod-references.js';
import type { KeptList } from '../../model/reflector/known-objects.js';
import type { TrustBundleEvent } from './follow-trust-bundles.js';
import type { KeptObjects } from './kept-objects.js';

/** The time that a read waits for the first list of the server, in milliseconds. */
export const BUNDLES_PATIENCE_MS = 10_000;

/** The trust bundles of the cluster, watched while a registered pod refers to any. */
export interface TrustBundles {
  /** Notes whether the pod refers to trust bundles; called in every sync. */
  readonly register: (pod: Pod) => void;
  readonly unregister: (pod: Pod) => void;
  /** See `PodReferences`. */
  readonly read: () => Observable<readonly TrustBundle[]>;
  /** Emits when a bundle has changed, and when the bundles become known. Never errors or ends. */
  readonly changed$: Observable<ReferenceChange>;
  /** Emits nothing and never ends. Errors: none. */
  readonly run$: Observable<never>;
}

/**
 * Holds the trust bundles of the cluster from the first pod that refers to one to the last. A read waits for the first list; while the
 * server is away, it then emits the last known bundles.
 *
 * Source: pkg/kubelet/clustertrustbundle/clustertrustbundle_manager.go, which watches on after the last pod
 */
export const trustBundles = (
  event$: Observable<TrustBundleEvent>,
  /** Keeps the bundles for a later start while the server is away. Default: none are kept. */
  kept: KeptObjects<KeptList<ClusterTrustBundle>> | undefined,
  scheduler: SchedulerLike,
): TrustBundles => {
  /** The UIDs of the pods. */
  const users = new Set<string>();
  const isNeeded$ = new BehaviorSubject(false);
  const known$ = new BehaviorSubject<Known>({});

  const count = (): void => {
    const isNeeded = users.size > 0;
    if (!isNeeded && isNeeded$.value) kept?.drop('', '');
    isNeeded$.next(isNeeded);
  };
  const keep = ({ bundles }: Known, resourceVersion: string | undefined): void => {
    const items = [...(bundles?.values() ?? [])].map(({ object }) => object);
    kept?.keep('', '', { metadata: { ...(resourceVersion !== undefined && { resourceVersion }) }, items });
  };
  const take = (event: TrustBundleEvent): void => {
    const known = foldTrustBundles(known$.value, event);
    if (event.kind === 'replaced') keep(known, event.resourceVersion);
    if (event.kind === 'put' || event.kind === 'deleted') keep(known, event.object.metadata.resourceVersion);
    known$.next(known);
  };

  const keptBundles = (): readonly TrustBundle[] | undefined => kept?.get('', '')?.items.map(trustBundleOf);
  /** Errors: throws if the server has no bundles at all. */
  const found = ({ isServed, bundles, problem }: Known): readonly TrustBundle[] | undefined => {
    if (isServed === false) throw new Error(NOT_SERVED);
    if (bundles) return [...bundles.values()].map(({ bundle }) => bundle);
    return isServerAway(problem) ? keptBundles() : undefined;
  };
  /** Errors: throws if nothing is known, or if the server has refused. */
  const foundLate = (): readonly TrustBundle[] => {
    const { problem } = known$.value;
    const before = problem === undefined ? keptBundles() : undefined;
    if (before) return before;
    const why = problem === undefined ? '' : `: ${errorText(problem)}`;
    throw new Error(`ClusterTrustBundle informer has not yet synced${why}`);
  };

  return {
    register: (pod) => {
      if (refersToTrustBundles(pod)) users.add(pod.metadata.uid);
      else users.delete(pod.metadata.uid);
      count();
    },
    unregister: ({ metadata: { uid } }) => {
      users.delete(uid);
      count();
    },
    read: () =>
      known$.pipe(
        map(found),
        first((bundles) => bundles !== undefined),
        timeout({ first: BUNDLES_PATIENCE_MS, scheduler, with: () => defer(() => of(foundLate())) }),
      ),
    changed$: known$.pipe(
      distinctUntilChanged((before, known) => versionsOf(before) === versionsOf(known)),
      filter(({ bundles }) => bundles !== undefined),
      map(() => ({ kind: 'ClusterTrustBundles' })),
    ),
    run$: isNeeded$.pipe(
      distinctUntilChanged(),
      switchMap((isNeeded) =>
        isNeeded
          ? event$.pipe(
              tap(take),
              finalize(() => known$.next({})),
            )
          : EMPTY,
      ),
      ignoreElements(),
    ),
  };
};

const NOT_SERVED =
  'ClusterTrustBundle projection is not supported: the API server has no clustertrustbundles.certificates.k8s.io in a version that this agent reads (v1, v1beta1, v1alpha1)';

interface Known {
  /** By name; absent until the first list. */
  readonly bundles?: ReadonlyMap<string, KnownBundle>;
  /** Absent until the server has answered. */
  readonly isServed?: boolean;
  /** The error of the running watch, until it recovers. */
  readonly problem?: unknown;
}

interface KnownBundle {
  readonly object: ClusterTrustBundle;
  readonly bundle: TrustBundle;
}

const foldTrustBundles = (before: Known, event: TrustBundleEvent): Known => {
  switch (event.kind) {
    case 'not-served':
      return { isServed: false };
    case 'replaced':
      return { isServed: true, bundles: new Map(event.objects.map(entryOf)) };
    case 'put':
      return { isServed: true, bundles: new Map([...(before.bundles ?? []), entryOf(event.object)]) };
    case 'deleted':
      return {
        isServed: true,
        bundles: new Map([...(before.bundles ?? [])].filter(([name]) => name !== event.object.metadata.name)),
      };
    case 'problem':
      return { ...before, problem: event.error };
    case 'recovered':
      return { ...before, problem: undefined };
  }
};

const entryOf = (object: ClusterTrustBundle): readonly [string, KnownBundle] => [
  object.metadata.name ?? '',
  { object, bundle: trustBundleOf(object) },
];

/** A text that differs for other bundles, and for bundles that are not known. */
const versionsOf = ({ bundles }: Known): string =>
  bundles
    ? JSON.stringify([...bundles.values()].map(({ object: { metadata } }) => [metadata.uid, metadata.resourceVersion]))
    : '';
