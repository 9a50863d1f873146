import { isSidecar, type PodSpec } from '../pod.js';
import { formatQuantity, parseQuantity } from '../quantity.js';

/**
 * What the containers ask for at the busiest moment: all regular ones and sidecars together, or one init container beside
 * the sidecars that started before it.
 */
export const containerRequests = (spec: PodSpec): Readonly<Record<string, string>> => {
  const requestsOf = (container: PodSpec['containers'][number]): readonly [string, bigint][] =>
    Object.entries(container.resources?.requests ?? {}).map(([name, text]) => [name, parseQuantity(text) ?? 0n]);
  const running = new Map<string, bigint>();
  const starting = new Map<string, bigint>();
  const sidecars = new Map<string, bigint>();
  const add = (sums: Map<string, bigint>, [name, amount]: readonly [string, bigint]) =>
    sums.set(name, (sums.get(name) ?? 0n) + amount);
  for (const container of spec.containers) for (const request of requestsOf(container)) add(running, request);
  for (const container of spec.initContainers ?? []) {
    for (const [name, amount] of requestsOf(container)) {
      if (isSidecar(container)) {
        add(running, [name, amount]);
        add(sidecars, [name, amount]);
      }
      const atOnce = (sidecars.get(name) ?? 0n) + (isSidecar(container) ? 0n : amount);
      if (atOnce > (starting.get(name) ?? 0n)) starting.set(name, atOnce);
    }
  }
  const names = new Set([...running.keys(), ...starting.keys()]);
  return Object.fromEntries(
    [...names].map((name) => {
      const [regular, init] = [running.get(name) ?? 0n, starting.get(name) ?? 0n];
      const format = name === 'cpu' ? 'DecimalSI' : 'BinarySI';
      return [name, formatQuantity(regular > init ? regular : init, format)];
    }),
  );
};
