import type { RequestUser } from './request-user.js';
import { statusOf } from './token-review.js';

export const ACCESS_REVIEWS_PATH = '/apis/authorization.k8s.io/v1/subjectaccessreviews';

/** One question: may the user do this to the subresource of the node? */
export interface AccessQuestion {
  readonly user: RequestUser;
  readonly verb: string;
  readonly subresource: string;
  readonly nodeName: string;
}

/** Source: pkg/kubelet/server/auth.go, staging/src/k8s.io/apiserver/plugin/pkg/authorizer/webhook/webhook.go */
const specOf = ({ user: { name, uid, groups, extra }, verb, subresource, nodeName }: AccessQuestion): object => ({
  resourceAttributes: { verb, group: '', version: 'v1', resource: 'nodes', subresource, name: nodeName },
  user: name,
  uid,
  groups,
  extra,
});

export const accessReview = (question: AccessQuestion): object => ({
  apiVersion: 'authorization.k8s.io/v1',
  kind: 'SubjectAccessReview',
  spec: specOf(question),
});

/** The most characters of a user and its question that are kept in the cache. */
const LONGEST_KEY = 10_000;

/**
 * Returns the key under which the answer is kept; two questions that may have different answers have different keys.
 * Undefined for one that is too long to keep.
 */
export const accessKey = (question: AccessQuestion): string | undefined => {
  const key = JSON.stringify(specOf(question));
  return key.length > LONGEST_KEY ? undefined : key;
};

/** Reads the reply to a SubjectAccessReview. Errors: it contradicts itself, or is no review. */
export const readAccessReview = (reply: unknown): boolean => {
  const status = statusOf(reply);
  if (typeof status?.allowed !== 'boolean') throw new Error('the reply to a SubjectAccessReview has no status');
  if (status.denied === true && status.allowed) {
    throw new Error('the reply to a SubjectAccessReview both allows and denies');
  }
  return status.allowed;
};
