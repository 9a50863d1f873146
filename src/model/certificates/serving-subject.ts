import { formatIp, parseIp } from '../node/ip.js';
import type { NodeAddress } from '../node/node.js';
import { type CertificateSubject, nodeSubject } from './node-certificate.js';

/**
 * Returns the subject of a serving certificate for a node with these addresses, each name and address once, in order. Undefined while the
 * node has no IP address: signers decide by it.
 *
 * Source: pkg/kubelet/certificate/kubelet.go newGetTemplateFn, addressesToHostnamesAndIPs
 */
export const servingSubject = (
  nodeName: string,
  addresses: readonly NodeAddress[],
): Required<CertificateSubject> | undefined => {
  const dnsNames = new Set<string>();
  const ips = new Set<string>();
  for (const { type, address } of addresses) {
    if (address === '') continue;
    const ip = parseIp(address);
    if (ip) ips.add(formatIp(ip));
    // An address that cannot be read would be refused as a name, too.
    else if (!type.endsWith('IP')) dnsNames.add(address);
  }
  return ips.size === 0
    ? undefined
    : { ...nodeSubject(nodeName), dnsNames: [...dnsNames].sort(), ips: [...ips].sort() };
};
