import { expect, it } from 'vitest';
import {
  certificateSigningRequestPath,
  certificateSigningRequestsPath,
  configMapPath,
  eventsPath,
  leasePath,
  leasesPath,
  nodePath,
  nodesPath,
  nodeStatusPath,
  podPath,
  podsPath,
  podStatusPath,
  runtimeClassesPath,
  secretPath,
  serviceAccountTokenPath,
  servicesPath,
} from '../../../src/model/kube-api/api-paths.js';

it.each([
  [podsPath(), '/api/v1/pods'],
  [podsPath('ns'), '/api/v1/namespaces/ns/pods'],
  [podPath('ns', 'web'), '/api/v1/namespaces/ns/pods/web'],
  [podStatusPath('ns', 'web'), '/api/v1/namespaces/ns/pods/web/status'],
  [nodesPath(), '/api/v1/nodes'],
  [nodePath('n1'), '/api/v1/nodes/n1'],
  [nodeStatusPath('n1'), '/api/v1/nodes/n1/status'],
  [eventsPath('ns'), '/api/v1/namespaces/ns/events'],
  [configMapPath('ns', 'c'), '/api/v1/namespaces/ns/configmaps/c'],
  [secretPath('ns', 's'), '/api/v1/namespaces/ns/secrets/s'],
  [servicesPath(), '/api/v1/services'],
  [leasesPath('kube-node-lease'), '/apis/coordination.k8s.io/v1/namespaces/kube-node-lease/leases'],
  [leasePath('kube-node-lease', 'n1'), '/apis/coordination.k8s.io/v1/namespaces/kube-node-lease/leases/n1'],
  [runtimeClassesPath(), '/apis/node.k8s.io/v1/runtimeclasses'],
  [serviceAccountTokenPath('ns', 'sa'), '/api/v1/namespaces/ns/serviceaccounts/sa/token'],
  [certificateSigningRequestsPath(), '/apis/certificates.k8s.io/v1/certificatesigningrequests'],
  [certificateSigningRequestPath('r'), '/apis/certificates.k8s.io/v1/certificatesigningrequests/r'],
  // A name with any characters is one part of the path.
  [podPath('a/b', '../c?d#e'), '/api/v1/namespaces/a%2Fb/pods/..%2Fc%3Fd%23e'],
])('%s', (path, expected) => {
  expect(path).toBe(expected);
});
