import type { V1VolumeProjection } from '@kubernetes/client-node';
import type { Json, Pod } from '../pod/pod.js';
import { type FieldIssue, type FieldPath, issue } from './field-issue.js';
import type { PodManifest } from './pod-manifest.js';
import type { Volume } from './volume-defaults.js';

export interface StaticPodRules {
  /** The node has an API server. Without one, pods of manifests may refer to ConfigMaps and Secrets of manifests. */
  readonly hasApiServer: boolean;
  /** False for a reader of manifests that are no static pods. Agents always prevent them: the gate of that name is gone in Kubernetes 1.37. */
  readonly preventStaticPodApiReferences: boolean;
}

/**
 * Returns the first field of a file's or URL's pod that must not be set: since the API server may not know the pod, or
 * since there is no API server to provide the object. The order is that of the kubelet's checks.
 *
 * Source: pkg/kubelet/config/common.go, pkg/api/pod/util.go HasAPIObjectReference.
 */
export const staticPodRestrictions = (
  pod: PodManifest,
  path: FieldPath,
  { hasApiServer, preventStaticPodApiReferences }: StaticPodRules,
): readonly FieldIssue[] => {
  const all = preventStaticPodApiReferences ? apiReferences(pod) : alwaysForbidden(pod);
  for (const { at, what, isInManifests } of all) {
    if (isInManifests && !hasApiServer) continue;
    const message = `static pods may not reference ${what}`;
    const field = [...path, 'spec', ...at];
    if (hasApiServer) return [issue(field, message, 'a pod that needs nothing of the API')];
    return [
      issue(
        field,
        `${message}: ${REASONS[what] ?? 'only an API server has them'}`,
        'a pod that needs ConfigMaps and Secrets at most',
      ),
    ];
  }
  return [];
};

interface ApiReference {
  readonly at: FieldPath;
  readonly what: string;
  /** On a node without an API server, a document beside the pod is the object. */
  readonly isInManifests?: boolean;
}

/** The reasons why a node without an API server does not have the objects. */
const REASONS: Readonly<Record<string, string>> = {
  serviceaccounts: 'only an API server has service accounts',
  secrets:
    'a Secret of a manifest is for variables, for image pulls, and for volumes of the kinds secret and projected',
  resourceclaims: 'only an API server has resource claims',
  'csidrivers (via CSI volumes)': 'only an API server has CSI drivers',
  'endpoints (via glusterFS volumes)': 'only an API server has endpoints',
  persistentvolumeclaims: 'only an API server has claims',
  'persistentvolumeclaims (via ephemeral volumes)': 'only an API server has claims',
  'serviceaccounts (via projected volumes)': 'only an API server issues the tokens of service accounts',
  clustertrustbundles: 'only an API server has trust bundles',
  podcertificates: 'only an API server issues certificates',
};

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
    for (const [at, what, isInManifests] of volumeReferences(volume))
      yield { at: ['volumes', index, ...at], what, ...(isInManifests && { isInManifests }) };
  }
}

function* secretNames({ spec }: PodManifest): Generator<ApiReference> {
  const what = 'secrets';
  const isInManifests = true;
  if (spec.imagePullSecrets?.some(({ name }) => name)) yield { at: ['imagePullSecrets'], what, isInManifests };
  for (const { at, container } of containersWithPaths(spec)) {
    for (const [index, { secretRef }] of (container.envFrom ?? []).entries()) {
      if (secretRef) yield { at: [...at, 'envFrom', index, 'secretRef'], what, isInManifests };
    }
    for (const [index, { valueFrom }] of (container.env ?? []).entries()) {
      if (valueFrom?.secretKeyRef)
        yield { at: [...at, 'env', index, 'valueFrom', 'secretKeyRef'], what, isInManifests };
    }
  }
  for (const [index, volume] of (spec.volumes ?? []).entries()) {
    const at: FieldPath = ['volumes', index];
    if (volume.secret?.secretName) yield { at: [...at, 'secret'], what, isInManifests };
    if (volume.azureFile?.secretName) yield { at: [...at, 'azureFile'], what };
    for (const kind of ['cephfs', 'flexVolume', 'rbd', 'scaleIO', 'iscsi', 'storageos', 'cinder'] as const) {
      if (volume[kind]?.secretRef?.name) yield { at: [...at, kind, 'secretRef'], what };
    }
    if (volume.csi?.nodePublishSecretRef?.name) yield { at: [...at, 'csi', 'nodePublishSecretRef'], what };
    for (const [item, { secret }] of (volume.projected?.sources ?? []).entries()) {
      if (secret?.name) yield { at: [...at, 'projected', 'sources', item, 'secret'], what, isInManifests };
    }
  }
}

function* configMapNames({ spec }: PodManifest): Generator<ApiReference> {
  const what = 'configmaps';
  const isInManifests = true;
  for (const { at, container } of containersWithPaths(spec)) {
    for (const [index, { configMapRef }] of (container.envFrom ?? []).entries()) {
      if (configMapRef) yield { at: [...at, 'envFrom', index, 'configMapRef'], what, isInManifests };
    }
    for (const [index, { valueFrom }] of (container.env ?? []).entries()) {
      if (valueFrom?.configMapKeyRef)
        yield { at: [...at, 'env', index, 'valueFrom', 'configMapKeyRef'], what, isInManifests };
    }
  }
  for (const [index, volume] of (spec.volumes ?? []).entries()) {
    if (volume.configMap?.name) yield { at: ['volumes', index, 'configMap'], what, isInManifests };
    for (const [item, { configMap }] of (volume.projected?.sources ?? []).entries()) {
      if (configMap?.name)
        yield { at: ['volumes', index, 'projected', 'sources', item, 'configMap'], what, isInManifests };
    }
  }
}

function* volumeReferences(volume: Volume): Generator<readonly [at: FieldPath, what: string, isInManifests?: boolean]> {
  if (volume.configMap) yield [['configMap'], 'configmaps (via configmap volumes)', true];
  if (volume.secret) yield [['secret'], 'secrets (via secret volumes)', true];
  if (volume.csi) yield [['csi'], 'csidrivers (via CSI volumes)'];
  if (volume.glusterfs) yield [['glusterfs'], 'endpoints (via glusterFS volumes)'];
  if (volume.persistentVolumeClaim) yield [['persistentVolumeClaim'], 'persistentvolumeclaims'];
  if (volume.ephemeral) yield [['ephemeral'], 'persistentvolumeclaims (via ephemeral volumes)'];
  if (volume.azureFile) yield [['azureFile'], 'secrets (via azureFile volumes)'];
  for (const [item, projection] of (volume.projected?.sources ?? []).entries()) {
    for (const kind of Object.keys(PROJECTIONS) as (keyof typeof PROJECTIONS)[]) {
      const isInManifests = kind === 'configMap' || kind === 'secret';
      if (projection[kind]) yield [['projected', 'sources', item, kind], PROJECTIONS[kind], isInManifests];
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
