import { expect } from 'vitest';
import { procStatus, running } from './inside.js';
import { limitsOf } from './limits-of.js';
import { overContainerd } from './missing.js';
import { onOneNode } from './one-node.js';

const it = onOneNode((node) => [
  '--config',
  node.configuration({
    seccompDefault: true,
    cpuCFSQuotaPeriod: '20ms',
    featureGates: { CustomCPUCFSQuotaPeriod: true },
  }),
]);

overContainerd('what a node says of all containers', () => {
  it('is a filter of system calls by default', async ({ node }) => {
    node.apply({ name: 'default' });
    node.apply({ name: 'unconfined', securityContext: { seccompProfile: { type: 'Unconfined' } } });
    const mode = async (pod: string) => procStatus((await running(node, pod)).pid, 'Seccomp');
    expect([await mode('default'), await mode('unconfined')]).toEqual(['2', '0']);
  });

  it('is how long a period of CPU time takes', async ({ node }) => {
    node.apply({ name: 'limited', containers: [{ resources: { limits: { cpu: '500m' } } }] });
    const { cpuQuota, cpuPeriod } = limitsOf((await running(node, 'limited')).pid);
    expect({ cpuQuota, cpuPeriod }).toEqual({ cpuQuota: 10_000, cpuPeriod: 20_000 });
  });
});
