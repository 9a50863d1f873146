import type { Row } from './bad-pods.js';
import { withBoth, withContainer, withSpec } from './marked.js';

const C = 'spec.containers[0]';
const VOLUME = 'volumes: [{name: v, emptyDir: {}}]';

const named = (source: string) => withSpec(`volumes: [{name: v, ${source}}]`);

export const STORAGE: readonly Row[] = [
  ['spec.volumes[0].awsElasticBlockStore.volumeID', 'is missing', named('awsElasticBlockStore: {volumeID: ▸""}')],
  [
    'spec.volumes[0].awsElasticBlockStore.partition',
    'is 256',
    named('awsElasticBlockStore: {volumeID: a, partition: ▸256}'),
  ],
  ['spec.volumes[0].gcePersistentDisk.pdName', 'is missing', named('gcePersistentDisk: {pdName: ▸""}')],
  ['spec.volumes[0].gcePersistentDisk.partition', 'is -1', named('gcePersistentDisk: {pdName: a, partition: ▸-1}')],
  ['spec.volumes[0].portworxVolume.volumeID', 'is missing', named('portworxVolume: {volumeID: ▸""}')],
  ['spec.volumes[0].storageos.volumeName', 'is missing', named('storageos: ▸{}')],
  ['spec.volumes[0].storageos.volumeNamespace', 'is "A"', named('storageos: {volumeName: a, volumeNamespace: ▸A}')],
  ['spec.volumes[0].storageos.secretRef.name', 'is missing', named('storageos: {volumeName: a, secretRef: ▸{}}')],
  ['spec.volumes[0].cinder.volumeID', 'is missing', named('cinder: {volumeID: ▸""}')],
  ['spec.volumes[0].cinder.secretRef.name', 'is missing', named('cinder: {volumeID: a, secretRef: ▸{}}')],
  [
    'spec.volumes[0].scaleIO.volumeName',
    'is missing',
    named('scaleIO: ▸{gateway: a, system: b, secretRef: {name: s}}'),
  ],
  ['spec.volumes[0].vsphereVolume.volumePath', 'is missing', named('vsphereVolume: {volumePath: ▸""}')],
  ['spec.volumes[0].photonPersistentDisk.pdID', 'is missing', named('photonPersistentDisk: {pdID: ▸""}')],
  ['spec.volumes[0].nfs.server', 'is missing', named('nfs: {path: /a, server: ▸""}')],
  ['spec.volumes[0].glusterfs.path', 'is missing', named('glusterfs: {endpoints: a, path: ▸""}')],
  ['spec.volumes[0].flexVolume.driver', 'is missing', named('flexVolume: {driver: ▸""}')],
  [
    'spec.volumes[0].flexVolume.options["a.k8s.io/b"]',
    'is a name of Kubernetes itself',
    named('flexVolume: {driver: a, options: {▸a.k8s.io/b: c}}'),
  ],
  ['spec.volumes[0].gitRepo.repository', 'is missing', withSpec('volumes: [{name: v, gitRepo: {repository: ▸""}}]')],
  ['spec.volumes[0].iscsi.iqn', 'is "x"', withSpec('volumes: [{name: v, iscsi: {targetPortal: a, iqn: ▸x, lun: 1}}]')],
  [
    'spec.volumes[0].iscsi.lun',
    'is 256',
    withSpec('volumes: [{name: v, iscsi: {targetPortal: a, iqn: "iqn.2001-04.com.a:b", lun: ▸256}}]'),
  ],
  ['spec.volumes[0].fc.targetWWNs', 'is missing', withSpec('volumes: [{name: v, fc: ▸{}}]')],
  ['spec.volumes[0].fc.lun', 'is missing', withSpec('volumes: [{name: v, fc: ▸{targetWWNs: [a]}}]')],
  ['spec.volumes[0].rbd.image', 'is missing', withSpec('volumes: [{name: v, rbd: {monitors: [a], image: ▸""}}]')],
  ['spec.volumes[0].cephfs.monitors', 'is missing', withSpec('volumes: [{name: v, cephfs: {monitors: ▸[]}}]')],
  ['spec.volumes[0].flocker', 'has 0 names', withSpec('volumes: [{name: v, flocker: ▸{}}]')],
  [
    'spec.volumes[0].flocker.datasetName',
    'contains "/"',
    withSpec('volumes: [{name: v, flocker: {datasetName: ▸a/b}}]'),
  ],
  [
    'spec.volumes[0].iscsi.secretRef',
    'is missing',
    withSpec(
      'volumes: [{name: v, iscsi: ▸{targetPortal: a, iqn: "iqn.2001-04.com.a:b", lun: 1, chapAuthSession: true}}]',
    ),
  ],
  [
    'spec.volumes[0].iscsi.initiatorName',
    'is "me"',
    withSpec('volumes: [{name: v, iscsi: {targetPortal: a, iqn: "iqn.2001-04.com.a:b", lun: 1, initiatorName: ▸me}}]'),
  ],
  [
    'spec.volumes[0].fc.targetWWNs',
    'is set beside wwids',
    withSpec('volumes: [{name: v, fc: {targetWWNs: ▸[a], wwids: [b], lun: 1}}]'),
  ],
  [
    'spec.volumes[0].quobyte.registry',
    'is missing',
    withSpec('volumes: [{name: v, quobyte: {registry: ▸"", volume: b}}]'),
  ],
  [
    'spec.volumes[0].quobyte.tenant',
    'is too long',
    withSpec(`volumes: [{name: v, quobyte: {registry: "a:1", volume: b, tenant: ▸${'t'.repeat(65)}}}]`),
  ],
  [
    'spec.volumes[0].azureDisk.diskURI',
    'that begins with https://',
    withSpec('volumes: [{name: v, azureDisk: {diskName: a, diskURI: ▸x}}]'),
  ],
  ['spec.volumes[0].quobyte.registry', 'is "a"', withSpec('volumes: [{name: v, quobyte: {registry: ▸a, volume: b}}]')],
  [
    'spec.volumes[0].azureDisk.diskURI',
    'is "x"',
    withSpec('volumes: [{name: v, azureDisk: {diskName: a, diskURI: ▸x, kind: Managed}}]'),
  ],
];

export const VOLUMES: readonly Row[] = [
  ['spec.volumes[0].name', 'is "A"', withSpec('volumes: [{name: ▸A}]')],
  ['spec.volumes[1].name', 'a second time', withSpec('volumes: [{name: a}, {name: ▸a}]')],
  ['spec.volumes[0].hostPath', 'second kind', withSpec('volumes: [{name: a, emptyDir: {}, ▸hostPath: {path: /a}}]')],
  ['spec.volumes[0].hostPath.path', 'is empty', withSpec('volumes: [{name: a, hostPath: {path: ▸""}}]')],
  ['spec.volumes[0].hostPath.path', 'without ".."', withSpec('volumes: [{name: a, hostPath: {path: ▸/a/../b}}]')],
  ['spec.volumes[0].hostPath.type', 'is "Dir"', withSpec('volumes: [{name: a, hostPath: {path: /a, type: ▸Dir}}]')],
  ['spec.volumes[0].emptyDir.medium', 'is "RAM"', withSpec('volumes: [{name: a, emptyDir: {medium: ▸RAM}}]')],
  ['spec.volumes[0].emptyDir.sizeLimit', 'is -1Mi', withSpec('volumes: [{name: a, emptyDir: {sizeLimit: ▸-1Mi}}]')],
  ['spec.volumes[0].secret.secretName', 'is missing', withSpec('volumes: [{name: a, secret: ▸{}}]')],
  ['spec.volumes[0].configMap.name', 'is missing', withSpec('volumes: [{name: a, configMap: ▸{optional: true}}]')],
  [
    'spec.volumes[0].configMap.defaultMode',
    'is 512',
    withSpec('volumes: [{name: a, configMap: {name: a, defaultMode: ▸01000}}]'),
  ],
  [
    'spec.volumes[0].configMap.items[0].path',
    'absolute path',
    withSpec('volumes: [{name: a, configMap: {name: a, items: [{key: k, path: ▸/p}]}}]'),
  ],
  [
    'spec.volumes[0].configMap.items[0].mode',
    'is -1',
    withSpec('volumes: [{name: a, configMap: {name: a, items: [{key: k, path: p, mode: ▸-1}]}}]'),
  ],
  [
    'spec.volumes[0].downwardAPI.items[0]',
    'has no source',
    withSpec('volumes: [{name: a, downwardAPI: {items: [▸{path: p}]}}]'),
  ],
  [
    'spec.volumes[0].downwardAPI.items[0].fieldRef.fieldPath',
    'is "status.podIP"',
    withSpec('volumes: [{name: a, downwardAPI: {items: [{path: p, fieldRef: {fieldPath: ▸status.podIP}}]}}]'),
  ],
  [
    'spec.volumes[0].downwardAPI.items[0].resourceFieldRef.containerName',
    'is missing',
    withSpec('volumes: [{name: a, downwardAPI: {items: [{path: p, resourceFieldRef: ▸{resource: limits.cpu}}]}}]'),
  ],
  [
    'spec.volumes[0].downwardAPI.items[0].path',
    'does not begin with',
    withSpec('volumes: [{name: a, downwardAPI: {items: [{path: ▸..p, fieldRef: {fieldPath: metadata.name}}]}}]'),
  ],
  [
    'spec.volumes[0].projected.sources[0]',
    'names no source',
    withSpec('volumes: [{name: a, projected: {sources: [▸{}]}}]'),
  ],
  [
    'spec.volumes[0].projected.sources[0].secret',
    'second kind',
    withSpec('volumes: [{name: a, projected: {sources: [{configMap: {name: a}, ▸secret: {name: a}}]}}]'),
  ],
  [
    'spec.volumes[0].projected.sources[0].serviceAccountToken.expirationSeconds',
    'is 60',
    withSpec('volumes: [{name: a, projected: {sources: [{serviceAccountToken: {path: t, expirationSeconds: ▸60}}]}}]'),
  ],
  [
    'spec.volumes[0].projected.sources[1].configMap.items[0].path',
    'a second time',
    withSpec(
      'volumes: [{name: a, projected: {sources: [{secret: {name: a, items: [{key: k, path: p}]}}, {configMap: {name: a, items: [{key: k, path: ▸p}]}}]}}]',
    ),
  ],
  [
    'spec.volumes[0].persistentVolumeClaim.claimName',
    'is empty',
    withSpec('volumes: [{name: a, persistentVolumeClaim: {claimName: ▸""}}]'),
  ],
  [
    'spec.volumes[0].secret.items[0].key',
    'is empty',
    withSpec('volumes: [{name: a, secret: {secretName: a, items: [{key: ▸"", path: p}]}}]'),
  ],
  [
    'spec.volumes[0].downwardAPI.items[0].resourceFieldRef',
    'is set beside fieldRef',
    withSpec(
      'volumes: [{name: a, downwardAPI: {items: [{path: p, fieldRef: {fieldPath: metadata.name}, resourceFieldRef: ▸{containerName: c, resource: limits.cpu}}]}}]',
    ),
  ],
  [
    'spec.volumes[0].projected.sources[0].configMap.name',
    'is missing',
    withSpec('volumes: [{name: a, projected: {sources: [{configMap: ▸{}}]}}]'),
  ],
  [
    'spec.volumes[0].projected.sources[1].downwardAPI.items[0].path',
    'a second time',
    withSpec(
      'volumes: [{name: a, projected: {sources: [{secret: {name: a, items: [{key: k, path: p}]}}, {downwardAPI: {items: [{path: ▸p, fieldRef: {fieldPath: metadata.name}}]}}]}}]',
    ),
  ],
  ['spec.volumes[0].nfs.path', 'absolute path', withSpec('volumes: [{name: a, nfs: {server: s, path: ▸p}}]')],
  [`${C}.volumeMounts[0].name`, 'the pod has none', withContainer('volumeMounts: [{name: ▸v, mountPath: /a}]')],
  [
    `${C}.volumeMounts[0].name`,
    'the name of a volume: v',
    withBoth('volumeMounts: [{name: ▸w, mountPath: /a}]', VOLUME),
  ],
  [
    `${C}.volumeMounts[1].mountPath`,
    'a second time',
    withBoth('volumeMounts: [{name: v, mountPath: /a}, {name: v, mountPath: ▸/a}]', VOLUME),
  ],
  [
    `${C}.volumeMounts[0].subPath`,
    'without ".."',
    withBoth('volumeMounts: [{name: v, mountPath: /a, subPath: ▸../b}]', VOLUME),
  ],
  [
    `${C}.volumeMounts[0].subPathExpr`,
    'beside subPath',
    withBoth('volumeMounts: [{name: v, mountPath: /a, subPath: b, subPathExpr: ▸c}]', VOLUME),
  ],
  [
    `${C}.volumeMounts[0].mountPropagation`,
    'is "Both"',
    withBoth('volumeMounts: [{name: v, mountPath: /a, mountPropagation: ▸Both}]', VOLUME),
  ],
  [
    `${C}.volumeMounts[0].mountPropagation`,
    'is Bidirectional',
    withBoth('volumeMounts: [{name: v, mountPath: /a, mountPropagation: ▸Bidirectional}]', VOLUME),
  ],
  [
    `${C}.volumeMounts[0].recursiveReadOnly`,
    'without readOnly',
    withBoth('volumeMounts: [{name: v, mountPath: /a, recursiveReadOnly: ▸Enabled}]', VOLUME),
  ],
  [`${C}.volumeMounts[0].mountPath`, 'is empty', withBoth('volumeMounts: [{name: v, mountPath: ▸""}]', VOLUME)],
  [
    `${C}.volumeMounts[0].recursiveReadOnly`,
    'is set beside mountPropagation HostToContainer',
    withBoth(
      'volumeMounts: [{name: v, mountPath: /a, readOnly: true, mountPropagation: HostToContainer, recursiveReadOnly: ▸Enabled}]',
      VOLUME,
    ),
  ],
  [
    `${C}.volumeMounts[0].name`,
    'v8, v9, and 2 more',
    withBoth(
      'volumeMounts: [{name: ▸w, mountPath: /a}]',
      `volumes: [${Array.from({ length: 12 }, (_, index) => `{name: v${index}}`).join()}]`,
    ),
  ],
  [`${C}.volumeDevices[0].name`, 'the pod has none', withContainer('volumeDevices: [{name: ▸v, devicePath: /dev/a}]')],
  [
    `${C}.volumeDevices[0].devicePath`,
    'without ".."',
    withBoth(
      'volumeDevices: [{name: v, devicePath: ▸/dev/../a}]',
      'volumes: [{name: v, persistentVolumeClaim: {claimName: a}}]',
    ),
  ],
  [
    `${C}.volumeDevices[0].name`,
    'a persistentVolumeClaim or',
    withBoth('volumeDevices: [{name: ▸v, devicePath: /dev/a}]', VOLUME),
  ],
];
