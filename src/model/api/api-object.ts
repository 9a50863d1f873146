/** What every object of the Kubernetes API carries, as far as the agent looks at it. */
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

/** An object of the Kubernetes API as its JSON has it: nothing is dropped, times are strings. */
export interface ApiObject {
  readonly apiVersion?: string;
  readonly kind?: string;
  readonly metadata: ApiObjectMeta;
}

/** A page of a list. Its items come without `apiVersion` and `kind`. */
export interface ApiList<Item extends ApiObject = ApiObject> {
  readonly metadata: { readonly resourceVersion?: string; readonly continue?: string };
  readonly items: readonly Item[] | null;
}

/** `namespace/name`, or the name of what has no namespace. */
export const objectKey = ({ metadata: { namespace, name = '' } }: ApiObject): string =>
  namespace === undefined || namespace === '' ? name : `${namespace}/${name}`;
