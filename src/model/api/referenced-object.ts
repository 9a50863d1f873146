import type { V1ConfigMap, V1RuntimeClass, V1Secret, V1Service } from '@kubernetes/client-node';
import type { Json } from '../pod.js';
import type { ApiObject } from './api-object.js';

type AsJson<T> = Json<Omit<T, 'metadata'>> & ApiObject;

/** Text under `data`, base64 of anything under `binaryData`. */
export type ConfigMap = AsJson<V1ConfigMap>;
/** Base64 under `data`. */
export type Secret = AsJson<V1Secret>;
export type Service = AsJson<V1Service>;
export type RuntimeClass = AsJson<V1RuntimeClass>;

/** What pods name one by one, in their own namespace. */
export type ReferencedObject = ConfigMap | Secret;

/** Nobody may change it any more but by deleting it. */
export const isImmutable = ({ immutable }: ReferencedObject): boolean => immutable === true;

/** What a secret holds, decoded; what is no text loses its odd bytes, as it would on the way to an environment. */
export const secretData = ({ data }: Secret): Readonly<Record<string, string>> =>
  Object.fromEntries(Object.entries(data ?? {}).map(([key, value]) => [key, Buffer.from(value, 'base64').toString()]));
