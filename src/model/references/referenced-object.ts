import type {
  V1beta1ClusterTrustBundle,
  V1ConfigMap,
  V1RuntimeClass,
  V1Secret,
  V1Service,
} from '@kubernetes/client-node';
import type { Json } from '../pod/pod.js';
import { type EnvValue, envValue } from '../cri/env-value.js';
import type { ApiObject } from '../kube-api/api-object.js';

type AsJson<T> = Json<Omit<T, 'metadata'>> & ApiObject;

/** Text under `data`, base64 of any bytes under `binaryData`. */
export type ConfigMap = AsJson<V1ConfigMap>;
/** Base64 under `data`. */
export type Secret = AsJson<V1Secret>;
export type Service = AsJson<V1Service>;
export type RuntimeClass = AsJson<V1RuntimeClass>;
/** PEM under `spec.trustBundle`. */
export type ClusterTrustBundle = AsJson<V1beta1ClusterTrustBundle>;

/** A kind of object that pods refer to by name, in their own namespace. */
export type ReferencedObject = ConfigMap | Secret;

/** The name of such an object; its kind is known from the place. */
export interface ObjectName {
  readonly namespace: string;
  readonly name: string;
}

/** Returns the key of an object among those of its kind. */
export const storeKey = (namespace: string, name: string): string => `${namespace}/${name}`;

/** No client can change the object; it can only be deleted. */
export const isImmutable = ({ immutable }: ReferencedObject): boolean => immutable === true;

/** Returns the decoded data of a secret, each value as a text if it is UTF-8. */
export const secretData = ({ data }: Secret): Readonly<Record<string, EnvValue>> =>
  Object.fromEntries(Object.entries(data ?? {}).map(([key, value]) => [key, envValue(Buffer.from(value, 'base64'))]));

/** Returns the decoded data of a secret as texts; invalid UTF-8 is replaced, as in every JSON text. */
export const secretTexts = (secret: Secret): Readonly<Record<string, string>> =>
  Object.fromEntries(Object.entries(secretData(secret)).map(([key, value]) => [key, Buffer.from(value).toString()]));
