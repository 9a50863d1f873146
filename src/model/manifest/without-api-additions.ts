import type { Json, Pod } from '../pod/pod.js';
import { type FieldIssue, type FieldPath, issue } from './field-issue.js';
import type { PodManifest } from './pod-manifest.js';

type Container = Json<Pod['spec']['containers'][number]>;

/** Where the API server mounts the token that it adds. Source: plugin/pkg/admission/serviceaccount/admission.go. */
const TOKEN_PATH = '/var/run/secrets/kubernetes.io/serviceaccount';
const TOKEN_VOLUME = /^kube-api-access-[a-z0-9]{5}$/;

/**
 * Returns a pod without the additions of the API server, so that the output of `kubectl get -o yaml` is a manifest: the
 * account `default`, and the volume with its token. A static pod has neither. An account or a token that a user chose
 * stays.
 */
export const withoutApiAdditions = (
  pod: PodManifest,
  path: FieldPath,
): { readonly pod: PodManifest; readonly warnings: readonly FieldIssue[] } => {
  const { serviceAccount, serviceAccountName, ...others } = pod.spec;
  const names = [serviceAccountName, serviceAccount].filter((name) => name !== undefined && name !== '');
  if (names.some((name) => name !== 'default')) return { pod, warnings: [] };
  const added = (pod.spec.volumes ?? []).findIndex(
    ({ name, projected }) => TOKEN_VOLUME.test(name) && projected !== undefined,
  );
  const volume = pod.spec.volumes?.[added];
  if (!volume) return { pod: { ...pod, spec: others }, warnings: [] };
  const withoutToken = (container: Container): Container => ({
    ...container,
    volumeMounts: (container.volumeMounts ?? []).filter(
      ({ name, mountPath }) => name !== volume.name || mountPath !== TOKEN_PATH,
    ),
  });
  const { containers, initContainers, volumes = [] } = others;
  const spec = {
    ...others,
    containers: containers.map(withoutToken),
    ...(initContainers && { initContainers: initContainers.map(withoutToken) }),
    volumes: volumes.filter((one) => one !== volume),
  };
  // A mount at another path means that the container needs the token.
  const isUsed = [...spec.containers, ...(spec.initContainers ?? [])].some(({ volumeMounts = [] }) =>
    volumeMounts.some(({ name }) => name === volume.name),
  );
  if (isUsed) return { pod, warnings: [] };
  const warning = issue(
    [...path, 'spec', 'volumes', added],
    'is left out: the API server added it, and a pod of a manifest has no token',
    'a pod that needs nothing of the API',
  );
  return { pod: { ...pod, spec }, warnings: [warning] };
};
