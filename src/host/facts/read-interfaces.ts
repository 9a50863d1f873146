import { networkInterfaces } from 'node:os';
import type { NetworkFacts } from '../../model/node/machine-facts.js';
import { silentInterfaces } from '../../model/node/silent-interfaces.js';
import { readIfThere } from '../files/read-if-there.js';

type Interfaces = NetworkFacts['interfaces'];

/** Reads the interfaces with addresses, those without a carrier apart. */
export const readInterfaces = (): { readonly up: Interfaces; readonly silent: Interfaces } => {
  const up = Object.entries(networkInterfaces()).map(([name, addresses = []]) => ({
    name,
    isLoopback: addresses.some(({ internal }) => internal),
    addresses: addresses.map(({ address }) => address),
  }));
  const table = (name: string): string => readIfThere(`/proc/net/${name}`) ?? '';
  const tables = { fib_trie: table('fib_trie'), route: table('route'), if_inet6: table('if_inet6') };
  return { up, silent: silentInterfaces(up, tables) };
};
