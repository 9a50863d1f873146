/** The metadata of every Kubernetes API object, as far as the agent reads it. */
export interface ApiObjectMeta {
  readonly name?: string;
  readonly namespace?: string;
  readonly uid?: string;
  readonly resourceVersion?: string;
  readonly generation?: number;
  readonly creationTimestamp?: string;
  readonly deletionTimestamp?: string;
  readonly labels?: Readonly<Record<string, string>>;
  readonly annotations?: Readonly<Record<string, string>>;
}

/** A Kubernetes API object in its JSON form: no field is dropped, times are strings. */
export interface ApiObject {
  readonly apiVersion?: string;
  readonly kind?: string;
  readonly metadata: ApiObjectMeta;
}

/** A page of a list. Its items come without `apiVersion` and `kind`. */
export interface ApiList<Item extends ApiObject = ApiObject> {
  readonly apiVersion?: string;
  readonly kind?: string;
  readonly metadata: { readonly resourceVersion?: string; readonly continue?: string };
  readonly items: readonly Item[] | null;
}

/** Returns `namespace/name`, or the name of an object without a namespace. */
export const objectKey = ({ metadata }: ApiObject): string => {
  // The object may be unvalidated, and some values cannot even be turned into text.
  const namespace = textOf(metadata.namespace);
  const name = textOf(metadata.name);
  return namespace === '' ? name : `${namespace}/${name}`;
};

const textOf = (value: unknown): string => (typeof value === 'string' ? value : '');
