import type { V1VolumeProjection } from '@kubernetes/client-node';
import type { Json, Pod } from '../pod.js';
import { type FieldIssue, type FieldPath, issue } from './field-issue.js';
import type { PodManifest } from './pod-manifest.js';
import type { Volume } from './volume-defaults.js';

export interface StaticPodRules {
  /** Gate PreventStaticPodAPIReferences. */
  readonly preventStaticPodApiReferences: boolean;
}

/**
 * What a pod of a file or URL must not name, since the API server may not know the pod: at most one issue, the first by
 * the order of the kubelet's checks.
 *
 * Source: pkg/kubelet/config/common.go, pkg/api/pod/util.go HasAPIObjectReference.
 */
export const staticPodRestrictions = (
  pod: PodManifest,
  path: FieldPath,
  { preventStaticPodApiReferences }: StaticPodRules,
): readonly FieldIssue[] => {
  const found = preventStaticPodApiReferences ? apiReferences(pod).next() : alwaysForbidden(pod).next();
  if (found.done) return [];
  const { at, what } = found.value;
  return [
    issue([...path, 'spec', ...at], `static pods may not reference ${what}`, 'a pod that needs nothing of the API'),
  ];
};

interface ApiReference {
  readonly at: FieldPath;
  readonly what: string;
}

function* alwaysForbidden({ spec }: PodManifest): Generator<ApiReference> {
  for (const [index, volume] of (spec.volumes ?? []).entries()) {
    for (const [item, projection] of (volume.projected?.sources ?? []).entries()) {
      const at = ['volumes', index, 'projected', 'sources', item, 'clusterTrustBundle'];
      if (projection.clusterTrustBundle) yield { at, what: 'clustertrustbundles' };
    }
  }
  if (spec.resourceClaims?.length) yield { at: ['resourceClaims'], what: 'resourceclaims' };
}

function* apiReferences(pod: PodManifest): Generator<ApiReference> {
  const { spec } = pod;
  if (spec.serviceAccountName) {
    yield { at: [spec.serviceAccount ? 'serviceAccount' : 'serviceAccountName'], what: 'serviceaccounts' };
  }
  yield* secretNames(pod);
  yield* configMapNames(pod);
  if (spec.resourceClaims?.length) yield { at: ['resourceClaims'], what: 'resourceclaims' };
  for (const [index, volume] of (spec.volumes ?? []).entries()) {
    for (const [at, what] of volumeReferences(volume)) yield { at: ['volumes', index, ...at], what };
  }
}

function* secretNames({ spec }: PodManifest): Generator<ApiReference> {
  const what = 'secrets';
  if (spec.imagePullSecrets?.some(({ name }) => name)) yield { at: ['imagePullSecrets'], what };
  for (const { at, container } of containersWithPaths(spec)) {
    for (const [index, { secretRef }] of (container.envFrom ?? []).entries()) {
      if (secretRef) yield { at: [...at, 'envFrom', index, 'secretRef'], what };
    }
    for (const [index, { valueFrom }] of (container.env ?? []).entries()) {
      if (valueFrom?.secretKeyRef) yield { at: [...at, 'env', index, 'valueFrom', 'secretKeyRef'], what };
    }
  }
  for (const [index, volume] of (spec.volumes ?? []).entries()) {
    const at: FieldPath = ['volumes', index];
    if (volume.secret?.secretName) yield { at: [...at, 'secret'], what };
    if (volume.azureFile?.secretName) yield { at: [...at, 'azureFile'], what };
    for (const kind of ['cephfs', 'flexVolume', 'rbd', 'scaleIO', 'iscsi', 'storageos', 'cinder'] as const) {
      if (volume[kind]?.secretRef?.name) yield { at: [...at, kind, 'secretRef'], what };
    }
    if (volume.csi?.nodePublishSecretRef?.name) yield { at: [...at, 'csi', 'nodePublishSecretRef'], what };
    for (const [item, { secret }] of (volume.projected?.sources ?? []).entries()) {
      if (secret?.name) yield { at: [...at, 'projected', 'sources', item, 'secret'], what };
    }
  }
}

function* configMapNames({ spec }: PodManifest): Generator<ApiReference> {
  const what = 'configmaps';
  for (const { at, container } of containersWithPaths(spec)) {
    for (const [index, { configMapRef }] of (container.envFrom ?? []).entries()) {
      if (configMapRef) yield { at: [...at, 'envFrom', index, 'configMapRef'], what };
    }
    for (const [index, { valueFrom }] of (container.env ?? []).entries()) {
      if (valueFrom?.configMapKeyRef) yield { at: [...at, 'env', index, 'valueFrom', 'configMapKeyRef'], what };
    }
  }
  for (const [index, volume] of (spec.volumes ?? []).entries()) {
    if (volume.configMap?.name) yield { at: ['volumes', index, 'configMap'], what };
    for (const [item, { configMap }] of (volume.projected?.sources ?? []).entries()) {
      if (configMap?.name) yield { at: ['volumes', index, 'projected', 'sources', item, 'configMap'], what };
    }
  }
}

function* volumeReferences(volume: Volume): Generator<readonly [FieldPath, string]> {
  if (volume.configMap) yield [['configMap'], 'configmaps (via configmap volumes)'];
  if (volume.secret) yield [['secret'], 'secrets (via secret volumes)'];
  if (volume.csi) yield [['csi'], 'csidrivers (via CSI volumes)'];
  if (volume.glusterfs) yield [['glusterfs'], 'endpoints (via glusterFS volumes)'];
  if (volume.persistentVolumeClaim) yield [['persistentVolumeClaim'], 'persistentvolumeclaims'];
  if (volume.ephemeral) yield [['ephemeral'], 'persistentvolumeclaims (via ephemeral volumes)'];
  if (volume.azureFile) yield [['azureFile'], 'secrets (via azureFile volumes)'];
  for (const [item, projection] of (volume.projected?.sources ?? []).entries()) {
    for (const kind of Object.keys(PROJECTIONS) as (keyof typeof PROJECTIONS)[]) {
      if (projection[kind]) yield [['projected', 'sources', item, kind], PROJECTIONS[kind]];
    }
  }
}

const PROJECTIONS = {
  configMap: 'configmaps (via projected volumes)',
  secret: 'secrets (via projected volumes)',
  serviceAccountToken: 'serviceaccounts (via projected volumes)',
  clusterTrustBundle: 'clustertrustbundles',
  podCertificate: 'podcertificates',
} satisfies Partial<Record<keyof V1VolumeProjection, string>>;

export const containersWithPaths = (
  spec: PodManifest['spec'],
): readonly { readonly at: FieldPath; readonly container: Json<Pod['spec']['containers'][number]> }[] => [
  ...(spec.initContainers ?? []).map((container, index) => ({ at: ['initContainers', index] as const, container })),
  ...spec.containers.map((container, index) => ({ at: ['containers', index] as const, container })),
];
