import type { Container } from '../pod/pod.js';
import { type FieldIssue, type FieldPath, issue } from './field-issue.js';
import { checkDescendingPath, checkOneOf, checkUnique } from './names.js';
import type { VolumesByName } from './volume-defaults.js';

/** Source: pkg/apis/core/validation/validation.go ValidateVolumeMounts, ValidateVolumeDevices. */
export function* validateMounts(container: Container, volumes: VolumesByName, path: FieldPath): Generator<FieldIssue> {
  const { volumeMounts = [], volumeDevices = [] } = container;
  yield* checkUnique(
    [
      ...volumeMounts.map(({ mountPath }, index) => ({
        key: mountPath,
        path: [...path, 'volumeMounts', index, 'mountPath'],
      })),
      ...volumeDevices.map(({ devicePath }, index) => ({
        key: devicePath,
        path: [...path, 'volumeDevices', index, 'devicePath'],
      })),
    ],
    'path',
  );
  for (const [index, mount] of volumeMounts.entries()) {
    const at = [...path, 'volumeMounts', index];
    if (!volumes.has(mount.name)) {
      yield issue([...at, 'name'], `is ${JSON.stringify(mount.name)}`, namesOf(volumes));
    }
    if (mount.mountPath === '') yield issue([...at, 'mountPath'], 'is empty', 'a path in the container');
    if (mount.subPath && mount.subPathExpr) {
      yield issue([...at, 'subPathExpr'], 'is set beside subPath', 'only one of the two');
    }
    if (mount.subPath) yield* checkDescendingPath(mount.subPath, [...at, 'subPath']);
    if (mount.subPathExpr) yield* checkDescendingPath(mount.subPathExpr, [...at, 'subPathExpr']);
    yield* validatePropagation(mount, container, at);
  }
  for (const [index, device] of volumeDevices.entries()) {
    const at = [...path, 'volumeDevices', index];
    const volume = volumes.get(device.name);
    if (!volume) yield issue([...at, 'name'], `is ${JSON.stringify(device.name)}`, namesOf(volumes));
    else if (!volume.persistentVolumeClaim && !volume.ephemeral) {
      yield issue([...at, 'name'], `is ${JSON.stringify(device.name)}`, 'a persistentVolumeClaim or ephemeral volume');
    }
    if (device.devicePath === '' || device.devicePath.split('/').includes('..')) {
      yield issue([...at, 'devicePath'], `is ${JSON.stringify(device.devicePath)}`, 'a path without ".."');
    }
  }
}

function* validatePropagation(
  { mountPropagation, readOnly, recursiveReadOnly }: NonNullable<Container['volumeMounts']>[number],
  container: Container,
  path: FieldPath,
): Generator<FieldIssue> {
  const at = [...path, 'mountPropagation'];
  yield* checkOneOf(mountPropagation, ['None', 'HostToContainer', 'Bidirectional'], at);
  if (mountPropagation === 'Bidirectional' && !container.securityContext?.privileged) {
    yield issue(at, 'is Bidirectional', 'a privileged container beside it');
  }
  yield* checkOneOf(recursiveReadOnly, ['Disabled', 'IfPossible', 'Enabled'], [...path, 'recursiveReadOnly']);
  if (recursiveReadOnly !== 'IfPossible' && recursiveReadOnly !== 'Enabled') return;
  if (!readOnly) yield issue([...path, 'recursiveReadOnly'], 'is set without readOnly', 'readOnly: true beside it');
  if (mountPropagation !== undefined && mountPropagation !== 'None') {
    yield issue([...path, 'recursiveReadOnly'], `is set beside mountPropagation ${mountPropagation}`, 'None');
  }
}

/** The most names of volumes in a message. */
const MAX_NAMES = 10;

const namesOf = (volumes: VolumesByName): string => {
  if (volumes.size === 0) return 'the name of a volume; the pod has none';
  const names: string[] = [];
  for (const name of volumes.keys()) {
    if (names.length === MAX_NAMES) break;
    names.push(name);
  }
  const more = volumes.size > MAX_NAMES ? `, and ${volumes.size - MAX_NAMES} more` : '';
  return `the name of a volume: ${names.join(', ')}${more}`;
};
