import { fnv1a32 } from '../values/fnv.js';
import type { Container } from '../pod/pod.js';

/** The characters that Go's JSON encoder escapes although JSON does not require it. */
const GO_JSON_ESCAPES = /[<>&\u2028\u2029]/g;

/**
 * Returns the hash that shows whether a running container still matches its spec: lower-case hex without padding. It covers only
 * the name and the image, so that no other edit of a pod restarts its containers.
 *
 * Source: pkg/kubelet/container/helpers.go HashContainer, pkg/util/hash/hash.go.
 */
export const containerHash = ({ name, image = '' }: Pick<Container, 'name' | 'image'>): string => {
  const json = JSON.stringify({ image, name }).replace(
    GO_JSON_ESCAPES,
    (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );
  return fnv1a32(`([]uint8)[${new TextEncoder().encode(json).join(' ')}]`).toString(16);
};

/** Annotations are compared as numbers, so that padding or case of an older writer does not restart a container. */
export const isSameHash = (left: string, right: string): boolean => hashValue(left) === hashValue(right);

const hashValue = (hex: string): bigint => (/^[0-9a-f]+$/i.test(hex) ? BigInt(`0x${hex}`) : 0n);
