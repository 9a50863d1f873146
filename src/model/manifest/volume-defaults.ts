import type { V1Volume, V1VolumeProjection } from '@kubernetes/client-node';
import type { Json } from '../pod.js';
import { pullPolicyOf } from './pull-policy.js';

export type Volume = Json<V1Volume>;
type Projection = Json<V1VolumeProjection>;

const FILE_MODE = 0o644;

/**
 * A volume with what the API adds to it; one that names no source is an emptyDir.
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
    ...(iscsi && { iscsi: { iscsiInterface: 'default', ...iscsi } }),
    ...(rbd && { rbd: { pool: 'rbd', user: 'admin', keyring: '/etc/ceph/keyring', ...rbd } }),
    ...(azureDisk && {
      azureDisk: { cachingMode: 'ReadWrite', kind: 'Shared', fsType: 'ext4', readOnly: false, ...azureDisk },
    }),
    ...(scaleIO && { scaleIO: { storageMode: 'ThinProvisioned', fsType: 'xfs', ...scaleIO } }),
    ...(image && { image: { pullPolicy: pullPolicyOf(image.reference ?? ''), ...image } }),
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

/** A reference to a field of the pod reads it in version v1. */
export const withFieldVersion = <Item extends { readonly fieldRef?: { readonly fieldPath: string } }>(
  item: Item,
): Item => (item.fieldRef ? { ...item, fieldRef: { apiVersion: 'v1', ...item.fieldRef } } : item);
