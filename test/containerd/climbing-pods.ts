import type { PodSpec } from '../../src/model/pod/pod.js';
import type { ContainerOf } from '../embedded/manifests.js';

type Volumes = NonNullable<PodSpec['volumes']>;

/** Pods with a path that leads up to the folder `sentinel` of the root directory, the field of the path, and the path. */
export const CLIMBING_PODS: readonly {
  readonly name: string;
  readonly volumes?: Volumes;
  readonly container?: ContainerOf;
  readonly field: string;
  readonly path: string;
}[] = (() => {
  const up = '../../../sentinel/folder/new';
  const volumes: Volumes = [{ name: 'data', configMap: { name: 'any' } }];
  const mount = (fields: object): ContainerOf => ({ volumeMounts: [{ name: 'data', mountPath: '/data', ...fields }] });
  const items = [{ key: 'one', path: up }];
  const at = 'spec.volumes[0]';
  return [
    {
      name: 'up-config',
      volumes: [{ name: 'data', configMap: { name: 'any', items } }],
      field: `${at}.configMap.items[0].path`,
    },
    {
      name: 'up-secret',
      volumes: [{ name: 'data', secret: { secretName: 'any', items } }],
      field: `${at}.secret.items[0].path`,
    },
    {
      name: 'up-downward',
      volumes: [{ name: 'data', downwardAPI: { items: [{ path: up, fieldRef: { fieldPath: 'metadata.name' } }] } }],
      field: `${at}.downwardAPI.items[0].path`,
    },
    {
      name: 'up-projected',
      volumes: [{ name: 'data', projected: { sources: [{ configMap: { name: 'any', items } }] } }],
      field: `${at}.projected.sources[0].configMap.items[0].path`,
    },
    {
      name: 'up-host',
      volumes: [{ name: 'data', hostPath: { path: `/tmp/${up}`, type: 'DirectoryOrCreate' } }],
      field: `${at}.hostPath.path`,
      path: `/tmp/${up}`,
    },
    { name: 'up-sub', container: mount({ subPath: up }), field: 'spec.containers[0].volumeMounts[0].subPath' },
    {
      name: 'up-expr',
      container: mount({ subPathExpr: `a/${up}` }),
      field: 'spec.containers[0].volumeMounts[0].subPathExpr',
      path: `a/${up}`,
    },
  ].map((row) => ({ path: up, volumes, container: mount({}), ...row }));
})();
