import { describe, expect } from 'vitest';
import type { Node } from '../../src/model/node/node.js';
import type { Pod } from '../../src/model/pod/pod.js';
import { apiOverHttp } from './api-over-http.js';
import { it, NODE_NAME } from './daemon.js';
import { eventually } from './eventually.js';
import { joined } from './joined.js';
import { type ContainerOf, manifest } from './manifests.js';

const NAME = `fused-${NODE_NAME}`;
const PODS = '/api/v1/namespaces/default/pods';
/** The scheduler places a pod with such a rule only on a node that declares this. */
const REQUIRED = 'RestartAllContainersOnContainerExits';

/** Ends with 42 once, and then sleeps. */
const fuse = {
  name: 'fuse',
  script: '[ -e "$DIR/burnt" ] && exec sleep 2147483; touch "$DIR/burnt"; exit 42',
  restartPolicy: 'Never',
  restartPolicyRules: [{ action: 'RestartAllContainers', exitCodes: { operator: 'In', values: [42] } }],
} as ContainerOf;

describe('a pod with a rule that restarts all containers', () => {
  it('a pod with such a rule finds a node that declares the feature, and all its containers are restarted', async ({
    daemon,
  }) => {
    const api = await apiOverHttp(NODE_NAME);
    try {
      api.server.do({
        ...{ method: 'POST', path: '/api/v1/namespaces/default/serviceaccounts' },
        body: { metadata: { name: 'robot' } },
      });
      await daemon.start('--kubeconfig', joined(daemon.directory, api.url), '--port', '0');
      const node = () => api.server.get(`/api/v1/nodes/${NODE_NAME}`) as unknown as Node | undefined;
      await eventually('the node declares the feature', () =>
        (node()?.status?.declaredFeatures ?? []).includes(REQUIRED),
      );
      const containers = [{ name: 'main' }, fuse];
      const pod = { name: NAME, nodeName: NODE_NAME, serviceAccountName: 'robot', containers };
      const body = JSON.parse(manifest(daemon.directory, pod)) as unknown;
      api.server.do({ method: 'POST', path: PODS, body });
      const status = () => (api.server.get(`${PODS}/${NAME}`) as unknown as Pod | undefined)?.status;
      await eventually('both containers run again', () => {
        const all = status()?.containerStatuses ?? [];
        return all.length === 2 && all.every(({ state, restartCount }) => state?.running && restartCount === 1);
      });
      expect(status()?.phase).toBe('Running');
      api.server.do({ method: 'DELETE', path: `${PODS}/${NAME}` });
      await eventually('the pod is gone', () => status() === undefined);
    } finally {
      await daemon.kill('SIGKILL');
      api.close();
    }
  });
});
