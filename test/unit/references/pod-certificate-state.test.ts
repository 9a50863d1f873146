import { describe, expect, it } from 'vitest';
import {
  advancePodCertificate,
  ASSUME_DELETED_MS,
  credentialOf,
  JITTER_MS,
  NOT_REQUESTED,
  OVERDUE_MS,
  podCertificateLabel,
  type PodCertificateMoment,
  type PodCertificateState,
  withRequest,
} from '../../../src/model/references/pod-certificate-state.js';

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
const PEM = '-----BEGIN CERTIFICATE-----\nQUJD\n-----END CERTIFICATE-----\n';
const iso = (at: number): string => new Date(at).toISOString();
/** A request with these conditions, for a certificate from 0 to 10 h that is to be refreshed after 5 h. */
const request = (type?: string, reason = 'R', message = 'M') => ({
  metadata: { name: 'req-1' },
  status: {
    conditions: type === undefined ? [] : [{ type, reason, message }],
    ...{ certificateChain: PEM, notBefore: iso(0), beginRefreshAt: iso(5 * HOUR), notAfter: iso(10 * HOUR) },
  },
});
const moment = (now: number, more: Partial<PodCertificateMoment> = {}): PodCertificateMoment => ({
  ...{ now, wallClock: now, request: undefined, draw: () => 0.5 },
  ...more,
});
const sent = withRequest(NOT_REQUESTED, { name: 'req-1', privateKey: 'key' }, { now: 0, draw: 0 });
const fresh = advancePodCertificate(sent, moment(0, { request: request('Issued') })).state;
const refreshing = withRequest(fresh, { name: 'req-2', privateKey: 'key 2' }, { now: 6 * HOUR, draw: 0 });
const denied: PodCertificateState = { kind: 'denied', reason: 'R', message: 'M' };

describe('a certificate of a pod', () => {
  it('is requested at once', () => {
    expect(advancePodCertificate(NOT_REQUESTED, moment(0))).toEqual({
      state: NOT_REQUESTED,
      isDue: true,
      warnings: [],
    });
  });

  it('is waited for while its request is pending', () => {
    expect(advancePodCertificate(sent, moment(HOUR, { request: request() }))).toEqual({
      ...{ state: sent, isDue: false, warnings: [] },
    });
  });

  it('is requested again if its request has not been seen for ten minutes, and up to five more by chance', () => {
    expect(advancePodCertificate(sent, moment(ASSUME_DELETED_MS)).isDue).toBe(false);
    const lost = advancePodCertificate(sent, moment(ASSUME_DELETED_MS + 1));
    expect(lost).toMatchObject({ isDue: true, problem: 'PodCertificateRequest "req-1" appears to have been deleted' });
    expect(lost.state).toEqual(NOT_REQUESTED);
    const late = withRequest(NOT_REQUESTED, { name: 'r', privateKey: 'k' }, { now: 0, draw: 0.5 });
    const at = ASSUME_DELETED_MS + JITTER_MS / 2;
    expect([at, at + 1].map((now) => advancePodCertificate(late, moment(now)).isDue)).toEqual([false, true]);
  });

  it('that is issued has the key of its request', () => {
    expect(credentialOf(fresh)).toEqual({ privateKey: 'key', certificateChain: PEM });
  });

  it('is due for a refresh at the time of its signer, and up to five minutes later by chance', () => {
    const at = 5 * HOUR + JITTER_MS / 2;
    expect([at - 1, at].map((now) => advancePodCertificate(fresh, moment(now)).isDue)).toEqual([false, true]);
  });

  it('is due in time on a node whose clock is years behind', () => {
    const at = 5 * HOUR + JITTER_MS / 2;
    const behind = (now: number) => advancePodCertificate(fresh, moment(now, { wallClock: now - 1e12 })).isDue;
    expect([at - 1, at].map(behind)).toEqual([false, true]);
  });

  it('serves until the next one is issued, which has the key of the newer request', () => {
    expect(credentialOf(refreshing)).toEqual({ privateKey: 'key', certificateChain: PEM });
    const pending = advancePodCertificate(refreshing, moment(6 * HOUR, { request: request() }));
    expect(pending).toMatchObject({ state: { awaited: { name: 'req-2' } }, isDue: false });
    const next = advancePodCertificate(refreshing, moment(6 * HOUR, { request: request('Issued') })).state;
    expect(credentialOf(next).privateKey).toBe('key 2');
    expect(next).not.toHaveProperty('awaited');
  });

  it('serves on if the request for the next one is lost', () => {
    const lost = advancePodCertificate(refreshing, moment(6 * HOUR + ASSUME_DELETED_MS + 1));
    expect(lost).toMatchObject({ isDue: true, state: { kind: 'issued', awaited: undefined } });
    expect(credentialOf(lost.state).privateKey).toBe('key');
  });

  it.each([
    ['Denied', 'denied'],
    ['Failed', 'failed'],
  ])('whose request is %s is %s for good, also if it was issued before', (type, kind) => {
    for (const state of [sent, refreshing]) {
      const over = advancePodCertificate(state, moment(6 * HOUR, { request: request(type) }));
      expect(over).toEqual({ state: { kind, reason: 'R', message: 'M' }, isDue: false, warnings: [] });
      expect(advancePodCertificate(over.state, moment(99 * HOUR)).isDue).toBe(false);
      expect(withRequest(over.state, { name: 'r', privateKey: 'k' }, { now: 0, draw: 0 })).toBe(over.state);
    }
  });

  it('is not taken from an answer that lacks a field', () => {
    const { status } = request('Issued');
    const lacking = { metadata: {}, status: { ...status, notAfter: '' } };
    expect(advancePodCertificate(sent, moment(1, { request: lacking }))).toEqual({
      ...{ state: sent, isDue: false, warnings: [] },
      problem: 'the issued PodCertificateRequest has no status.notAfter (expected a time)',
    });
  });

  it.each([
    ['that is not requested again', fresh, undefined],
    ['whose request is pending', refreshing, request()],
  ])('%s is warned about once when it is overdue, and once when it has expired', (_, from, asked) => {
    const overdue = 5 * HOUR + JITTER_MS / 2 + OVERDUE_MS;
    const given: unknown[] = [];
    let state = from;
    for (const now of [overdue, overdue + 1, overdue + 2, 10 * HOUR, 10 * HOUR + 1, 11 * HOUR]) {
      const next = advancePodCertificate(state, moment(now, { request: asked }));
      given.push(next.warnings);
      state = next.state;
    }
    expect(given).toEqual([[], ['CertificateOverdueForRefresh'], [], [], ['CertificateExpired'], []]);
  });
});

describe('a credential that is not there', () => {
  it.each([
    ['is not issued yet', NOT_REQUESTED, undefined, 'credential bundle is not issued yet'],
    ['says why', sent, 'no route', 'credential bundle is not issued yet: no route'],
    ['was denied', denied, 'x', 'PodCertificateRequest was permanently denied: reason="R" message="M"'],
    [
      'has failed',
      { kind: 'failed', reason: 'A "b"', message: '' } as const,
      undefined,
      'PodCertificateRequest was permanently failed: reason="A \\"b\\"" message=""',
    ],
  ])('%s', (_, state, problem, message) => expect(() => credentialOf(state, problem)).toThrow(new Error(message)));
});

it.each([
  ['not_yet_issued', NOT_REQUESTED, 0],
  ['not_yet_issued', sent, 0],
  ['denied', denied, 0],
  ['fresh', fresh, 5 * HOUR + JITTER_MS / 2 + OVERDUE_MS],
  ['overdue_for_refresh', fresh, 5 * HOUR + JITTER_MS / 2 + OVERDUE_MS + 1],
  ['overdue_for_refresh', refreshing, 10 * HOUR],
  ['expired', refreshing, 10 * HOUR + 1],
])('the metric counts it as %s', (label, state, now) =>
  expect(podCertificateLabel(state, { wallClock: now, now })).toBe(label),
);
