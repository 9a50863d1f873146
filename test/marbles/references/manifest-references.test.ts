import { catchError, map, type Observable, tap, throwError } from 'rxjs';
import { describe, expect, it } from 'vitest';
import { errorText } from '../../../src/model/cri/cri-error.js';
import { isNotFound } from '../../../src/model/kube-api/api-error.js';
import type { Pod } from '../../../src/model/pod/pod.js';
import type { SourceObject } from '../../../src/model/references/source-object.js';
import { manifestReferences } from '../../../src/streams/references/manifest-references.js';
import { aPod } from '../../support/a-pod.js';
import { marbles } from '../marbles.js';

const nothing = () => undefined;
const log = { debug: nothing, info: nothing, warn: nothing, error: nothing };

const configMap = (name: string, value: string): SourceObject => ({
  ...{ apiVersion: 'v1', kind: 'ConfigMap', metadata: { name, namespace: 'ns', uid: name }, data: { value } },
});
const secret = (name: string, value: string, type = 'Opaque'): SourceObject => ({
  ...{ apiVersion: 'v1', kind: 'Secret', metadata: { name, namespace: 'ns', uid: name }, type, data: { value } },
});

const podOf = (uid: string, source: string, spec: Partial<Pod['spec']> = {}): Pod => {
  const pod = aPod({ uid, name: uid, source });
  return { ...pod, metadata: { ...pod.metadata, namespace: 'ns' }, spec: { ...pod.spec, ...spec } };
};
const user = (uid: string, source: string, name: string): Pod =>
  podOf(uid, source, { containers: [{ name: 'c', envFrom: [{ configMapRef: { name } }, { secretRef: { name } }] }] });

describe('manifestReferences', () => {
  it(
    'returns the objects of the source of the pod, and the error of an API server where there is none',
    marbles(({ expectObservable }) => {
      const references = manifestReferences(log);
      references.setObjects('file', [configMap('cm', 'of file'), secret('cm', 'c2VjcmV0')]);
      references.setObjects('http', [configMap('cm', 'of http')]);
      const [mine, other] = [podOf('a', 'file'), podOf('b', 'http')];
      const value = map(({ data }: Pick<SourceObject, 'data'>) => data?.['value']);
      expectObservable(references.configMap('ns', 'cm', mine).pipe(value)).toBe('(v|)', { v: 'of file' });
      expectObservable(references.configMap('ns', 'cm', other).pipe(value)).toBe('(v|)', { v: 'of http' });
      expectObservable(references.secret('ns', 'cm', mine).pipe(value)).toBe('(v|)', { v: 'c2VjcmV0' });
      const missing = (kind: 'configMap' | 'secret', namespace: string, pod: Pod): Observable<unknown> => {
        const found$: Observable<unknown> = references[kind](namespace, 'cm', pod);
        return found$.pipe(
          catchError((error: unknown) => throwError(() => (isNotFound(error) ? errorText(error) : 'another error'))),
        );
      };
      expectObservable(missing('secret', 'ns', other)).toBe('#', {}, 'secret "cm" not found');
      expectObservable(missing('configMap', 'default', mine)).toBe('#', {}, 'configmap "cm" not found');
      expectObservable(missing('configMap', 'ns', podOf('c', 'mine'))).toBe('#', {}, 'configmap "cm" not found');
    }),
  );

  it('has no services, which is another answer than not to know them', () => {
    expect(manifestReferences(log).services()).toEqual([]);
  });

  it(
    'emits the objects of registered pods that changed, came or went',
    marbles(({ cold, expectObservable }) => {
      const references = manifestReferences(log);
      const steps: Readonly<Record<string, () => void>> = {
        1: () => references.setObjects('file', [configMap('a', '1'), configMap('b', '1')]),
        2: () => references.setObjects('file', [configMap('a', '2'), configMap('b', '2')]),
        s: () => references.setObjects('file', [configMap('a', '2'), configMap('b', '2'), secret('a', 'bmV3')]),
        0: () => references.setObjects('file', []),
        o: () => references.setObjects('http', [configMap('a', '1')]),
        r: () => references.register(user('pod', 'file', 'a')),
        u: () => references.unregister(user('pod', 'file', 'a')),
      };
      const step$ = cold('  1r122sso0----u1-');
      const expected = '    ---c-s--(cs)----';
      const run$ = step$.pipe(
        tap((step) => steps[step]!()),
        map(() => undefined),
      );
      const named: Observable<string> = references.changed$.pipe(
        map(({ kind, namespace, name }) => `${kind} ${namespace}/${name}`),
      );
      expectObservable(named).toBe(expected, { c: 'ConfigMap ns/a', s: 'Secret ns/a' });
      expectObservable(run$.pipe(map(() => 'x'))).toBe('    xxxxxxxxx----xx-');
    }),
  );

  it(
    'gives pods the pull secrets that they name, as far as there are any',
    marbles(({ expectObservable }) => {
      const references = manifestReferences(log);
      const type = 'kubernetes.io/dockerconfigjson';
      references.setObjects('file', [secret('pull', btoa('{}'), type)]);
      const pod = podOf('a', 'file', { imagePullSecrets: [{ name: 'none' }, { name: 'pull' }] });
      const found = [{ uid: 'pull', namespace: 'ns', name: 'pull', type, data: { value: '{}' } }];
      expectObservable(references.pullSecrets(pod)).toBe('(v|)', { v: found });
    }),
  );
});
