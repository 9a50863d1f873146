import { expect, it } from 'vitest';
import { satisfies } from '../../../src/model/certificates/node-certificate.js';
import { servingSubject } from '../../../src/model/certificates/serving-subject.js';

const ofNode = { commonName: 'system:node:node-1', organizations: ['system:nodes'] };
const ip = (address: string) => ({ type: 'InternalIP', address });
const name = (address: string) => ({ type: 'Hostname', address });

it.each([
  [
    'names and addresses, each once',
    [ip('10.0.0.2'), name('b'), name('a'), ip('10.0.0.1'), ip('10.0.0.2'), name('a')],
    ['a', 'b'],
    ['10.0.0.1', '10.0.0.2'],
  ],
  [
    'every type',
    [
      { type: 'ExternalIP', address: '1.2.3.4' },
      { type: 'InternalDNS', address: 'in' },
      { type: 'ExternalDNS', address: 'out' },
    ],
    ['in', 'out'],
    ['1.2.3.4'],
  ],
  ['an address of the sixth version in its short form', [ip('FD00:0:0::0001')], [], ['fd00::1']],
  ['a name that is an address', [name('10.0.0.1')], [], ['10.0.0.1']],
  ['nothing that is no address', [ip('nonsense'), ip(''), name(''), ip('10.0.0.1')], [], ['10.0.0.1']],
])('a server has %s', (_, addresses, dnsNames, ips) => {
  expect(servingSubject('node-1', addresses)).toEqual({ ...ofNode, dnsNames, ips });
});

it('a server without an address has no certificate', () => {
  expect(servingSubject('node-1', [])).toBeUndefined();
  expect(servingSubject('node-1', [name('node-1')])).toBeUndefined();
});

it.each([
  ['all and more', { dnsNames: ['a', 'b'], ips: ['10.0.0.1', '10.0.0.2'] }, true],
  ['no name', { ips: ['10.0.0.1'] }, false],
  ['another name', { dnsNames: ['b'], ips: ['10.0.0.1'] }, false],
  ['no address', { dnsNames: ['a'] }, false],
  ['another address', { dnsNames: ['a'], ips: ['10.0.0.2'] }, false],
])('a certificate with %s satisfies: %#', (_, hosts, expected) => {
  expect(satisfies({ ...ofNode, ...hosts }, { ...ofNode, dnsNames: ['a'], ips: ['10.0.0.1'] })).toBe(expected);
});
