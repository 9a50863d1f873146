import { isQualifiedName, LABEL_VALUE, QUALIFIED_NAME } from '../manifest/names.js';

/**
 * The labels in the namespaces of Kubernetes that a kubelet may set on its own Node. Source:
 * staging/src/k8s.io/kubelet/pkg/apis/well_known_labels.go
 */
const ALLOWED = [
  'beta.kubernetes.io/arch',
  'beta.kubernetes.io/instance-type',
  'beta.kubernetes.io/os',
  'failure-domain.beta.kubernetes.io/region',
  'failure-domain.beta.kubernetes.io/zone',
  'kubernetes.io/arch',
  'kubernetes.io/hostname',
  'kubernetes.io/os',
  'node.kubernetes.io/instance-type',
  'topology.kubernetes.io/region',
  'topology.kubernetes.io/zone',
];
const ALLOWED_NAMESPACES = ['kubelet.kubernetes.io', 'node.kubernetes.io'];

/**
 * Parses the labels of `--node-labels`: `key=value`, separated by commas; the last label of a key is used.
 *
 * Errors: throws an Error that names the label: it has no `=`, is invalid, or is not allowed for a kubelet.
 * Source: cmd/kubelet/app/options/options.go ValidateKubeletFlags
 */
export const parseNodeLabels = (text: string): Readonly<Record<string, string>> => {
  const labels = new Map<string, string>();
  for (const pair of text.split(',').filter((part) => part.trim() !== '')) {
    const at = pair.indexOf('=');
    if (at < 0) throw new Error(`--node-labels: malformed pair, expect string=string: ${JSON.stringify(pair.trim())}`);
    labels.set(pair.slice(0, at).trim(), pair.slice(at + 1).trim());
  }
  const unknown = [...labels.keys()].filter((key) => isOfKubernetes(key) && !isKubelets(key));
  if (unknown.length > 0) {
    throw new Error(
      `unknown 'kubernetes.io' or 'k8s.io' labels specified with --node-labels: [${unknown.toSorted().join(' ')}]\n` +
        `--node-labels in the 'kubernetes.io' namespace must begin with an allowed prefix (${ALLOWED_NAMESPACES.join(', ')}) ` +
        `or be in the specifically allowed set (${ALLOWED.join(', ')})`,
    );
  }
  const invalid = [...labels].flatMap(([key, value]) => [
    ...(isQualifiedName(key) ? [] : [`'${key}' - expected ${QUALIFIED_NAME}`]),
    ...(isLabelValue(value) ? [] : [`'${value}' - expected ${LABEL_VALUE.expected}`]),
  ]);
  if (invalid.length > 0) throw new Error(`invalid node labels: ${invalid.join('; ')}`);
  return Object.fromEntries(labels);
};

const isLabelValue = (text: string): boolean => text.length <= LABEL_VALUE.maxLength && LABEL_VALUE.pattern.test(text);

const isOfKubernetes = (key: string): boolean => isWithin(key, ['kubernetes.io', 'k8s.io']);

const isKubelets = (key: string): boolean => ALLOWED.includes(key) || isWithin(key, ALLOWED_NAMESPACES);

/** Whether the key is in one of the namespaces, or in one below. */
const isWithin = (key: string, namespaces: readonly string[]): boolean => {
  const at = key.indexOf('/');
  const namespace = at < 0 ? '' : key.slice(0, at);
  return namespaces.some((one) => namespace === one || namespace.endsWith(`.${one}`));
};
