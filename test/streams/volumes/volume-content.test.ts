import { NEVER, type Observable, of, Subject, throwError } from 'rxjs';
import { describe, expect, it } from 'vitest';
import { errorText } from '../../../src/model/cri/cri-error.js';
import type { Volume } from '../../../src/model/manifest/volume-defaults.js';
import type { Pod } from '../../../src/model/pod/pod.js';
import type { ConfigMap } from '../../../src/model/references/referenced-object.js';
import type { TokenPurpose } from '../../../src/model/references/token-request.js';
import { volumeContent, type VolumeContentPorts } from '../../../src/streams/volumes/volume-content.js';
import { aPod } from '../../support/a-pod.js';
import { fakePodReferences, type FakeObjects } from '../../support/fake-pod-references.js';

const pod: Pod = aPod({ uid: 'u', labels: { app: 'web' }, spec: { serviceAccountName: 'robot' } });
const node = () => ({ allocatable: {} });

/** The files of a volume by path, an error, or that there was no answer. */
const contentOf = (volume: Volume, ports: Partial<VolumeContentPorts> = {}): unknown => {
  let result: unknown = 'no answer';
  volumeContent(pod, volume, { node, ...ports }).subscribe({
    next: (payload) => (result = payload && Object.fromEntries([...payload].map(([path, file]) => [path, text(file)]))),
    error: (error: unknown) => (result = errorText(error)),
  });
  return result;
};
const text = ({ data }: { readonly data: Uint8Array }): string => new TextDecoder().decode(data);
const knowing = (objects: FakeObjects) => ({ podReferences: fakePodReferences(objects) });

const configMap = (name: string, optional?: boolean): Volume => ({
  name: 'v',
  configMap: { name, defaultMode: 0o644, ...(optional !== undefined && { optional }) },
});
const projected = (sources: NonNullable<Volume['projected']>['sources']): Volume => ({
  name: 'v',
  projected: { defaultMode: 0o644, sources },
});
const TOKEN = projected([{ serviceAccountToken: { path: 'token', audience: 'vault', expirationSeconds: 600 } }]);

describe('the content of a volume', () => {
  it('is that of its objects, of the namespace of the pod', () => {
    const ports = knowing({ configMaps: { 'default/a': { k: '1' }, 'other/a': { k: '2' } } });
    expect(contentOf(configMap('a'), ports)).toEqual({ k: '1' });
    const secret: Volume = { name: 'v', secret: { secretName: 's', defaultMode: 0o644 } };
    expect(contentOf(secret, knowing({ secrets: { 'default/s': { key: 'hidden' } } }))).toEqual({ key: 'hidden' });
  });

  it('is nothing of an optional object that does not exist, and an error of any other', () => {
    expect(contentOf(configMap('a', true), knowing({}))).toEqual({});
    expect(contentOf(configMap('a'), knowing({}))).toBe('configmap "a" not found');
  });

  it('is unknown as long as an optional object cannot be read', () => {
    const unread$ = throwError(() => new Error('failed to sync configmap cache: timed out waiting for the condition'));
    const ports = knowing({ configMaps: { 'default/a': unread$ } });
    expect(contentOf(configMap('a', true), ports)).toBe(
      'failed to sync configmap cache: timed out waiting for the condition',
    );
  });

  it('is that of trust bundles, or an error, also for optional ones', () => {
    const roots = projected([{ clusterTrustBundle: { name: 'roots', path: 'ca.pem', optional: true } }]);
    const bundles = [{ name: 'roots', signerName: '', labels: {}, certificates: ['AAAA'] }];
    const given = (trustBundles: () => Observable<typeof bundles>) =>
      contentOf(roots, { podReferences: { ...fakePodReferences(), trustBundles } });
    expect(given(() => of(bundles))).toEqual({
      'ca.pem': '-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n',
    });
    expect(given(() => throwError(() => new Error('not yet synced')))).toBe('not yet synced');
    expect(given(() => NEVER)).toBe('no answer');
    expect(contentOf(roots, knowing({}))).toBe('ClusterTrustBundle projection is not supported in static kubelet mode');
    // Other volumes do not ask for them.
    const asked = () => throwError(() => new Error('no caller asks'));
    expect(contentOf(configMap('a', true), { podReferences: { ...fakePodReferences(), trustBundles: asked } })).toEqual(
      {},
    );
  });

  it('needs a source of objects, also for an optional one', () => {
    expect(contentOf(configMap('a', true))).toBe('ConfigMap "a" is not known: this node has no source of such objects');
  });

  it('asks for all objects at the same time, each once', () => {
    const asked: string[] = [];
    const later = (name: string): Observable<ConfigMap> => {
      asked.push(name);
      return NEVER;
    };
    const podReferences = { ...fakePodReferences(), configMap: (_namespace: string, name: string) => later(name) };
    const volume = projected([
      { configMap: { name: 'a' } },
      { configMap: { name: 'b' } },
      { configMap: { name: 'a', items: [{ key: 'k', path: 'p' }] } },
    ]);
    expect(contentOf(volume, { podReferences })).toBe('no answer');
    expect(asked).toEqual(['a', 'b']);
  });

  it('has a token for the account and the audience', () => {
    const asked: TokenPurpose[] = [];
    const podToken = (purpose: TokenPurpose) => {
      asked.push(purpose);
      return of({ token: 'abc', expiresAt: 1 });
    };
    expect(contentOf(TOKEN, { podToken })).toEqual({ token: 'abc' });
    expect(asked).toEqual([
      { pod, namespace: 'default', serviceAccount: 'robot', audiences: ['vault'], expirationSeconds: 600 },
    ]);
  });

  it('has no token without an API server, and names all that is missing', () => {
    const both = projected([...(TOKEN.projected?.sources ?? []), { configMap: { name: 'a' } }]);
    expect(contentOf(both, knowing({}))).toBe(
      '[a token of a service account needs an API server, and this node has none, configmap "a" not found]',
    );
  });

  it('has the certificate of each source, also of one that equals another', () => {
    const source = (credentialBundlePath: string) => ({
      podCertificate: { signerName: 's', keyType: 'ED25519', credentialBundlePath },
    });
    const volume = projected([source('a'), source('b')]);
    const podCertificate = ({ key }: { readonly key: string }) => ({
      privateKey: `${key} `,
      certificateChain: 'chain',
    });
    expect(contentOf(volume, { podCertificate })).toEqual({ a: '["u","v",0] chain', b: '["u","v",1] chain' });
    const slow = () => {
      throw new Error('credential bundle is not issued yet');
    };
    expect(contentOf(volume, { podCertificate: slow })).toBe('credential bundle is not issued yet');
  });

  it('has no certificate without an API server', () => {
    const podCertificate = { signerName: 's', keyType: 'ED25519', keyPath: 'a' };
    expect(contentOf(projected([{ podCertificate }]))).toBe(
      'a certificate of a pod needs an API server, and this node has none',
    );
  });

  it('is that of the moment of the subscription, with nothing kept', () => {
    const answer$ = new Subject<ConfigMap>();
    const values: unknown[] = [];
    volumeContent(pod, configMap('a'), { node, ...knowing({ configMaps: { 'default/a': answer$ } }) }).subscribe(
      (payload) => values.push([...(payload?.keys() ?? [])]),
    );
    answer$.next({ metadata: { namespace: 'default', name: 'a' }, data: { old: '' } });
    answer$.next({ metadata: { namespace: 'default', name: 'a' }, data: { newest: '' } });
    answer$.complete();
    expect(values).toEqual([['newest']]);
  });

  it('is undefined for a volume whose files the agent does not write', () => {
    expect(contentOf({ name: 'v', emptyDir: {} })).toBeUndefined();
  });

  it('follows the metadata of the pod', () => {
    const labels: Volume = {
      name: 'v',
      downwardAPI: { defaultMode: 0o644, items: [{ path: 'labels', fieldRef: { fieldPath: 'metadata.labels' } }] },
    };
    expect(contentOf(labels)).toEqual({ labels: 'app="web"' });
  });
});
