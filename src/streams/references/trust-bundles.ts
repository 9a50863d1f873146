import { Set as ImmutableSet } from 'immutable';
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
import {
  foldTrustBundles,
  type KnownTrustBundles,
  type TrustBundleEvent,
  trustBundleVersions,
} from '../../model/references/known-trust-bundles.js';
import type { ClusterTrustBundle } from '../../model/references/referenced-object.js';
import { refersToTrustBundles, type TrustBundle, trustBundleOf } from '../../model/references/trust-bundle.js';
import { type KeptList, keptListAfter } from '../../model/reflector/known-objects.js';
import type { ReferenceChange } from '../ports/pod-references.js';
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
  /** The UIDs of the registered pods that refer to bundles. */
  const users$ = new BehaviorSubject(ImmutableSet<string>());
  const known$ = new BehaviorSubject<KnownTrustBundles>({});

  const setUsers = (users: ImmutableSet<string>): void => {
    if (users.isEmpty() && !users$.value.isEmpty()) kept?.drop('', '');
    users$.next(users);
  };
  const take = (event: TrustBundleEvent): void => {
    const known = foldTrustBundles(known$.value, event);
    const objects = [...(known.bundles?.values() ?? [])].map(({ object }) => object);
    const list = event.kind === 'not-served' ? undefined : keptListAfter(event, objects);
    if (list) kept?.keep('', '', list);
    known$.next(known);
  };

  const keptBundles = (): readonly TrustBundle[] | undefined => kept?.get('', '')?.items.map(trustBundleOf);
  /** Errors: throws if the server has no bundles at all. */
  const found = ({ isServed, bundles, problem }: KnownTrustBundles): readonly TrustBundle[] | undefined => {
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
      const { uid } = pod.metadata;
      setUsers(refersToTrustBundles(pod) ? users$.value.add(uid) : users$.value.delete(uid));
    },
    unregister: ({ metadata: { uid } }) => setUsers(users$.value.delete(uid)),
    read: () =>
      known$.pipe(
        map(found),
        first((bundles) => bundles !== undefined),
        timeout({ first: BUNDLES_PATIENCE_MS, scheduler, with: () => defer(() => of(foundLate())) }),
      ),
    changed$: known$.pipe(
      distinctUntilChanged((before, known) => trustBundleVersions(before) === trustBundleVersions(known)),
      filter(({ bundles }) => bundles !== undefined),
      map(() => ({ kind: 'ClusterTrustBundles' })),
    ),
    run$: users$.pipe(
      map((users) => !users.isEmpty()),
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
