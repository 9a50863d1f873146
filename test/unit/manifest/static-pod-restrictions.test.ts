import { describe, expect, it } from 'vitest';
import { readManifest } from '../../../src/model/manifest/parse-manifest.js';
import { unmark, withContainer, withSpec } from './marked.js';

const volume = (source: string) => withSpec(`volumes: [{name: v, ${source}}]`);
const projected = (source: string) => volume(`projected: {sources: [{${source}}]}`);

describe('staticPodRestrictions', () => {
  it.each<[what: string, manifest: string]>([
    ['serviceaccounts', withSpec('serviceAccountName: ▸a')],
    ['serviceaccounts', withSpec('serviceAccount: ▸a')],
    ['secrets', withSpec('imagePullSecrets: ▸[{name: a}]')],
    ['secrets', withContainer('envFrom: [{secretRef: ▸{name: a}}]')],
    ['secrets', withContainer('env: [{name: a, valueFrom: {secretKeyRef: ▸{name: a, key: k}}}]')],
    ['secrets', volume('secret: ▸{secretName: a}')],
    ['secrets', volume('azureFile: ▸{secretName: a, shareName: b}')],
    ['secrets', projected('secret: ▸{name: a}')],
    ['secrets', volume('iscsi: {iqn: a, lun: 1, targetPortal: b, secretRef: ▸{name: a}}')],
    ['configmaps', withContainer('envFrom: [{configMapRef: ▸{name: a}}]')],
    ['configmaps', withContainer('env: [{name: a, valueFrom: {configMapKeyRef: ▸{name: a, key: k}}}]')],
    ['configmaps', volume('configMap: ▸{name: a}')],
    ['configmaps', projected('configMap: ▸{name: a}')],
    ['resourceclaims', withSpec('resourceClaims: ▸[{name: a, resourceClaimName: b}]')],
    ['csidrivers (via CSI volumes)', volume('csi: ▸{driver: a}')],
    ['endpoints (via glusterFS volumes)', volume('glusterfs: ▸{endpoints: a, path: b}')],
    ['persistentvolumeclaims', volume('persistentVolumeClaim: ▸{claimName: a}')],
    ['persistentvolumeclaims (via ephemeral volumes)', volume('ephemeral: ▸{volumeClaimTemplate: {spec: {}}}')],
    ['serviceaccounts (via projected volumes)', projected('serviceAccountToken: ▸{path: a}')],
    ['clustertrustbundles', projected('clusterTrustBundle: ▸{name: a, path: b}')],
    ['podcertificates', projected('podCertificate: ▸{keyType: a, signerName: b}')],
  ])('refuses %s', (what, manifest) => {
    const { text, line, column } = unmark(manifest);
    const { pods, problems } = readManifest(text, { file: 'p' });
    expect(pods).toEqual([]);
    expect(problems).toMatchObject([{ message: `static pods may not reference ${what}`, line, column }]);
    const isAlwaysForbidden = ['resourceclaims', 'clustertrustbundles'].includes(what);
    expect(readManifest(text, { file: 'p' }, { preventStaticPodApiReferences: false }).pods).toHaveLength(
      isAlwaysForbidden ? 0 : 1,
    );
  });

  it.each([
    volume('hostPath: {path: /a}'),
    volume('emptyDir: {}'),
    volume('downwardAPI: {items: [{path: p, fieldRef: {fieldPath: metadata.name}}]}'),
    projected('downwardAPI: {items: [{path: p, fieldRef: {fieldPath: metadata.name}}]}'),
    volume('image: {reference: a}'),
    volume('nfs: {server: a, path: /b}'),
  ])('accepts %s', (text) => {
    expect(readManifest(text, { file: 'p' }).problems).toEqual([]);
  });

  it('says only the first of several references', () => {
    const text = withSpec('serviceAccountName: a\nimagePullSecrets: [{name: a}]');
    expect(readManifest(text, { file: 'p' }).problems).toHaveLength(1);
  });
});
