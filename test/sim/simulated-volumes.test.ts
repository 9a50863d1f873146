import { describe, expect, it } from 'vitest';
import { FileTree } from '../../src/tools/sim/disk/file-tree.js';
import { SimulatedVolumes } from '../../src/tools/sim/disk/simulated-volumes.js';

const POD = '/pods/u';
const DIRECTORY = `${POD}/volumes/kubernetes.io~secret/keys`;
const SETUP = {
  directory: DIRECTORY,
  markerDirectory: `${POD}/plugins/kubernetes.io~empty-dir/wrapped_keys`,
  mount: { type: 'tmpfs', source: 'tmpfs', options: [] },
} as const;
const TARGET = `${POD}/volume-subpaths/keys/main/0`;
const BIND = { volumeDirectory: DIRECTORY, subPath: 'a', target: TARGET };

const stage = () => {
  const changes: string[] = [];
  const volumes = new SimulatedVolumes(new FileTree(() => 0), (kind, path) => void changes.push(`${kind} ${path}`));
  return { volumes, changes };
};
const files = (text: string) => new Map([['key', { data: new TextEncoder().encode(text), mode: 0o644 }]]);

describe('simulated volumes', () => {
  it('are found by plugin and name, mounted, and reported once, however often they are set up', () => {
    const { volumes, changes } = stage();
    volumes.setUp(SETUP);
    volumes.setUp(SETUP);
    expect(volumes.found(POD)).toEqual([{ plugin: 'kubernetes.io/secret', name: 'keys' }]);
    expect(volumes.mountsBelow(POD)).toEqual([DIRECTORY]);
    expect(changes).toEqual([`volume-made ${DIRECTORY}`]);
  });

  it('change only with their content', () => {
    const { volumes } = stage();
    volumes.setUp(SETUP);
    expect(['1', '1', '2'].map((text) => volumes.write(DIRECTORY, files(text)))).toEqual([
      'changed',
      'unchanged',
      'changed',
    ]);
  });

  it('are found by their sub-paths once the volume itself is gone', () => {
    const { volumes, changes } = stage();
    volumes.setUp(SETUP);
    volumes.bindSubPath(BIND);
    volumes.tearDown(SETUP);
    expect(volumes.found(POD)).toEqual([{ name: 'keys' }]);
    volumes.unbindSubPaths(`${POD}/volume-subpaths/keys`);
    expect([volumes.found(POD), volumes.mountsBelow(POD)]).toEqual([[], []]);
    expect(changes).toEqual([
      `volume-made ${DIRECTORY}`,
      `volume-made ${TARGET}`,
      `volume-gone ${DIRECTORY}`,
      `volume-gone ${TARGET}`,
    ]);
  });
});
