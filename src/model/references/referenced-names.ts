import { type Container, containersOf, type EphemeralContainer, type Pod } from '../pod/pod.js';

type AnyContainer = Container | EphemeralContainer;

/**
 * Returns the names of the ConfigMaps that the spec of a pod refers to, each once. Indirect references, such as those
 * of a volume claim, are not included.
 *
 * Source: pkg/api/v1/pod/util.go VisitPodConfigmapNames
 */
export const configMapNames = (pod: Pod): ReadonlySet<string> =>
  named([
    ...containersOf(pod).flatMap(({ container }) => [...configMapNamesInEnv(container)]),
    ...(pod.spec.volumes ?? []).flatMap(({ configMap, projected }) => [
      configMap?.name,
      ...(projected?.sources ?? []).map((source) => source.configMap?.name),
    ]),
  ]);

/**
 * Returns the names of the Secrets, including those for image pulls.
 *
 * Source: pkg/api/v1/pod/util.go VisitPodSecretNames
 */
export const secretNames = (pod: Pod): ReadonlySet<string> =>
  named([
    ...(pod.spec.imagePullSecrets ?? []).map(({ name }) => name),
    ...containersOf(pod).flatMap(({ container }) => [...secretNamesInEnv(container)]),
    ...(pod.spec.volumes ?? []).flatMap((volume) => [
      volume.secret?.secretName,
      volume.azureFile?.secretName,
      volume.cephfs?.secretRef?.name,
      volume.cinder?.secretRef?.name,
      volume.flexVolume?.secretRef?.name,
      volume.rbd?.secretRef?.name,
      volume.scaleIO?.secretRef?.name,
      volume.iscsi?.secretRef?.name,
      volume.storageos?.secretRef?.name,
      volume.csi?.nodePublishSecretRef?.name,
      ...(volume.projected?.sources ?? []).map(({ secret }) => secret?.name),
    ]),
  ]);

/** Returns the names of the ConfigMaps in the environment of a container. */
export const configMapNamesInEnv = ({ env = [], envFrom = [] }: AnyContainer): ReadonlySet<string> =>
  named([
    ...envFrom.map(({ configMapRef }) => configMapRef?.name),
    ...env.map(({ valueFrom }) => valueFrom?.configMapKeyRef?.name),
  ]);

/** Returns the names of the Secrets in the environment of a container. */
export const secretNamesInEnv = ({ env = [], envFrom = [] }: AnyContainer): ReadonlySet<string> =>
  named([
    ...envFrom.map(({ secretRef }) => secretRef?.name),
    ...env.map(({ valueFrom }) => valueFrom?.secretKeyRef?.name),
  ]);

/** Old pods may have empty names, which refer to nothing. */
const named = (names: readonly (string | undefined)[]): ReadonlySet<string> =>
  new Set(names.filter((name): name is string => name !== undefined && name !== ''));
