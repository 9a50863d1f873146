import { describe, expect, it } from 'vitest';
import {
  configMapNames,
  configMapNamesInEnv,
  secretNames,
  secretNamesInEnv,
} from '../../../src/model/references/referenced-names.js';
import type { Container, PodSpec } from '../../../src/model/pod/pod.js';
import { aPod } from '../../support/a-pod.js';

/** One of each kind of reference, by names that say where they stand. */
const refers = (at: string): Partial<Container> => ({
  envFrom: [{ configMapRef: { name: `cm-from-${at}` } }, { secretRef: { name: `s-from-${at}` } }, { configMapRef: {} }],
  env: [
    { name: 'A', valueFrom: { configMapKeyRef: { name: `cm-key-${at}`, key: 'k' } } },
    { name: 'B', valueFrom: { secretKeyRef: { name: `s-key-${at}`, key: 'k' } } },
    { name: 'C', value: 'plain' },
  ],
});
const volumes = [
  { name: 'a', configMap: { name: 'cm-volume' } },
  { name: 'b', secret: { secretName: 's-volume' } },
  { name: 'c', projected: { sources: [{ configMap: { name: 'cm-part' } }, { secret: { name: 's-part' } }, {}] } },
  { name: 'd', azureFile: { secretName: 's-azure', shareName: 'x' } },
  { name: 'e', cephfs: { monitors: [], secretRef: { name: 's-ceph' } } },
  { name: 'f', cinder: { volumeID: 'x', secretRef: { name: 's-cinder' } } },
  { name: 'g', flexVolume: { driver: 'x', secretRef: { name: 's-flex' } } },
  { name: 'h', rbd: { monitors: [], image: 'x', secretRef: { name: 's-rbd' } } },
  { name: 'i', scaleIO: { gateway: 'x', system: 'x', secretRef: { name: 's-scale' } } },
  { name: 'j', iscsi: { iqn: 'x', lun: 0, targetPortal: 'x', secretRef: { name: 's-iscsi' } } },
  { name: 'k', storageos: { secretRef: { name: 's-storage' } } },
  { name: 'l', csi: { driver: 'x', nodePublishSecretRef: { name: 's-csi' } } },
  { name: 'm', emptyDir: {} },
] satisfies PodSpec['volumes'];

const pod = aPod({
  spec: {
    imagePullSecrets: [{ name: 's-pull' }, { name: '' }, {}],
    initContainers: [{ name: 'i', ...refers('init') }],
    containers: [
      { name: 'c', ...refers('main') },
      { name: 'again', ...refers('main') },
    ],
    ephemeralContainers: [{ name: 'e', ...refers('debug') }],
    volumes,
  },
});

describe('the names of objects that a pod refers to', () => {
  it('are those of ConfigMaps, each once', () => {
    expect([...configMapNames(pod)]).toEqual([
      'cm-from-init',
      'cm-key-init',
      'cm-from-main',
      'cm-key-main',
      'cm-from-debug',
      'cm-key-debug',
      'cm-volume',
      'cm-part',
    ]);
  });

  it('are those of Secrets, each once', () => {
    expect([...secretNames(pod)].sort()).toEqual([
      's-azure',
      's-ceph',
      's-cinder',
      's-csi',
      's-flex',
      's-from-debug',
      's-from-init',
      's-from-main',
      's-iscsi',
      's-key-debug',
      's-key-init',
      's-key-main',
      's-part',
      's-pull',
      's-rbd',
      's-scale',
      's-storage',
      's-volume',
    ]);
  });

  it('are none of a pod that names nothing', () => {
    expect([...configMapNames(aPod()), ...secretNames(aPod())]).toEqual([]);
  });

  it('are those of one container for its environment', () => {
    const container = { name: 'c', ...refers('main') };
    expect([...configMapNamesInEnv(container)]).toEqual(['cm-from-main', 'cm-key-main']);
    expect([...secretNamesInEnv(container)]).toEqual(['s-from-main', 's-key-main']);
  });
});
