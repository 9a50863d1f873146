/** A media type of the header `Accept`, with its parameters except the quality. */
interface AcceptedType {
  readonly type: string;
  readonly parameters: Readonly<Record<string, string>>;
  readonly quality: number;
}

export type StructuredKind = 'Statusz' | 'Flagz';

export const STRUCTURED_GROUP = 'config.k8s.io';
export const STRUCTURED_VERSION = 'v1beta1';

/**
 * Returns the form of a page that the header `Accept` asks for: a page of text without a header, or the object `kind` as JSON
 * if its parameters name the kind, the group and the version. Undefined if neither is acceptable.
 *
 * Source: staging/src/k8s.io/component-base/zpages/httputil/httputil.go
 */
export const acceptedForm = (accept: string, kind: StructuredKind): 'text' | 'json' | undefined => {
  if (accept.trim() === '') return 'text';
  for (const { type, parameters } of acceptedTypes(accept)) {
    if (type === '*/*' || type === 'text/*' || type === 'text/plain') {
      const { charset = 'utf-8' } = parameters;
      if (charset.toLowerCase() === 'utf-8') return 'text';
    } else if (type === 'application/json' || type === 'application/*') {
      const { as, v, g } = parameters;
      if (as === kind && v === STRUCTURED_VERSION && g === STRUCTURED_GROUP) return 'json';
    }
  }
  return undefined;
};

/** The best quality first, and the order of the header among equals. */
const acceptedTypes = (accept: string): readonly AcceptedType[] =>
  accept
    .split(',')
    .map((part): AcceptedType => {
      const [type = '', ...rest] = part.split(';').map((piece) => piece.trim());
      const { q = '1', ...parameters } = Object.fromEntries(
        rest.map((parameter): [string, string] => {
          const [name = '', value = ''] = parameter.split('=', 2).map((side) => side.trim());
          return [name.toLowerCase(), value.replace(/^"(.*)"$/, '$1')];
        }),
      );
      return { type: type.toLowerCase(), parameters, quality: Number(q) };
    })
    .filter(({ quality }) => quality > 0)
    .sort((a, b) => b.quality - a.quality);
