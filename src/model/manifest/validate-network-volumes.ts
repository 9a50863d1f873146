import { type FieldIssue, type FieldPath, issue } from './field-issue.js';
import { checkDescendingPath, checkOneOf, checkRange, checkText, DNS_LABEL } from './names.js';
import type { Volume } from './volume-defaults.js';

const LUNS = [0, 255] as const;
const PARTITIONS = [0, 255] as const;
const IQN = /iqn\.\d{4}-\d{2}\.[A-Za-z0-9.-]+:[^,;*&$|\s]+$/;
const EUI = /^eui.[A-Za-z0-9]{16}$/;
const NAA = /^naa.[A-Za-z0-9]{32}$/;

/**
 * Volumes of storage systems that kubelets no longer support, or leave to drivers. The API still validates their
 * fields.
 *
 * Source: pkg/apis/core/validation/validation.go validateVolumeSource.
 */
export function* validateNetworkVolume(volume: Volume, path: FieldPath): Generator<FieldIssue> {
  const { awsElasticBlockStore, gcePersistentDisk, gitRepo, iscsi, fc, rbd, cephfs, flocker, quobyte, azureDisk } =
    volume;
  if (awsElasticBlockStore) {
    const at = [...path, 'awsElasticBlockStore'];
    yield* required(awsElasticBlockStore.volumeID, [...at, 'volumeID']);
    yield* checkRange(awsElasticBlockStore.partition, PARTITIONS, [...at, 'partition']);
  }
  if (gcePersistentDisk) {
    const at = [...path, 'gcePersistentDisk'];
    yield* required(gcePersistentDisk.pdName, [...at, 'pdName']);
    yield* checkRange(gcePersistentDisk.partition, PARTITIONS, [...at, 'partition']);
  }
  yield* validateNames(volume, path);
  if (gitRepo) {
    yield* required(gitRepo.repository, [...path, 'gitRepo', 'repository']);
    yield* checkDescendingPath(gitRepo.directory ?? '', [...path, 'gitRepo', 'directory']);
  }
  if (iscsi) yield* validateIscsi(iscsi, [...path, 'iscsi']);
  if (fc) yield* validateFc(fc, [...path, 'fc']);
  if (rbd) {
    yield* required(rbd.monitors, [...path, 'rbd', 'monitors']);
    yield* required(rbd.image, [...path, 'rbd', 'image']);
  }
  if (cephfs) yield* required(cephfs.monitors, [...path, 'cephfs', 'monitors']);
  if (flocker) {
    const at = [...path, 'flocker'];
    const names = [flocker.datasetName, flocker.datasetUUID].filter((name) => name);
    if (names.length !== 1) yield issue(at, `has ${names.length} names`, 'datasetName or datasetUUID');
    if (flocker.datasetName?.includes('/')) yield issue([...at, 'datasetName'], 'contains "/"', 'a name without it');
  }
  if (quobyte) yield* validateQuobyte(quobyte, [...path, 'quobyte']);
  if (azureDisk) yield* validateAzureDisk(azureDisk, [...path, 'azureDisk']);
}

/** The required fields of each kind. */
function* validateNames(volume: Volume, path: FieldPath): Generator<FieldIssue> {
  const {
    portworxVolume,
    storageos,
    cinder,
    scaleIO,
    vsphereVolume,
    photonPersistentDisk,
    nfs,
    glusterfs,
    flexVolume,
  } = volume;
  if (portworxVolume) yield* required(portworxVolume.volumeID, [...path, 'portworxVolume', 'volumeID']);
  if (storageos) {
    const at = [...path, 'storageos'];
    yield* required(storageos.volumeName, [...at, 'volumeName']);
    if (storageos.volumeNamespace) yield* checkText(storageos.volumeNamespace, DNS_LABEL, [...at, 'volumeNamespace']);
    if (storageos.secretRef) yield* required(storageos.secretRef.name, [...at, 'secretRef', 'name']);
  }
  if (cinder) {
    yield* required(cinder.volumeID, [...path, 'cinder', 'volumeID']);
    if (cinder.secretRef) yield* required(cinder.secretRef.name, [...path, 'cinder', 'secretRef', 'name']);
  }
  if (flexVolume) yield* validateFlexVolume(flexVolume, [...path, 'flexVolume']);
  if (vsphereVolume) yield* required(vsphereVolume.volumePath, [...path, 'vsphereVolume', 'volumePath']);
  if (photonPersistentDisk) yield* required(photonPersistentDisk.pdID, [...path, 'photonPersistentDisk', 'pdID']);
  if (nfs) yield* required(nfs.server, [...path, 'nfs', 'server']);
  for (const field of ['gateway', 'system', 'volumeName'] as const) {
    if (scaleIO) yield* required(scaleIO[field], [...path, 'scaleIO', field]);
  }
  for (const field of ['endpoints', 'path'] as const) {
    if (glusterfs) yield* required(glusterfs[field], [...path, 'glusterfs', field]);
  }
}

function* validateFlexVolume(
  { driver, options = {} }: NonNullable<Volume['flexVolume']>,
  path: FieldPath,
): Generator<FieldIssue> {
  yield* required(driver, [...path, 'driver']);
  for (const key of Object.keys(options)) {
    const [domain = ''] = key.split('/', 1);
    if (!/(^|\.)(kubernetes|k8s)\.io$/.test(domain.toLowerCase())) continue;
    yield { ...issue([...path, 'options', key], 'is a name of Kubernetes itself', 'another key'), atKey: true };
  }
}

function* required(value: string | readonly string[] | undefined, path: FieldPath): Generator<FieldIssue> {
  if (!value || value.length === 0) yield issue(path, 'is missing', 'a value');
}

function* validateIscsi(iscsi: NonNullable<Volume['iscsi']>, path: FieldPath): Generator<FieldIssue> {
  yield* required(iscsi.targetPortal, [...path, 'targetPortal']);
  yield* required(iscsi.iqn, [...path, 'iqn']);
  if (iscsi.iqn) yield* checkIscsiName(iscsi.iqn, [...path, 'iqn']);
  yield* checkRange(iscsi.lun, LUNS, [...path, 'lun']);
  if ((iscsi.chapAuthDiscovery || iscsi.chapAuthSession) && !iscsi.secretRef) {
    yield issue([...path, 'secretRef'], 'is missing', 'a secret for CHAP authentication');
  }
  if (iscsi.initiatorName !== undefined) yield* checkIscsiName(iscsi.initiatorName, [...path, 'initiatorName']);
}

function* checkIscsiName(name: string, path: FieldPath): Generator<FieldIssue> {
  const pattern = { iqn: IQN, eui: EUI, naa: NAA }[name.slice(0, 3)];
  if (!pattern?.test(name))
    yield issue(path, `is ${JSON.stringify(name)}`, 'a name that begins with iqn., eui. or naa.');
}

function* validateFc(fc: NonNullable<Volume['fc']>, path: FieldPath): Generator<FieldIssue> {
  const [names, ids] = [fc.targetWWNs?.length ?? 0, fc.wwids?.length ?? 0];
  if ((names === 0) === (ids === 0))
    yield issue([...path, 'targetWWNs'], names === 0 ? 'is missing' : 'is set beside wwids', 'targetWWNs or wwids');
  if (names === 0) return;
  if (fc.lun === undefined) yield issue([...path, 'lun'], 'is missing', 'a number beside targetWWNs');
  yield* checkRange(fc.lun, LUNS, [...path, 'lun']);
}

function* validateQuobyte(quobyte: NonNullable<Volume['quobyte']>, path: FieldPath): Generator<FieldIssue> {
  const { registry, tenant, volume } = quobyte;
  if (!registry) yield issue([...path, 'registry'], 'is missing', 'host:port pairs');
  else if ((tenant?.length ?? 0) >= 65) yield issue([...path, 'tenant'], 'is too long', 'at most 64 characters');
  else if (!registry.split(',').every((pair) => /^([^:[\]]*|\[[^[\]]*\]):[^:[\]]*$/.test(pair))) {
    yield issue([...path, 'registry'], `is ${JSON.stringify(registry)}`, 'host:port pairs');
  }
  yield* required(volume, [...path, 'volume']);
}

function* validateAzureDisk(disk: NonNullable<Volume['azureDisk']>, path: FieldPath): Generator<FieldIssue> {
  yield* required(disk.diskName, [...path, 'diskName']);
  yield* required(disk.diskURI, [...path, 'diskURI']);
  yield* checkOneOf(disk.cachingMode, ['None', 'ReadOnly', 'ReadWrite'], [...path, 'cachingMode']);
  yield* checkOneOf(disk.kind, ['Shared', 'Dedicated', 'Managed'], [...path, 'kind']);
  if (disk.kind === undefined) return;
  const start = disk.kind === 'Managed' ? '/subscriptions/' : 'https://';
  if (!disk.diskURI.startsWith(start)) {
    yield issue([...path, 'diskURI'], `is ${JSON.stringify(disk.diskURI)}`, `a path that begins with ${start}`);
  }
}
