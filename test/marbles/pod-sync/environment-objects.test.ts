import { catchError, map, of, throwError } from 'rxjs';
import { describe, expect, it } from 'vitest';
import type { ConfigMap, Secret } from '../../../src/model/references/referenced-object.js';
import { environment, type EnvInput } from '../../../src/model/cri/env.js';
import type { Container, Pod } from '../../../src/model/pod/pod.js';
import { environmentObjects } from '../../../src/streams/pod-sync/environment-objects.js';
import { aPod } from '../../support/a-pod.js';
import { type FakeObjects, fakePodReferences } from '../../support/fake-pod-references.js';
import { nodeFacts } from '../../support/node-facts.js';
import { syncStage } from '../../support/sync-context.js';
import { marbles } from '../marbles.js';

const container: Container = {
  name: 'main',
  envFrom: [{ configMapRef: { name: 'cm' } }, { secretRef: { name: 's', optional: true } }],
  env: [{ name: 'KEY', valueFrom: { configMapKeyRef: { name: 'other', key: 'k', optional: true } } }],
};
const master = { metadata: { namespace: 'default', name: 'kubernetes' }, spec: { clusterIP: '10.0.0.1' } };
const pod = aPod({ source: 'api', namespace: 'ns' });

const variables = (wanted: Pod, found: Pick<EnvInput, 'objects' | 'services'>, from = container) =>
  Object.fromEntries(environment({ ...found, pod: wanted, container: from, podIps: [], node: nodeFacts }));
const reading = (scheduler: Parameters<typeof syncStage>[1], objects: FakeObjects, wanted = pod) => {
  const { context } = syncStage(wanted, scheduler, { podReferences: fakePodReferences(objects) });
  return environmentObjects(context, container).pipe(map((found) => variables(wanted, found)));
};

describe('what the environment of a container is made of', () => {
  it(
    'is read at the same time, and is there when the last of it is',
    marbles(({ cold, scheduler, expectObservable }) => {
      const configMap: ConfigMap = { metadata: {}, data: { A: 'a' } };
      const secret: Secret = { metadata: {}, data: { B: btoa('b') } };
      const objects = {
        configMaps: { 'ns/cm': cold<ConfigMap>('---(c|)', { c: configMap }) },
        secrets: { 'ns/s': cold<Secret>('       -----(s|)', { s: secret }) },
        services: [master],
      };
      const expected = '                                -----(e|)';
      const e = { A: 'a', B: 'b', KUBERNETES_SERVICE_HOST: '10.0.0.1' };
      expectObservable(reading(scheduler, objects)).toBe(expected, { e });
    }),
  );

  it(
    'has nothing of optional objects that do not exist, and fails for others in the words of who looked',
    marbles(({ scheduler, expectObservable }) => {
      expectObservable(reading(scheduler, { configMaps: { 'ns/cm': { A: 'a' } } })).toBe('(e|)', { e: { A: 'a' } });
      const lacking$ = reading(scheduler, {}).pipe(catchError((error: unknown) => of((error as Error).message)));
      expectObservable(lacking$).toBe('(e|)', { e: 'configmap "cm" not found' });
    }),
  );

  it(
    'cannot be known while an optional object cannot be read',
    marbles(({ scheduler, expectObservable }) => {
      const away = new Error('failed to sync secret cache: timed out waiting for the condition');
      const objects = { configMaps: { 'ns/cm': {} }, secrets: { 'ns/s': throwError(() => away) } };
      expectObservable(reading(scheduler, objects)).toBe('#', undefined, away);
    }),
  );

  it(
    'waits for services, except those of pods of this node',
    marbles(({ scheduler, expectObservable }) => {
      const objects = { configMaps: { 'ns/cm': {} }, services: null };
      const unread = new Error('services have not yet been read at least once, cannot construct envvars');
      expectObservable(reading(scheduler, objects)).toBe('#', undefined, unread);
      expectObservable(reading(scheduler, objects, aPod({ source: 'file', namespace: 'ns' }))).toBe('(e|)', { e: {} });
    }),
  );

  it(
    'is nothing without an API server',
    marbles(({ scheduler, expectObservable }) => {
      const { context } = syncStage(pod, scheduler);
      expectObservable(environmentObjects(context, container)).toBe('(e|)', { e: {} });
    }),
  );

  it(
    'is no longer read when no container waits for it',
    marbles(({ cold, scheduler, expectObservable, expectSubscriptions }) => {
      const slow = cold<ConfigMap>('----------(c|)');
      const { context } = syncStage(pod, scheduler, {
        podReferences: fakePodReferences({ configMaps: { 'ns/cm': slow }, services: [] }),
      });
      expectObservable(environmentObjects(context, container), '---!').toBe('----');
      expectSubscriptions(slow.subscriptions).toBe('             ^--!');
    }),
  );

  it(
    'leaves out services that the pod does not want',
    marbles(({ scheduler }) => {
      const services = [{ metadata: { namespace: 'ns', name: 'db' }, spec: { clusterIP: '10.0.0.2' } }, master];
      const found = (enableServiceLinks: boolean) => {
        const told: string[] = [];
        const wanted = aPod({ source: 'api', namespace: 'ns', spec: { enableServiceLinks } });
        const { context } = syncStage(wanted, scheduler, { podReferences: fakePodReferences({ services }) });
        environmentObjects(context, { name: 'plain' }).subscribe((env) =>
          told.push(...Object.keys(env.services ?? {})),
        );
        return told;
      };
      expect(found(true)).toEqual(['DB_SERVICE_HOST', 'KUBERNETES_SERVICE_HOST']);
      expect(found(false)).toEqual(['KUBERNETES_SERVICE_HOST']);
    }),
  );
});
