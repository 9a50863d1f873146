/** A field of a newer release of the API than that of the schema table. */
export interface NewerField {
  /** The minor release of Kubernetes that has brought it. */
  readonly since: string;
  /** The alpha gate without which a kubelet ignores it. */
  readonly gate: string;
  /** The value that asks for what the agent does anyway; any other value is refused while the gate is off. */
  readonly usual?: string | number;
  /** The code of the field in the schema table, if the agent follows it while the gate is on. */
  readonly code?: string;
}

const USER: NewerField = { since: '1.37', gate: 'AtomicWriteVolumeUserFields' };

/** By type and field. `evictionResponders` of a pod is not here: no kubelet reads it. */
const NEWER_FIELDS: Readonly<Record<string, Readonly<Record<string, NewerField>>>> = {
  VolumeMount: { bindMountOptions: { since: '1.37', gate: 'VolumeBindMountOptions' } },
  EmptyDirVolumeSource: { mode: { since: '1.37', gate: 'EmptyDirVolumeMode', usual: 0o777 } },
  HTTPGetAction: { protocol: { since: '1.37', gate: 'H2CContainerProbe', usual: 'HTTP1', code: 's' } },
  GRPCAction: { mode: { since: '1.37', gate: 'GRPCContainerProbeTLS', usual: 'Plaintext', code: 's' } },
  ConfigMapVolumeSource: { defaultUser: USER },
  SecretVolumeSource: { defaultUser: USER },
  DownwardAPIVolumeSource: { defaultUser: USER },
  ProjectedVolumeSource: { defaultUser: USER },
  KeyToPath: { user: USER },
  DownwardAPIVolumeFile: { user: USER },
  ServiceAccountTokenProjection: { user: USER },
  ClusterTrustBundleProjection: { user: USER },
  PodCertificateProjection: { user: USER },
};

/** Fields of newer releases that a kubelet ignores: they are for controllers. */
const IGNORED_FIELDS: Readonly<Record<string, readonly string[]>> = { PodSpec: ['evictionResponders'] };

export const newerFieldOf = (type: string, name: string): NewerField | undefined => {
  const fields = Object.hasOwn(NEWER_FIELDS, type) ? NEWER_FIELDS[type] : undefined;
  return fields && Object.hasOwn(fields, name) ? fields[name] : undefined;
};

export const isIgnoredField = (type: string, name: string): boolean =>
  (Object.hasOwn(IGNORED_FIELDS, type) ? IGNORED_FIELDS[type] : undefined)?.includes(name) ?? false;
