import { describe, expect, it } from 'vitest';
import { readManifest } from '../../../src/model/manifest/parse-manifest.js';
import { unmark, withContainer, withInit, withSpec } from './marked.js';

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
    ['secrets', volume('iscsi: {iqn: "iqn.2001-04.com.a:b", lun: 1, targetPortal: b, secretRef: ▸{name: a}}')],
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
    const { pods, problems } = readManifest(text, { file: 'p' }, { hasApiServer: true });
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
    expect(readManifest(text, { file: 'p' }, { hasApiServer: true }).problems).toHaveLength(1);
  });
});

describe('staticPodRestrictions without an API server', () => {
  it.each([
    withSpec('imagePullSecrets: [{name: a}]'),
    withContainer('envFrom: [{secretRef: {name: a}}, {configMapRef: {name: a}}]'),
    withContainer('env: [{name: a, valueFrom: {secretKeyRef: {name: a, key: k}}}]'),
    withContainer('env: [{name: a, valueFrom: {configMapKeyRef: {name: a, key: k}}}]'),
    withInit('envFrom: [{configMapRef: {name: a}}]'),
    volume('secret: {secretName: a}'),
    volume('configMap: {name: a}'),
    projected('secret: {name: a}'),
    projected('configMap: {name: a}'),
  ])('accepts %s', (text) => {
    expect(readManifest(text, { file: 'p' }).problems).toEqual([]);
  });

  it.each<[what: string, reason: string, manifest: string]>([
    ['serviceaccounts', 'only an API server has service accounts', withSpec('serviceAccountName: ▸a')],
    [
      'serviceaccounts (via projected volumes)',
      'only an API server issues the tokens of service accounts',
      projected('serviceAccountToken: ▸{path: a}'),
    ],
    ['persistentvolumeclaims', 'only an API server has claims', volume('persistentVolumeClaim: ▸{claimName: a}')],
    [
      'secrets',
      'a Secret of a manifest is for variables, for image pulls, and for volumes of the kinds secret and projected',
      volume('azureFile: ▸{secretName: a, shareName: b}'),
    ],
    [
      'csidrivers (via CSI volumes)',
      'only an API server has CSI drivers',
      withSpec('volumes: [{name: w, secret: {secretName: s}}, {name: v, csi: ▸{driver: a}}]'),
    ],
  ])('refuses %s, since %s', (what, reason, manifest) => {
    const { text, line, column } = unmark(manifest);
    const { pods, problems } = readManifest(text, { file: 'p' });
    expect(pods).toEqual([]);
    expect(problems).toMatchObject([{ message: `static pods may not reference ${what}: ${reason}`, line, column }]);
  });

  it.each([
    ['resourceclaims', withSpec('resourceClaims: [{name: a, resourceClaimName: b}]')],
    ['clustertrustbundles', projected('clusterTrustBundle: {name: a, path: b}')],
  ])('refuses %s even without the gate', (what, text) => {
    const { problems } = readManifest(text, { file: 'p' }, { preventStaticPodApiReferences: false });
    expect(problems).toMatchObject([{ message: expect.stringContaining(what) as unknown }]);
  });
});
