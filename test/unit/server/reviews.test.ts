import { describe, expect, it } from 'vitest';
import { ApiError } from '../../../src/model/kube-api/api-error.js';
import {
  type AccessQuestion,
  accessKey,
  accessReview,
  readAccessReview,
} from '../../../src/model/server/access-review.js';
import { reviewRetryMs } from '../../../src/model/server/review-retry.js';
import { readTokenReview, tokenReview } from '../../../src/model/server/token-review.js';

const question: AccessQuestion = {
  user: { name: 'u', uid: 'id', groups: ['a', 'b'], extra: { k: ['v'] } },
  verb: 'get',
  subresource: 'metrics',
  nodeName: 'n1',
};

describe('the review of a token', () => {
  it('sends the token alone', () => {
    expect(tokenReview('t')).toEqual({
      apiVersion: 'authentication.k8s.io/v1',
      kind: 'TokenReview',
      spec: { token: 't' },
    });
  });

  it.each([
    [
      { status: { authenticated: true, user: { username: 'u', uid: 'i', groups: ['g'], extra: { k: ['v'] } } } },
      { user: { name: 'u', uid: 'i', groups: ['g'], extra: { k: ['v'] } } },
    ],
    [
      { status: { authenticated: true, user: { username: 'u' } } },
      { user: { name: 'u', uid: '', groups: [], extra: {} } },
    ],
    [{ status: { authenticated: false } }, {}],
    [{ status: {} }, {}],
    [{ status: { authenticated: false, user: { username: 'u' } } }, {}],
  ])('reads %j as %j', (reply, verdict) => {
    expect(readTokenReview(reply)).toEqual(verdict);
  });

  it.each([
    [{ status: { error: 'no key' } }, 'no key'],
    [{ status: { authenticated: 'true', user: { username: 'u' } } }, 'has no status'],
    [{ status: { authenticated: true } }, 'names no user'],
    [{ status: { authenticated: true, user: { username: '' } } }, 'names no user'],
    [{}, 'has no status'],
    [undefined, 'has no status'],
    ['yes', 'has no status'],
  ])('of the reply %j fails: %s', (reply, text) => {
    expect(() => readTokenReview(reply)).toThrow(text);
  });
});

describe('the review of access', () => {
  it('asks about a subresource of the node', () => {
    expect(accessReview(question)).toEqual({
      apiVersion: 'authorization.k8s.io/v1',
      kind: 'SubjectAccessReview',
      spec: {
        user: 'u',
        uid: 'id',
        groups: ['a', 'b'],
        extra: { k: ['v'] },
        resourceAttributes: {
          verb: 'get',
          group: '',
          version: 'v1',
          resource: 'nodes',
          subresource: 'metrics',
          name: 'n1',
        },
      },
    });
  });

  it.each([
    [{ status: { allowed: true } }, true],
    [{ status: { allowed: false, denied: true } }, false],
    [{ status: { allowed: false, evaluationError: 'x' } }, false],
  ])('reads %j as %j', (reply, isAllowed) => {
    expect(readAccessReview(reply)).toBe(isAllowed);
  });

  it.each([
    [{ status: { allowed: true, denied: true } }],
    [{ status: {} }],
    [{ status: { allowed: 'true' } }],
    [undefined],
  ])('of the reply %j fails', (reply) => {
    expect(() => readAccessReview(reply)).toThrow('the reply to a SubjectAccessReview');
  });

  it('has another key for each difference, and none for a long question', () => {
    const { user } = question;
    const others: readonly AccessQuestion[] = [
      { ...question, verb: 'create' },
      { ...question, subresource: 'proxy' },
      { ...question, nodeName: 'n2' },
      { ...question, user: { ...user, name: 'v' } },
      { ...question, user: { ...user, uid: 'x' } },
      { ...question, user: { ...user, groups: ['a,b'] } },
      { ...question, user: { ...user, groups: ['b', 'a'] } },
      { ...question, user: { ...user, extra: { k: ['w'] } } },
    ];
    expect(new Set([question, ...others].map(accessKey)).size).toBe(others.length + 1);
    expect(accessKey({ ...question, user: { ...user } })).toBe(accessKey(question));
    expect(accessKey({ ...question, user: { ...user, name: 'u'.repeat(10_000) } })).toBeUndefined();
  });
});

describe('a review that failed', () => {
  const internal = new ApiError({ code: 500, reason: 'InternalError', message: 'm' });
  it.each([1, 2, 3, 4])('is repeated after attempt %i', (failures) => {
    const waitMs = 500 * 1.5 ** (failures - 1);
    expect(reviewRetryMs(internal, failures, 0)).toBe(Math.round(waitMs));
    expect(reviewRetryMs(internal, failures, 1)).toBe(Math.round(waitMs * 1.2));
  });

  it.each([
    ['five times', internal, 5],
    ['for a reason that stays', new ApiError({ code: 403, reason: 'Forbidden', message: 'm' }), 1],
    ['for another error', new Error('m'), 1],
  ])('%s is not repeated', (_, error, failures) => {
    expect(reviewRetryMs(error, failures, 0)).toBeUndefined();
  });
});
