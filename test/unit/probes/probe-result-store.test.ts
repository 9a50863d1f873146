import { describe, expect, it } from 'vitest';
import { readProbeRecords } from '../../../src/model/probes/probe-record.js';
import { ProbeResultStore } from '../../../src/model/probes/probe-result-store.js';

const instance = (containerId: string, uid = 'uid-1', container = 'main') => ({ containerId, uid, container });

describe('what is known of instances', () => {
  it('is news when it is the first word or another one', () => {
    const store = new ProbeResultStore();
    const news = (['failure', 'failure', 'success', 'success', 'failure'] as const).map((result) =>
      store.set('readiness', instance('c1'), result),
    );
    expect(news).toEqual([true, false, true, false, true]);
  });

  it('is kept apart by type', () => {
    const store = new ProbeResultStore();
    store.set('readiness', instance('c1'), 'failure');
    store.set('liveness', instance('c1'), 'success');
    expect([store.get('readiness', 'c1'), store.get('liveness', 'c1'), store.get('startup', 'c1')]).toEqual([
      'failure',
      'success',
      undefined,
    ]);
  });

  it.each([
    [
      'except the newest instance',
      (store: ProbeResultStore) => store.keepOnly('readiness', instance('c1'), 'c2'),
      'c2,d1,e1',
    ],
    ['wholly', (store: ProbeResultStore) => store.keepOnly('readiness', instance('')), 'd1,e1'],
    ['with its pod', (store: ProbeResultStore) => store.forgetPod('uid-1'), 'e1'],
    ['with all pods but one', (store: ProbeResultStore) => store.retain(new Set(['uid-2'])), 'e1'],
    ['never while it is wanted', (store: ProbeResultStore) => store.retain(new Set(['uid-1', 'uid-2'])), 'c1,c2,d1,e1'],
  ])('is forgotten %s', (_, forget, left) => {
    const store = new ProbeResultStore();
    const all = [instance('c1'), instance('c2'), instance('d1', 'uid-1', 'other'), instance('e1', 'uid-2')];
    for (const each of all) store.set('readiness', each, 'success');
    expect(forget(store)).toBe(left !== 'c1,c2,d1,e1');
    const known = all.filter(({ containerId }) => store.get('readiness', containerId) !== undefined);
    expect(known.map(({ containerId }) => containerId).join()).toBe(left);
  });

  it('goes to a later agent as far as it is about being ready and having started', () => {
    const store = new ProbeResultStore();
    store.set('startup', instance('c1'), 'success');
    store.set('startup', instance('c2'), 'unknown');
    store.set('startup', instance('c3'), 'failure');
    store.set('readiness', instance('c1'), 'failure');
    store.set('readiness', instance('c2'), 'success');
    store.set('liveness', instance('c1'), 'failure');
    const later = new ProbeResultStore();
    later.restore(readProbeRecords(JSON.stringify(store.records())).records);
    expect(later.records()).toEqual(store.records());
    expect(later.records().map(({ type, containerId, result }) => `${type} ${containerId} ${result}`)).toEqual([
      'startup c1 success',
      'readiness c1 failure',
      'readiness c2 success',
    ]);
  });
});

describe('spoilt records', () => {
  const good = { type: 'readiness', uid: 'u', container: 'main', containerId: 'c', result: 'success' } as const;

  it.each([
    ['another type', { ...good, type: 'liveness' }],
    ['another result', { ...good, result: 'unknown' }],
    ['a startup that failed', { ...good, type: 'startup', result: 'failure' }],
    ['no container', { ...good, container: undefined }],
    ['an empty id', { ...good, containerId: '' }],
    ['a number for a UID', { ...good, uid: 1 }],
    ['no object', 'readiness'],
    ['null', null],
  ])('%s is left out, and what stands beside it is read', (_, bad) => {
    expect(readProbeRecords(JSON.stringify([bad, good]))).toEqual({ records: [good], ignored: 1 });
  });

  it('with more fields than belong there are read without them', () => {
    expect(readProbeRecords(JSON.stringify([{ ...good, more: 1 }])).records).toEqual([good]);
  });

  it.each([
    ['{}', 'holds object (expected a list)'],
    ['null', 'holds null (expected a list)'],
    ['[', 'JSON'],
  ])('%s is an error', (text, problem) => {
    expect(() => readProbeRecords(text)).toThrow(problem);
  });
});
