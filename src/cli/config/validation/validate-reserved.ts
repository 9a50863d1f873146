import type { ConfigurationRule as Rule } from './configuration-rule.js';
import { parseQuantity } from '../../../model/resources/quantity.js';

const RESERVABLE = ['cpu', 'memory', 'ephemeral-storage', 'pid'];

/** Source: cmd/kubelet/app/server.go parseResourceList. */
const reserved =
  (field: 'systemReserved' | 'kubeReserved'): Rule =>
  (config) => {
    for (const [name, text] of Object.entries(config[field])) {
      if (!RESERVABLE.includes(name)) return `${field}: cannot reserve ${JSON.stringify(name)} resource`;
      const amount = parseQuantity(text);
      if (amount === undefined) {
        return `${field}: ${name}: ${JSON.stringify(text)} is not a quantity, expected one such as 500m or 1Gi`;
      }
      if (amount < 0n) return `${field}: resource quantity for ${JSON.stringify(name)} cannot be negative: ${text}`;
    }
    return false;
  };

/** Source: pkg/kubelet/apis/config/validation/validation_reserved_memory.go. */
const reservedMemory: Rule = ({ reservedMemory: reservations }) => {
  const seen = new Set<string>();
  for (const [index, { numaNode, limits }] of reservations.entries()) {
    for (const [name, text] of Object.entries(limits)) {
      const field = `reservedMemory[${index}].limits.${name}`;
      const amount = parseQuantity(String(text));
      if (amount === undefined) {
        return `${field}: ${JSON.stringify(text)} is not a quantity, expected one such as 100Mi`;
      }
      if (name !== 'memory' && !name.startsWith('hugepages-')) {
        return `${field}: only memory and hugepages-<size> can be reserved for NUMA node ${numaNode}`;
      }
      if (amount === 0n) return `${field}: must not be zero for NUMA node ${numaNode}`;
      const key = `${numaNode}/${name}`;
      if (seen.has(key)) return `${field}: is given twice for NUMA node ${numaNode}`;
      seen.add(key);
    }
  }
  return false;
};

/** The rules for reserved resources. */
export const RESERVED_RULES: readonly Rule[] = [reserved('systemReserved'), reserved('kubeReserved'), reservedMemory];
