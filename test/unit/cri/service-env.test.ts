import { describe, expect, it } from 'vitest';
import type { Service } from '../../../src/model/references/referenced-object.js';
import { serviceEnvironment } from '../../../src/model/cri/service-env.js';

const aService = (name: string, namespace: string, spec: Service['spec']): Service => ({
  metadata: { name, namespace },
  spec,
});
const master = aService('kubernetes', 'default', {
  clusterIP: '10.0.0.1',
  ports: [{ name: 'https', protocol: 'TCP', port: 443 }],
});
const hosts = (variables: Readonly<Record<string, string>>) =>
  Object.entries(variables).filter(([name]) => name.endsWith('_SERVICE_HOST'));

describe('the variables of a service', () => {
  it('have its address and every port, by two conventions', () => {
    const service = aService('my-db', 'ns', {
      clusterIP: '10.0.0.7',
      ports: [{ port: 5432 }, { name: 'tele-metry', protocol: 'UDP', port: 9000 }],
    });
    expect(serviceEnvironment([service], { namespace: 'ns', isLinked: true })).toEqual({
      MY_DB_SERVICE_HOST: '10.0.0.7',
      MY_DB_SERVICE_PORT: '5432',
      MY_DB_SERVICE_PORT_TELE_METRY: '9000',
      MY_DB_PORT: 'tcp://10.0.0.7:5432',
      MY_DB_PORT_5432_TCP: 'tcp://10.0.0.7:5432',
      MY_DB_PORT_5432_TCP_PROTO: 'tcp',
      MY_DB_PORT_5432_TCP_PORT: '5432',
      MY_DB_PORT_5432_TCP_ADDR: '10.0.0.7',
      MY_DB_PORT_9000_UDP: 'udp://10.0.0.7:9000',
      MY_DB_PORT_9000_UDP_PROTO: 'udp',
      MY_DB_PORT_9000_UDP_PORT: '9000',
      MY_DB_PORT_9000_UDP_ADDR: '10.0.0.7',
    });
  });

  it('put an address of IPv6 into brackets where a port follows', () => {
    const service = aService('six', 'ns', { clusterIP: 'fd00::7', ports: [{ port: 80 }] });
    expect(serviceEnvironment([service], { namespace: 'ns', isLinked: true })).toMatchObject({
      SIX_SERVICE_HOST: 'fd00::7',
      SIX_PORT: 'tcp://[fd00::7]:80',
      SIX_PORT_80_TCP_ADDR: 'fd00::7',
    });
  });
});

describe('a pod gets variables of', () => {
  const beside = aService('db', 'ns', { clusterIP: '10.0.0.7', ports: [{ port: 1 }] });
  const elsewhere = aService('db', 'other', { clusterIP: '10.0.0.8', ports: [{ port: 1 }] });
  const ownMaster = aService('kubernetes', 'ns', { clusterIP: '10.0.0.9', ports: [{ port: 1 }] });
  const headless = aService('headless', 'ns', { clusterIP: 'None', ports: [{ port: 1 }] });
  const external = aService('external', 'ns', { externalName: 'example.org' });

  it.each<[what: string, services: readonly Service[], isLinked: boolean, expected: readonly (readonly string[])[]]>([
    [
      'services beside it and the API server',
      [beside, elsewhere, master],
      true,
      [
        ['DB_SERVICE_HOST', '10.0.0.7'],
        ['KUBERNETES_SERVICE_HOST', '10.0.0.1'],
      ],
    ],
    [
      'the API server alone without links',
      [beside, master, ownMaster],
      false,
      [['KUBERNETES_SERVICE_HOST', '10.0.0.1']],
    ],
    ['its own service of that name, seen first', [ownMaster, master], true, [['KUBERNETES_SERVICE_HOST', '10.0.0.9']]],
    ['its own service of that name, seen last', [master, ownMaster], true, [['KUBERNETES_SERVICE_HOST', '10.0.0.9']]],
    ['nothing without an address', [headless, external], true, []],
    ['nothing where there is nothing', [], true, []],
  ])('%s', (_, services, isLinked, expected) => {
    expect(hosts(serviceEnvironment(services, { namespace: 'ns', isLinked }))).toEqual(expected);
  });

  it('the same of two services whose names become equal, in any order', () => {
    // Not a name that the API lets in, but one that two services could share.
    const [one, two] = ['a-b', 'a_b'].map((name, index) =>
      aService(name, 'ns', { clusterIP: `10.0.1.${index}`, ports: [{ port: 1 }] }),
    ) as [Service, Service];
    const links = { namespace: 'ns', isLinked: true };
    expect(serviceEnvironment([one, two], links)).toEqual(serviceEnvironment([two, one], links));
  });
});
