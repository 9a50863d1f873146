import type { V1VolumeProjection } from '@kubernetes/client-node';
import { errorText } from '../cri/cri-error.js';
import type { Volume } from '../manifest/volume-defaults.js';
import type { Json, Pod } from '../pod/pod.js';
import { throwAggregate } from './aggregate-error.js';
import { type DownwardFacts, downwardPayload } from './downward-payload.js';
import type { FoundObjects } from './found-objects.js';
import { fsUser } from './fs-group.js';
import { configMapPayload, secretPayload } from './keyed-payload.js';
import { cleanPayload } from './payload-path.js';
import { podCertificatePayload } from './pod-certificate-payload.js';
import { tokenPurpose } from './payload-needs.js';
import { type ReadOnce, readOnce } from './read-once.js';
import { trustAnchors } from './trust-anchors.js';
import type { VolumeFile, VolumePayload } from './volume-payload.js';

/**
 * Returns the files of a volume; undefined for a volume whose files the agent does not write.
 *
 * Errors: a missing object or key that is not optional, a field that cannot be read, an invalid path.
 * Source: `SetUpAt` in pkg/volume/configmap, secret, downwardapi and projected
 */
export const volumePayload = (
  pod: Pod,
  { configMap, secret, downwardAPI, projected }: Volume,
  found: FoundObjects,
  node: DownwardFacts,
): VolumePayload | undefined => {
  const once = readOnce();
  const files = (): VolumePayload | undefined => {
    if (configMap) {
      const { name = '', items, optional } = configMap;
      return configMapPayload({ name, items, optional }, modeOf(configMap), found, once);
    }
    if (secret) {
      const { secretName: name = '', items, optional } = secret;
      return secretPayload({ name, items, optional }, modeOf(secret), found, once);
    }
    if (downwardAPI) return downwardPayload(pod, downwardAPI.items, modeOf(downwardAPI), node, once);
    if (projected) return projectedPayload(pod, projected.sources ?? [], modeOf(projected), { found, node, once });
    return undefined;
  };
  const payload = files();
  return payload && cleanPayload(payload);
};

/** A volume gets the default of the API before it is set up. */
const modeOf = ({ defaultMode }: { readonly defaultMode?: number }): number => {
  if (defaultMode !== undefined) return defaultMode;
  throw new Error('no defaultMode used, not even the default value for it');
};

type Projection = Json<V1VolumeProjection>;

interface ProjectionInput {
  readonly found: FoundObjects;
  readonly node: DownwardFacts;
  readonly once: ReadOnce;
}

/**
 * Returns the files of all sources in order. A later file replaces an earlier one of the same path.
 *
 * Errors: those of all sources together. Source: pkg/volume/projected/projected.go collectData
 */
const projectedPayload = (
  pod: Pod,
  sources: readonly Projection[],
  mode: number,
  input: ProjectionInput,
): VolumePayload => {
  const keyed = sources.map((source) => [JSON.stringify(source), source] as const);
  const files = new Map<string, VolumeFile>();
  const errors = new Map(keyed.map(([key]) => [key, '']));
  // The last of equal sources replaces the files of the others.
  for (const [key, source] of [...new Map(keyed.toReversed())].reverse()) {
    try {
      for (const [path, file] of sourcePayload(pod, source, mode, input)) files.set(path, file);
    } catch (error) {
      errors.set(key, errorText(error));
    }
  }
  throwAggregate([...errors.values()].filter((text) => text !== ''));
  return files;
};

const sourcePayload = (
  pod: Pod,
  { secret, configMap, downwardAPI, serviceAccountToken, clusterTrustBundle, podCertificate }: Projection,
  mode: number,
  { found, node, once }: ProjectionInput,
): VolumePayload => {
  if (secret) return secretPayload({ ...secret, name: secret.name ?? '' }, mode, found, once);
  if (configMap) return configMapPayload({ ...configMap, name: configMap.name ?? '' }, mode, found, once);
  if (downwardAPI) return downwardPayload(pod, downwardAPI.items, mode, node, once);
  if (serviceAccountToken) {
    const token = found.token(tokenPurpose(pod, serviceAccountToken));
    if (token instanceof Error) throw token;
    return new Map([[serviceAccountToken.path, privateFile(pod, new Uint8Array(Buffer.from(token)), mode)]]);
  }
  if (clusterTrustBundle)
    return new Map([[clusterTrustBundle.path, privateFile(pod, trustAnchors(clusterTrustBundle, found), mode)]]);
  if (podCertificate)
    return podCertificatePayload(podCertificate, found.podCertificate(podCertificate), (text) =>
      privateFile(pod, new Uint8Array(Buffer.from(text)), mode),
    );
  return new Map();
};

/** The group of the pod may read the file too: the ownership of the volume adds its bits. */
const privateFile = (pod: Pod, data: Uint8Array, mode: number): VolumeFile => {
  const user = fsUser(pod);
  const isPrivate = user !== undefined || pod.spec.securityContext?.fsGroup !== undefined;
  return {
    data,
    mode: isPrivate ? 0o600 : mode,
    ...(user !== undefined && { user }),
  };
};
