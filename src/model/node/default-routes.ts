import type { NetworkFacts } from './machine-facts.js';

type Routes = NonNullable<NetworkFacts['defaultRoutes']>;

/** The default routes of the kernel's table of IPv4 routes, in its order. Source: apimachinery/pkg/util/net/interface.go */
export const ipv4DefaultRoutes = (table: string): Routes =>
  rowsOf(table).flatMap(([name, destination]) =>
    name !== undefined && destination !== undefined && ZERO.test(destination) ? [{ family: 4, interface: name }] : [],
  );

/** The default routes of IPv6. A route without a gateway does not count; the loopback interface has such routes. */
export const ipv6DefaultRoutes = (table: string): Routes =>
  rowsOf(table).flatMap((fields) => {
    const [destination = '', gateway = '', name] = [fields[0], fields[4], fields[9]];
    return name !== undefined && ZERO.test(destination) && !ZERO.test(gateway) ? [{ family: 6, interface: name }] : [];
  });

const ZERO = /^0+$/;

const rowsOf = (table: string): readonly (readonly string[])[] =>
  table
    .split('\n')
    .filter((line) => line.trim() !== '')
    .map((line) => line.trim().split(/\s+/));
