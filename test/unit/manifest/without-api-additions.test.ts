import { expect, it } from 'vitest';
import { readManifest } from '../../../src/model/manifest/parse-manifest.js';

/** As `kubectl get pod web -o yaml` prints a pod that was made with a name and an image. */
const PRINTED = `apiVersion: v1
kind: Pod
metadata:
  creationTimestamp: "2026-11-01T10:00:00Z"
  generation: 1
  labels: {run: web}
  name: web
  namespace: default
  resourceVersion: "812"
  uid: 0a9a6f6e-1e8c-4a9c-8a4e-3b1f0e4a1c11
spec:
  containers:
  - image: nginx:1
    imagePullPolicy: IfNotPresent
    name: web
    resources: {}
    terminationMessagePath: /dev/termination-log
    terminationMessagePolicy: File
    volumeMounts:
    - {mountPath: /data, name: data}
    - {mountPath: /var/run/secrets/kubernetes.io/serviceaccount, name: kube-api-access-x7k2p, readOnly: true}
  dnsPolicy: ClusterFirst
  enableServiceLinks: true
  nodeName: node-7
  preemptionPolicy: PreemptLowerPriority
  priority: 0
  restartPolicy: Always
  schedulerName: default-scheduler
  securityContext: {}
  serviceAccount: default
  serviceAccountName: default
  terminationGracePeriodSeconds: 30
  tolerations:
  - {effect: NoExecute, key: node.kubernetes.io/not-ready, operator: Exists, tolerationSeconds: 300}
  volumes:
  - {name: data, emptyDir: {}}
  - name: kube-api-access-x7k2p
    projected:
      defaultMode: 420
      sources:
      - serviceAccountToken: {expirationSeconds: 3607, path: token}
      - configMap: {items: [{key: ca.crt, path: ca.crt}], name: kube-root-ca.crt}
      - downwardAPI: {items: [{fieldRef: {apiVersion: v1, fieldPath: metadata.namespace}, path: namespace}]}
status: {phase: Running}
`;
const read = (text: string) => readManifest(text, { file: 'p' });

it('takes what kubectl prints, without what the API server added, and says what that was', () => {
  const { pods, problems, warnings } = read(PRINTED);
  expect(problems).toEqual([]);
  const spec = pods[0]?.pod.spec;
  expect(spec?.volumes?.map(({ name }) => name)).toEqual(['data']);
  expect(spec?.containers[0]?.volumeMounts?.map(({ name }) => name)).toEqual(['data']);
  expect(spec).not.toHaveProperty('serviceAccountName');
  expect(spec).not.toHaveProperty('serviceAccount');
  expect(warnings.map(({ field, message }) => [field, message])).toContainEqual([
    'spec.volumes[1]',
    expect.stringMatching(/^is left out: the API server added it/),
  ]);
});

it.each([
  [
    'an account that a user chose',
    PRINTED.replace('serviceAccount: default', 'serviceAccount: builder').replace(
      'Name: default\n  term',
      'Name: builder\n  term',
    ),
  ],
  ['a token that a user asked for', PRINTED.replaceAll('kube-api-access-x7k2p', 'my-token')],
  ['a mount of that volume elsewhere', PRINTED.replace('/data, name: data', '/token, name: kube-api-access-x7k2p')],
])('refuses %s', (_, text) => {
  expect(read(text).pods).toEqual([]);
  expect(read(text).problems).toHaveLength(1);
});
