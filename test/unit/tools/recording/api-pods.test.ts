import { expect, it } from 'vitest';
import { ApiPods } from '../../../../src/tools/recording/incident/api-pods.js';

const podOf = (name: string, metadata: object = {}, status: object = {}) => ({
  metadata: { name, namespace: 'default', uid: `uid-${name}`, resourceVersion: '7', managedFields: [], ...metadata },
  spec: { containers: [{ name: 'main', image: 'busy' }] },
  status,
});
const call = (port: string, path = '/api/v1/pods') => ({ port, args: [{ method: 'GET', path }], at: 0 });
const [list, watch] = [call('cluster.api.request'), call('cluster.api.watch')];
const event = (type: string, object: object) => ({ kind: 'event', type, object });

it('are those of lists and watches, without mirrors and without what only the server and the status are about', () => {
  const pods = new ApiPods();
  const names = (value: unknown, from = watch) => pods.replied(from, value)?.map(({ metadata }) => metadata.name);
  expect(names({ metadata: { resourceVersion: '1', continue: 'more' }, items: [podOf('one')] }, list)).toBeUndefined();
  expect(names({ metadata: { resourceVersion: '1' }, items: [podOf('two')] }, list)).toEqual(['one', 'two']);
  expect(names({ kind: 'opened' })).toBeUndefined();
  const mirror = podOf('static-n', { annotations: { 'kubernetes.io/config.mirror': 'x' } });
  expect(names(event('ADDED', mirror))).toEqual(['one', 'two']);
  const before = pods.replied(watch, event('MODIFIED', podOf('one', { resourceVersion: '8' }, { phase: 'Running' })));
  expect(before).toEqual(pods.replied(watch, event('MODIFIED', podOf('one', { resourceVersion: '9' }))));
  expect(before?.[0]).toEqual({
    metadata: { name: 'one', namespace: 'default', uid: 'uid-one' },
    spec: { containers: [{ name: 'main', image: 'busy' }] },
  });
  expect(names(event('DELETED', podOf('one')))).toEqual(['two']);
  expect(pods.replied(call('cluster.api.request', '/api/v1/nodes'), { items: [] })).toBeUndefined();
});
