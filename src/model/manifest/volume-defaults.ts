import type { V1Volume, V1VolumeProjection } from '@kubernetes/client-node';
import type { Json } from '../pod/pod.js';
import { pullPolicyOf } from './pull-policy.js';

export type Volume = Json<V1Volume>;

export type VolumesByName = ReadonlyMap<string, Volume>;
type Projection = Json<V1VolumeProjection>;

const FILE_MODE = 0o644;

/**
 * Returns a volume with the API's defaults; a volume without a source is an emptyDir.
 *
 * Source: pkg/apis/core/v1/defaults.go SetDefaults_Volume and those of the volume sources.
 */
export const withVolumeDefaults = (volume: Volume): Volume => {
  if (Object.keys(volume).every((field) => field === 'name')) return { ...volume, emptyDir: {} };
  const { secret, configMap, downwardAPI, projected, hostPath, iscsi, rbd, azureDisk, scaleIO, image, ephemeral } =
    volume;
  return {
    ...volume,
    ...(secret && { secret: { defaultMode: FILE_MODE, ...secret } }),
    ...(configMap && { configMap: { defaultMode: FILE_MODE, ...configMap } }),
    ...(downwardAPI && {
      downwardAPI: {
        defaultMode: FILE_MODE,
        ...downwardAPI,
        ...(downwardAPI.items && { items: downwardAPI.items.map(withFieldVersion) }),
      },
    }),
    ...(projected && {
      projected: {
        defaultMode: FILE_MODE,
        ...projected,
        ...(projected.sources && { sources: projected.sources.map(withProjectionDefaults) }),
      },
    }),
    ...(hostPath && { hostPath: { type: '', ...hostPath } }),
    ...(iscsi && { iscsi: { ...iscsi, iscsiInterface: iscsi.iscsiInterface || 'default' } }),
    ...(rbd && {
      rbd: { ...rbd, pool: rbd.pool || 'rbd', user: rbd.user || 'admin', keyring: rbd.keyring || '/etc/ceph/keyring' },
    }),
    ...(azureDisk && {
      azureDisk: { cachingMode: 'ReadWrite', kind: 'Shared', fsType: 'ext4', readOnly: false, ...azureDisk },
    }),
    ...(scaleIO && {
      scaleIO: { ...scaleIO, storageMode: scaleIO.storageMode || 'ThinProvisioned', fsType: scaleIO.fsType || 'xfs' },
    }),
    ...(image && { image: { ...image, pullPolicy: image.pullPolicy || imageVolumePolicy(image.reference) } }),
    ...(ephemeral?.volumeClaimTemplate && {
      ephemeral: {
        ...ephemeral,
        volumeClaimTemplate: {
          ...ephemeral.volumeClaimTemplate,
          spec: { volumeMode: 'Filesystem', ...ephemeral.volumeClaimTemplate.spec },
        },
      },
    }),
  };
};

/** A volume without a reference needs no new copy. */
const imageVolumePolicy = (reference = ''): string => (reference === '' ? 'IfNotPresent' : pullPolicyOf(reference));

const withProjectionDefaults = (projection: Projection): Projection => ({
  ...projection,
  ...(projection.serviceAccountToken && {
    serviceAccountToken: { expirationSeconds: 3600, ...projection.serviceAccountToken },
  }),
  ...(projection.podCertificate && {
    podCertificate: { maxExpirationSeconds: 86_400, ...projection.podCertificate },
  }),
  ...(projection.downwardAPI?.items && {
    downwardAPI: { ...projection.downwardAPI, items: projection.downwardAPI.items.map(withFieldVersion) },
  }),
});

/** A reference to a field of the pod reads the field in API version v1. */
export const withFieldVersion = <
  Item extends { readonly fieldRef?: { readonly apiVersion?: string; readonly fieldPath: string } },
>(
  item: Item,
): Item =>
  item.fieldRef ? { ...item, fieldRef: { ...item.fieldRef, apiVersion: item.fieldRef.apiVersion || 'v1' } } : item;
