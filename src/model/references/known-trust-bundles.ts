import { OrderedMap } from 'immutable';
import type { ReflectorEvent } from '../reflector/reflector-event.js';
import type { ClusterTrustBundle } from './referenced-object.js';
import { type TrustBundle, trustBundleOf } from './trust-bundle.js';

/** `not-served`: the server has no trust bundles in any version. */
export type TrustBundleEvent = ReflectorEvent<ClusterTrustBundle> | { readonly kind: 'not-served' };

/** The trust bundles of the cluster, as far as they have been read. Without fields nothing is known. */
export interface KnownTrustBundles {
  /** By name; absent until the first list. */
  readonly bundles?: OrderedMap<string, KnownTrustBundle>;
  /** Absent until the server has answered. */
  readonly isServed?: boolean;
  /** The error of the running watch, until it recovers. */
  readonly problem?: unknown;
}

interface KnownTrustBundle {
  readonly object: ClusterTrustBundle;
  readonly bundle: TrustBundle;
}

/** Returns the known trust bundles after an event. */
export const foldTrustBundles = (known: KnownTrustBundles, event: TrustBundleEvent): KnownTrustBundles => {
  const { bundles = NO_BUNDLES } = known;
  switch (event.kind) {
    case 'not-served':
      return { isServed: false };
    case 'replaced':
      return { isServed: true, bundles: OrderedMap(event.objects.map(entryOf)) };
    case 'put':
      return { isServed: true, bundles: bundles.set(...entryOf(event.object)) };
    case 'deleted':
      return { isServed: true, bundles: bundles.delete(event.object.metadata.name ?? '') };
    case 'problem':
      return { ...known, problem: event.error };
    case 'recovered':
      return { ...known, problem: undefined };
  }
};

const NO_BUNDLES = OrderedMap<string, KnownTrustBundle>();

const entryOf = (object: ClusterTrustBundle): [string, KnownTrustBundle] => [
  object.metadata.name ?? '',
  { object, bundle: trustBundleOf(object) },
];

/** Returns a text that differs for other bundles, and for bundles that are not known. */
export const trustBundleVersions = ({ bundles }: KnownTrustBundles): string =>
  bundles
    ? JSON.stringify([...bundles.values()].map(({ object: { metadata } }) => [metadata.uid, metadata.resourceVersion]))
    : '';
