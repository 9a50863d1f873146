import { nameWithoutTag } from './image-reference.js';

/** The secret with which an image was pulled once. */
export interface RecordedSecret {
  readonly uid: string;
  readonly namespace: string;
  readonly name: string;
  /** The hash of its credential; never the credential itself. */
  readonly credentialHash: string;
}

/** The pods that may use an image: all pods of the node, or those with one of the secrets. */
export interface RecordedAccess {
  readonly nodePodsAccessible?: boolean;
  readonly kubernetesSecrets?: readonly RecordedSecret[];
  /** Written by an agent that pulls with tokens of service accounts; kept unchanged. */
  readonly kubernetesServiceAccounts?: readonly object[];
}

/** The record of an image that the agent has pulled, in the kubelet's format. */
export interface PulledRecord {
  /** RFC 3339. */
  readonly lastUpdatedTime: string;
  /** The runtime's reference of the image. */
  readonly imageRef: string;
  /** By the name in the pod, without tag and digest. */
  readonly credentialMapping?: Readonly<Record<string, RecordedAccess>>;
}

/** The most secrets of a record: beyond it, a verified secret is not added to the record. */
const REMEMBERED_WHEN_SEEN = 100;

export interface AccessVerdict {
  readonly isAllowed: boolean;
  /** A verified secret to add to the record, which does not contain it in this form. */
  readonly learned?: RecordedSecret;
}

/**
 * Whether the image may have been pulled by this name: by its repository, or by a name that an earlier version has not written
 * down. Upstream asks for any record of the content, so that a loaded image is lost to a pod that cannot pull it.
 */
export const mayNameThePull = ({ credentialMapping = {} }: PulledRecord, image: string): boolean =>
  Object.keys(credentialMapping).length === 0 || Object.hasOwn(credentialMapping, nameWithoutTag(image));

/** Returns the record's decision before any secret of the pod is checked; undefined if the secrets decide. */
export const accessWithoutSecrets = (record: PulledRecord | undefined, image: string): boolean | undefined => {
  const { credentialMapping = {} } = record ?? {};
  const access = credentialMapping[nameWithoutTag(image)];
  // The content is the same under every name.
  if (Object.values(credentialMapping).some(({ nodePodsAccessible }) => nodePodsAccessible)) return true;
  return (access?.kubernetesSecrets ?? []).length > 0 ? undefined : false;
};

/**
 * Whether one of the pod's secrets matches an image that was pulled with secrets: the same credential in any secret, or
 * the same secret with any content.
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
 * Returns the record after a pull at `now` (Unix milliseconds), or undefined if nothing changes. Without `access` the
 * image is known to have been pulled, but not with which credentials: every pod has to show that it may use it.
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
  const name = nameWithoutTag(image);
  const before = record?.credentialMapping?.[name];
  const merged = access ? mergeAccess(before, access) : before ? undefined : {};
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
