/**
 * Returns `Always` for an image whose tag is `latest` or that has neither tag nor digest, else `IfNotPresent`.
 *
 * Source: pkg/apis/core/v1/defaults.go SetDefaults_Container, pkg/util/parsers/parsers.go ParseImageName.
 */
export const pullPolicyOf = (image: string): 'Always' | 'IfNotPresent' => {
  const [name = '', digest] = image.split('@', 2);
  const tag = /:([\w][\w.-]*)$/.exec(name)?.[1];
  const isLatest = tag === 'latest' || (tag === undefined && digest === undefined);
  return isLatest ? 'Always' : 'IfNotPresent';
};
