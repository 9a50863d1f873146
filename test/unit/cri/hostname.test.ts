import { describe, expect, it } from 'vitest';
import { kernelHostname, podHostname } from '../../../src/model/cri/hostname.js';
import { aPod } from '../pods.js';

const long = `${'n'.repeat(61)}-.tail`;

describe('podHostname', () => {
  it.each([
    [{}, {}, 'p', ''],
    [{ hostname: 'h' }, {}, 'h', ''],
    [{ subdomain: 'sub' }, {}, 'p', 'sub.default.svc.cluster.local'],
    [{ hostnameOverride: 'over.ride', subdomain: 'sub' }, {}, 'over.ride', ''],
    [{}, { name: long }, 'n'.repeat(61), ''],
  ])('%j %j: %s', (spec, metadata, hostname, domain) => {
    expect(podHostname(aPod(spec, metadata), 'cluster.local')).toEqual({ hostname, domain });
  });
});

describe('kernelHostname', () => {
  it('is short unless the pod wants the full name', () => {
    expect(kernelHostname(aPod({ subdomain: 'sub' }), 'c.l')).toBe('p');
    expect(kernelHostname(aPod({ subdomain: 'sub', setHostnameAsFQDN: true }), 'c.l')).toBe('p.sub.default.svc.c.l');
    expect(kernelHostname(aPod({ setHostnameAsFQDN: true }), 'c.l')).toBe('p');
  });

  it('refuses a full name that the kernel cannot take', () => {
    const pod = aPod({ subdomain: 's'.repeat(50), setHostnameAsFQDN: true });
    expect(() => kernelHostname(pod, 'cluster.local')).toThrow(
      /is too long \(64 characters is the max, 78 characters requested\)/,
    );
  });
});
