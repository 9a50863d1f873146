import { Registry } from 'prom-client';
import { expect, it } from 'vitest';
import { admissionMetrics } from '../../../src/server/metrics/admission-metrics.js';

it('counts rejections by the reasons of the kubelet, and all others under one', async () => {
  const registry = new Registry();
  const { admissionRejected } = admissionMetrics(registry);
  for (const reason of [
    ...['AppArmor', 'SysctlForbidden', 'PodOSSelectorNodeLabelDoesNotMatch', 'PodOSNotSupported'],
    ...['SupplementalGroupsPolicyNotSupported', 'OutOfcpu', 'OutOfmemory', 'OutOfephemeral-storage', 'OutOfpods'],
    ...['OutOfpods', 'OutOfexample.com/gpu', 'OutOfhugepages-2Mi', 'NodeAffinity', 'TaintToleration'],
    ...['Evicted', 'NodeShutdown', 'UnexpectedAdmissionError'],
  ]) {
    admissionRejected(reason);
  }
  const name = 'kubelet_admission_rejections_total';
  expect(
    (await registry.metrics()).split('\n').filter((line) => line.includes(name) && !line.includes('HELP')),
  ).toEqual([
    `# TYPE ${name} counter`,
    `${name}{reason="AppArmor"} 1`,
    `${name}{reason="SysctlForbidden"} 1`,
    `${name}{reason="PodOSSelectorNodeLabelDoesNotMatch"} 1`,
    `${name}{reason="PodOSNotSupported"} 1`,
    `${name}{reason="SupplementalGroupsPolicyNotSupported"} 1`,
    `${name}{reason="OutOfcpu"} 1`,
    `${name}{reason="OutOfmemory"} 1`,
    `${name}{reason="OutOfephemeral-storage"} 1`,
    `${name}{reason="OutOfpods"} 2`,
    `${name}{reason="OutOfExtendedResources"} 2`,
    `${name}{reason="Other"} 2`,
    `${name}{reason="Evicted"} 1`,
    `${name}{reason="NodeShutdown"} 1`,
    `${name}{reason="UnexpectedAdmissionError"} 1`,
  ]);
});
