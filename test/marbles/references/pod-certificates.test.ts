import { describe, expect, it } from 'vitest';
import { TestScheduler } from 'rxjs/testing';
import { aPod } from '../../support/a-pod.js';
import { expectLanes, linesOf } from '../lanes.js';
import {
  AWAY,
  certificateStage,
  type CertificateStageOptions,
  certified,
  HOUR,
  MINUTE,
  UNKNOWN,
} from './certificate-stage.js';

const stageOf = (options: CertificateStageOptions = {}) =>
  certificateStage(new TestScheduler(() => undefined), options);
/** The requests that were created, by their number. */
const requestsIn = (lines: readonly string[]): readonly string[] =>
  lines.flatMap((line) => {
    const [, at, number] = /^(\d+) req-(\d) by/.exec(line) ?? [];
    return at === undefined ? [] : [`${at} request ${number}`];
  });
const CHANGED = 'changed PodCertificate default/pod-u';
const NOT_YET = 'credential bundle is not issued yet';

describe('a certificate of a pod', () => {
  it('is requested when the pod comes, and there as soon as it is issued', () => {
    const { at, read, sign, manager, lines, watches, bodies, run } = stageOf();
    at(1_000, () => manager.register(certified()));
    read(30_000);
    at(30_001, () => sign('req-1'));
    read(30_001);
    // A further sync of the pod changes nothing.
    at(40_000, () => manager.register(certified()));
    run(50 * MINUTE);
    expect(lines).toEqual([
      ...['1001 key 1', '1001 req-1 by key 1'],
      ...[`30000 ${NOT_YET}`, `30001 ${CHANGED}`, '30001 key 1,chain'],
    ]);
    expect(watches).toEqual(['1001 spec.nodeName=node-1']);
    expect(bodies).toMatchObject([
      {
        metadata: { namespace: 'default' },
        spec: { serviceAccountUID: 'uid of /api/v1/namespaces/default/serviceaccounts/sa', nodeUID: 'node-uid' },
      },
    ]);
  });

  it('costs a node whose pods have none no request and no timer', () => {
    const { manager, lines, watches, run, measured } = stageOf();
    manager.register(aPod());
    manager.forget('uid-1');
    run(HOUR);
    expect([lines, watches, measured]).toEqual([[], [], []]);
  });

  it.each([
    ['denied', 'Denied', 'was denied'],
    ['failed', 'Failed', 'failed'],
  ] as const)('that is %s is not requested again', (state, type, verb) => {
    const { at, read, refuse, manager, lines, run, measured } = stageOf();
    manager.register(certified());
    at(1_000, () => refuse('req-1', type));
    read(5 * HOUR);
    run(6 * HOUR);
    expect(lines).toEqual([
      ...['1 key 1', '1 req-1 by key 1'],
      `1000 Warning ${type} PodCertificateRequest default/req-1 ${verb}, reason="Why", message="said so"`,
      `1000 ${CHANGED}`,
      `18000000 PodCertificateRequest was permanently ${state}: reason="Why" message="said so"`,
    ]);
    expect(measured.at(-1)).toBe(`podCertificates [{"signerName":"test/signer","state":"${state}","count":1}]`);
  });

  it('is renewed an hour later, at the time of its signer, and serves until the next one is there', () => {
    const { at, read, sign, manager, lines, run } = stageOf();
    manager.register(certified());
    at(2, () => sign('req-1'));
    read(HOUR + 90_000);
    at(HOUR + 90_000, () => sign('req-2'));
    read(HOUR + 90_000);
    run(HOUR + 2 * MINUTE);
    expect(lines).toEqual([
      ...['1 key 1', '1 req-1 by key 1', `2 ${CHANGED}`],
      ...['3660000 key 2', '3660000 req-2 by key 2', '3690000 key 1,chain'],
      ...[`3690000 ${CHANGED}`, '3690000 key 2,chain'],
    ]);
  });

  it('is looked at every minute, up to twice as late by chance, and renewed up to five minutes late by chance', () => {
    const renewed = (random: number) => {
      const { at, sign, manager, lines, run } = stageOf({ random: () => random });
      manager.register(certified());
      at(2, () => sign('req-1'));
      run(65 * MINUTE);
      return expectLanes(requestsIn(lines), { everyMs: 15_000, floor: true });
    };
    // The certificate is due after 62.5 min, and looked at every 90 s: at 63 min.
    renewed(0.5).toBe({ request: '1 3765s 2' });
    // It is due 2 ms after 61 min 15 s, and looked at every 75 s: at 62 min 30 s.
    renewed(0.25).toBe({ request: '1 3735s 2' });
  });

  it('is renewed in time on a node whose clock is years behind', () => {
    const scheduler = new TestScheduler(() => undefined);
    const { at, sign, manager, lines, run } = certificateStage(scheduler, { wallClock: () => scheduler.now() - 1e12 });
    manager.register(certified());
    at(2, () => sign('req-1'));
    run(HOUR + MINUTE);
    expect(lines.slice(3)).toEqual(['3660000 key 2', '3660000 req-2 by key 2']);
  });

  it('is reported when it is ten minutes overdue, and when it has expired, each once', () => {
    const { at, sign, manager, lines, run, measured } = stageOf();
    manager.register(certified());
    at(2, () => sign('req-1'));
    run(3 * HOUR);
    const overdue = 'Warning CertificateOverdueForRefresh PodCertificate refresh overdue';
    const expired = 'Warning CertificateExpired PodCertificate expired';
    const history = [...requestsIn(lines), ...linesOf(lines, overdue, expired)];
    expectLanes(history, { everyMs: MINUTE, floor: true }).toBe({
      request: '  1 60m 2---------- 49m -',
      [overdue]: '- 60m ----------W 49m -',
      [expired]: '- 60m ----------- 49m W',
    });
    const states = measured.map((line) => /"state":"(\w+)"/.exec(line)?.[1]);
    expect([...new Set(states)]).toEqual(['not_yet_issued', 'fresh', 'overdue_for_refresh', 'expired']);
  });

  it('whose request an administrator deletes is requested again after ten minutes, and up to five more by chance', () => {
    const lost = (random: number) => {
      const { at, take, manager, lines, logged, run } = stageOf({ random: () => random });
      manager.register(certified());
      at(1_000, () => take('req-1'));
      run(20 * MINUTE);
      expect(logged).toContain('a certificate of a pod is not issued');
      return expectLanes(requestsIn(lines), { everyMs: 30_000, floor: true });
    };
    // The certificate is looked at every minute, or every minute and a half.
    lost(0).toBe({ request: '1 630s 2' });
    lost(0.5).toBe({ request: '1 13m 2' });
  });
});

describe('a request for a certificate', () => {
  it('that fails is sent again after 5 ms, doubling, and at once with each look at the certificate', () => {
    const { manager, lines, logged, read, run } = stageOf({ failure: (what) => (what === 'LIST' ? undefined : AWAY) });
    manager.register(certified());
    read(1_000);
    run(2 * MINUTE);
    expectLanes(linesOf(lines, 'refused'), { everyMs: 5, floor: true }).toBe({
      'refused GET serviceaccounts':
        'rr-r---r-------r 75ms r 155ms r 315ms r 635ms r 1275ms r 2555ms r 5115ms r 10235ms r 20475ms r 19040ms r 59995ms r',
    });
    expect(lines).toContain(
      `1000 ${NOT_YET}: while creating initial PodCertificateRequest: while fetching service account: connect ECONNREFUSED`,
    );
    expect(lines).not.toContain(expect.stringContaining('key'));
    expect(logged).toEqual(['cannot request a certificate for a pod']);
  });

  it('is sent as soon as the server is back, with the key that was made for it', () => {
    const { manager, lines, read, run } = stageOf({
      failure: (what, now) => (what === 'POST' && now < 100 ? AWAY : undefined),
    });
    manager.register(certified());
    read(99);
    read(200);
    run(1_000);
    const said = `${NOT_YET}: while creating initial PodCertificateRequest: while creating on API: connect ECONNREFUSED`;
    expect(lines).toEqual([
      ...['1 key 1', '1 refused POST', '6 refused POST', '16 refused POST', '36 refused POST', '76 refused POST'],
      ...[`99 ${said}`, '156 req-1 by key 1', `200 ${NOT_YET}`],
    ]);
  });

  it('waits for the Node of the agent', () => {
    const { manager, lines, read, run } = stageOf({ isNodeKnown: (now) => now > 50 });
    manager.register(certified());
    read(50);
    run(1_000);
    const said = `${NOT_YET}: while creating initial PodCertificateRequest: the Node of this agent is not known yet`;
    expect(lines).toEqual([`50 ${said}`, '76 key 1', '76 req-1 by key 1']);
  });

  it('is not sent to a server that does not know such requests, until it does', () => {
    const { manager, lines, read, run } = stageOf({
      failure: (what, now) => (what === 'LIST' && now < 5 * MINUTE ? UNKNOWN : undefined),
    });
    manager.register(certified());
    read(4 * MINUTE);
    run(6 * MINUTE);
    const said = lines.filter((line) => !line.endsWith('refused LIST'));
    expect(said).toEqual([
      `240000 ${NOT_YET}: the API server does not serve podcertificaterequests of certificates.k8s.io/v1, as Kubernetes does since 1.37`,
      expect.stringMatching(/^3\d{5} key 1$/),
      expect.stringMatching(/^3\d{5} req-1 by key 1$/),
    ]);
  });

  it('gets its key when the one before has been made: keys take the processor', () => {
    const { manager, lines, run } = stageOf({ keyMs: 1_000 });
    manager.register(certified('u', 2));
    manager.register(certified('w'));
    run(10_000);
    expect(lines).toEqual([
      ...['1 key 1', '1001 req-1 by key 1', '1001 key 2'],
      ...['2001 req-2 by key 2', '2001 key 3', '3001 req-3 by key 3'],
    ]);
  });
});

describe('the certificates of a pod that is gone', () => {
  it('are dropped, and its requests are no longer watched', () => {
    const { at, read, sign, manager, lines, watches, run, measured } = stageOf();
    manager.register(certified());
    at(1_000, () => sign('req-1'));
    at(2_000, () => manager.forget('u'));
    read(2_000);
    at(3_000, () => manager.register(certified('w')));
    run(4_000);
    expect(watches).toEqual(['1 spec.nodeName=node-1', '3001 spec.nodeName=node-1']);
    expect(lines.slice(2)).toEqual([
      ...[`1000 ${CHANGED}`, '2000 no credentials yet: the pod is not registered'],
      ...['3001 key 2', '3001 req-2 by key 2'],
    ]);
    expect(measured).toContain('podCertificates []');
  });

  it('are not requested any more', () => {
    const { at, manager, lines, run } = stageOf({ failure: (what) => (what === 'POST' ? AWAY : undefined) });
    manager.register(certified());
    at(50, () => manager.forget('u'));
    run(HOUR);
    expect(lines.at(-1)).toBe('36 refused POST');
  });

  it('whose key is being made leave no state behind', () => {
    const { at, read, manager, run, lines, measured } = stageOf({ keyMs: 1_000 });
    manager.register(certified());
    at(500, () => manager.forget('u'));
    read(2_000);
    run(HOUR);
    expect(lines.at(-1)).toBe('2000 no credentials yet: the pod is not registered');
    expect(measured.at(-1)).toBe('podCertificates []');
  });
});
