import { describe, expect, it } from 'vitest';
import { unsupportedVolume, volumeOfPlugin, volumePluginOf } from '../../../src/model/volumes/volume-plugin.js';

const flags = (volume: object): string => {
  const plugin = volumePluginOf({ name: 'v', ...volume });
  if (!plugin) return 'none';
  return [
    plugin.name,
    plugin.hasDirectory && 'directory',
    plugin.isSetUpAgain && 'again',
    plugin.isReadOnly && 'read-only',
    plugin.takesFsGroup && 'group',
    plugin.takesSelinuxLabel && 'label',
  ]
    .filter(Boolean)
    .join(' ');
};

describe('a kind of volume', () => {
  it.each([
    [{ emptyDir: {} }, 'kubernetes.io/empty-dir directory group label'],
    [{ hostPath: { path: '/' } }, 'kubernetes.io/host-path'],
    [{ configMap: {} }, 'kubernetes.io/configmap directory again read-only group label'],
    [{ secret: {} }, 'kubernetes.io/secret directory again read-only group label'],
    [{ downwardAPI: {} }, 'kubernetes.io/downward-api directory again read-only group label'],
    [{ projected: {} }, 'kubernetes.io/projected directory again read-only group label'],
    [{ image: {} }, 'kubernetes.io/image read-only'],
    [{ nfs: { path: '/', server: 's' } }, 'none'],
  ])('%j is %s', (volume, expected) => expect(flags(volume)).toBe(expected));

  it.each(['persistentVolumeClaim', 'csi', 'nfs', 'iscsi', 'ephemeral'])('%s is refused by its name', (kind) => {
    expect(unsupportedVolume({ name: 'data', [kind]: {} })).toBe(
      'failed to get Plugin from volumeSpec for volume "data" err=no volume plugin matched: ' +
        `volumes of kind ${kind} are not supported by this agent`,
    );
  });

  it('is never silently missing', () => {
    expect(unsupportedVolume({ name: 'v' })).toMatch(/volume "v" .* a volume without a source is not supported/);
    expect(unsupportedVolume({ name: 'v', emptyDir: {} })).toBeUndefined();
  });
});

it('finds the kind of a volume by its directory', () => {
  expect(volumeOfPlugin('kubernetes.io/empty-dir', 'v')).toEqual({ name: 'v', emptyDir: {} });
  expect(volumeOfPlugin('kubernetes.io/csi', 'v')).toEqual({ name: 'v' });
  expect(volumeOfPlugin(undefined, 'v')).toEqual({ name: 'v' });
});
