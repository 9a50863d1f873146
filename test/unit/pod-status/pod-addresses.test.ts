import { describe, expect, it } from 'vitest';
import type { PodStatusInput } from '../../../src/model/pod-status/generate-pod-status.js';
import { aPod, aRuntimePod, aStatus, exited } from '../pods.js';
import { generate } from './generate.js';

describe('addresses', () => {
  const dual = { ...aRuntimePod([aStatus('web')]), ips: ['fd00::1', '10.0.0.1', '10.0.0.2'] };

  it.each<[row: string, fields: Partial<PodStatusInput>, podIps: string[], hostIps: string[]]>([
    ['IPv4 first where the node says nothing', { runtime: dual }, ['10.0.0.1', 'fd00::1'], []],
    [
      'the first family of the node first',
      { runtime: dual, hostIps: ['fd00::a'] },
      ['fd00::1', '10.0.0.1'],
      ['fd00::a'],
    ],
    [
      'one node address per family',
      { hostIps: ['192.168.0.1', '192.168.0.2', 'fd00::a'] },
      ['10.0.0.1'],
      ['192.168.0.1', 'fd00::a'],
    ],
    [
      'on the host network',
      { pod: aPod({ hostNetwork: true }), hostIps: ['192.168.0.1'] },
      ['192.168.0.1'],
      ['192.168.0.1'],
    ],
  ])('%s', (_, fields, podIps, hostIps) => {
    const status = generate(fields);
    expect((status.podIPs ?? []).map(({ ip }) => ip)).toEqual(podIps);
    expect((status.hostIPs ?? []).map(({ ip }) => ip)).toEqual(hostIps);
    expect([status.podIP, status.hostIP]).toEqual([podIps[0], hostIps[0]]);
  });

  it.each<[row: string, known: string[], hostIps: string[], podIps: string[]]>([
    ['stay while the node has them', ['192.168.0.1'], ['192.168.0.2', '192.168.0.1'], ['192.168.0.1']],
    ['stay while no address of the node is known', ['192.168.0.1'], [], ['192.168.0.1']],
    ['follow the node', ['192.168.0.1'], ['192.168.0.2'], ['192.168.0.2']],
    ['get a second family', ['192.168.0.1'], ['192.168.0.1', 'fd00::a'], ['192.168.0.1', 'fd00::a']],
    ['lose a family with the node', ['192.168.0.1', 'fd00::a'], ['192.168.0.1'], ['192.168.0.1']],
    ['keep their order', ['fd00::a'], ['192.168.0.2', 'fd00::b'], ['fd00::b', '192.168.0.2']],
  ])('on the host network, once given, %s', (_, known, hostIps, podIps) => {
    const previous = { ...generate(), podIPs: known.map((ip) => ({ ip })) };
    const status = generate({ pod: aPod({ hostNetwork: true }), hostIps, previous });
    expect(status.podIPs).toEqual(podIps.map((ip) => ({ ip })));
  });

  it('on the host network are those of the node also where only the API has a status', () => {
    const told = { ...generate(), podIP: '192.168.0.1', podIPs: [{ ip: '192.168.0.1' }] };
    const pod = aPod({ hostNetwork: true });
    for (const from of [{ pod: { ...pod, status: told } }, { pod, reported: told }])
      expect(generate({ ...from, hostIps: ['192.168.0.2'] })).toMatchObject({
        ...{ podIP: '192.168.0.2', podIPs: [{ ip: '192.168.0.2' }], hostIPs: [{ ip: '192.168.0.2' }] },
      });
  });

  it('on the host network stay when the pod is over', () => {
    const previous = { ...generate(), podIP: '192.168.0.1', podIPs: [{ ip: '192.168.0.1' }] };
    const fields = { pod: aPod({ hostNetwork: true }), hostIps: ['192.168.0.2'], previous, podIsTerminal: true };
    expect(generate(fields).podIP).toBe('192.168.0.1');
  });

  it('are left out while the sandbox has none', () => {
    expect(generate({ runtime: aRuntimePod([], []) })).not.toHaveProperty('podIP');
  });

  it.each<[row: string, fields: Partial<PodStatusInput>, podIP: string | undefined]>([
    ['stay when the pod is over', { podIsTerminal: true }, '10.0.0.9'],
    ['go with a sandbox that is replaced', {}, undefined],
  ])('%s', (_, fields, podIP) => {
    const previous = { ...generate(), podIP: '10.0.0.9', podIPs: [{ ip: '10.0.0.9' }] };
    const runtime = { ...aRuntimePod([exited('web', 0)]), ips: [] };
    expect(generate({ previous, runtime, ...fields }).podIP).toBe(podIP);
  });

  it('stay for an agent that was restarted after the end', () => {
    const ended = { ...generate(), phase: 'Succeeded', podIPs: [{ ip: '10.0.0.9' }] };
    const runtime = { ...aRuntimePod([exited('web', 0)]), ips: [] };
    expect(generate({ pod: { ...aPod(), status: ended }, runtime }).podIP).toBe('10.0.0.9');
  });
});
