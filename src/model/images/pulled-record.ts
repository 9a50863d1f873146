import { nameWithoutTag } from './image-reference.js';

/** The secret by which an image was once pulled. */
export interface RecordedSecret {
  readonly uid: string;
  readonly namespace: string;
  readonly name: string;
  /** Of the credential in it; never the credential itself. */
  readonly credentialHash: string;
}

/** Who may have an image: all pods of the node, or those with one of the secrets. */
export interface RecordedAccess {
  readonly nodePodsAccessible?: boolean;
  readonly kubernetesSecrets?: readonly RecordedSecret[];
  /** Of an agent that pulls with tokens of service accounts; kept as it is. */
  readonly kubernetesServiceAccounts?: readonly object[];
}

/** What the agent remembers of an image that it has pulled, as the kubelet writes it. */
export interface PulledRecord {
  /** RFC 3339. */
  readonly lastUpdatedTime: string;
  /** As the runtime names the image. */
  readonly imageRef: string;
  /** By the name in the pod, without tag and digest. */
  readonly credentialMapping?: Readonly<Record<string, RecordedAccess>>;
}

/** Beyond so many secrets, those that are merely seen to be right are no longer written down. */
const REMEMBERED_WHEN_SEEN = 100;

export interface AccessVerdict {
  readonly isAllowed: boolean;
  /** To be added to the record, since it is right and not in it in this form. */
  readonly learned?: RecordedSecret;
}

/** What the record says before any secret of the pod is looked at; undefined when those decide. */
export const accessWithoutSecrets = (record: PulledRecord | undefined, image: string): boolean | undefined => {
  const access = record?.credentialMapping?.[nameWithoutTag(image)];
  if (access?.nodePodsAccessible) return true;
  return (access?.kubernetesSecrets ?? []).length > 0 ? undefined : false;
};

/**
 * Whether one of the pod's secrets opens an image that was pulled with secrets: the same credential, whatever secret it is
 * in; or the same secret, whatever is in it by now.
 *
 * Source: pkg/kubelet/images/pullmanager/image_pull_manager.go MustAttemptImagePull
 */
export const accessBySecrets = (
  record: PulledRecord,
  image: string,
  secrets: readonly RecordedSecret[],
): AccessVerdict => {
  const recorded = record.credentialMapping?.[nameWithoutTag(image)]?.kubernetesSecrets ?? [];
  const hasRoom = recorded.length < REMEMBERED_WHEN_SEEN;
  for (const secret of secrets) {
    for (const known of recorded) {
      const isSameSecret = sameSecret(known, secret);
      const isSameCredential = known.credentialHash !== '' && known.credentialHash === secret.credentialHash;
      if (isSameCredential) return { isAllowed: true, ...(!isSameSecret && hasRoom && { learned: secret }) };
      if (isSameSecret && hasRoom) return { isAllowed: true, learned: secret };
    }
  }
  return { isAllowed: false };
};

/**
 * The record after a pull at `now` (Unix milliseconds), or undefined if that changes nothing. Without `access` the image is
 * known to have been pulled, but not by what: everybody has to show that it may have it.
 *
 * Source: image_pull_manager.go writePulledRecordIfChanged, pulledRecordMergeNewCreds
 */
export const recordAfterPull = (
  record: PulledRecord | undefined,
  {
    image,
    imageRef,
    access,
    now,
  }: { readonly image: string; readonly imageRef: string; readonly access?: RecordedAccess; readonly now: number },
): PulledRecord | undefined => {
  const lastUpdatedTime = `${new Date(now).toISOString().slice(0, 19)}Z`;
  if (!access) return record ? undefined : { lastUpdatedTime, imageRef, credentialMapping: {} };
  const name = nameWithoutTag(image);
  const merged = mergeAccess(record?.credentialMapping?.[name], access);
  if (!merged) return undefined;
  return { lastUpdatedTime, imageRef, credentialMapping: { ...record?.credentialMapping, [name]: merged } };
};

const mergeAccess = (before: RecordedAccess | undefined, access: RecordedAccess): RecordedAccess | undefined => {
  if (!before) return access;
  if (before.nodePodsAccessible) return undefined;
  if (access.nodePodsAccessible) return { nodePodsAccessible: true };
  const secrets = before.kubernetesSecrets ?? [];
  const news = (access.kubernetesSecrets ?? []).filter(
    (secret) => !secrets.some((known) => sameSecret(known, secret) && known.credentialHash === secret.credentialHash),
  );
  if (news.length === 0) return undefined;
  const kept = secrets.filter((known) => !news.some((secret) => sameSecret(known, secret)));
  return { ...before, kubernetesSecrets: [...kept, ...news].sort(bySecret) };
};

const sameSecret = (a: RecordedSecret, b: RecordedSecret): boolean =>
  a.uid === b.uid && a.namespace === b.namespace && a.name === b.name;

const bySecret = (a: RecordedSecret, b: RecordedSecret): number => {
  for (const field of ['namespace', 'name', 'uid'] as const) {
    if (a[field] !== b[field]) return a[field] < b[field] ? -1 : 1;
  }
  return 0;
};
