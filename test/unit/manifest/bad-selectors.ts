import type { Row } from './bad-pods.js';
import { withSpec } from './marked.js';

const AFFINITY = 'spec.affinity';
const REQUIRED = 'requiredDuringSchedulingIgnoredDuringExecution';
const PREFERRED = 'preferredDuringSchedulingIgnoredDuringExecution';
const NODE_TERM = `${AFFINITY}.nodeAffinity.${REQUIRED}.nodeSelectorTerms[0]`;
const POD_TERM = `${AFFINITY}.podAffinity.${REQUIRED}[0]`;
const SPREAD = 'spec.topologySpreadConstraints[0]';

const nodeTerm = (term: string) => withSpec(`affinity: {nodeAffinity: {${REQUIRED}: {nodeSelectorTerms: [${term}]}}}`);
const podTerm = (term: string) => withSpec(`affinity: {podAffinity: {${REQUIRED}: [{topologyKey: a, ${term}}]}}`);
const spread = (more: string) =>
  withSpec(`topologySpreadConstraints: [{maxSkew: 1, whenUnsatisfiable: DoNotSchedule, ${more}}]`);

/** What selects nodes and other pods. */
export const SELECTORS: readonly Row[] = [
  [
    `${NODE_TERM}.matchFields[0].values`,
    'has 2 entries (expected exactly one value)',
    nodeTerm('{matchFields: [{key: metadata.name, operator: In, values: ▸[a, b]}]}'),
  ],
  [
    `${NODE_TERM}.matchFields[0].operator`,
    'is "Gt"',
    nodeTerm('{matchFields: [{key: metadata.name, operator: ▸Gt, values: [a]}]}'),
  ],
  [
    `${NODE_TERM}.matchExpressions[0].values`,
    'has 2 entries (expected exactly one value beside Gt)',
    nodeTerm('{matchExpressions: [{key: a, operator: Gt, values: ▸["1", "2"]}]}'),
  ],
  [
    `${NODE_TERM}.matchExpressions[0].values[0]`,
    'is "b c"',
    nodeTerm('{matchExpressions: [{key: a, operator: In, values: [▸b c]}]}'),
  ],
  [
    `${AFFINITY}.nodeAffinity.${PREFERRED}[0].weight`,
    'is 101',
    withSpec(`affinity: {nodeAffinity: {${PREFERRED}: [{weight: ▸101, preference: {}}]}}`),
  ],
  [`${POD_TERM}.namespaceSelector.matchLabels.a`, 'is "b c"', podTerm('namespaceSelector: {matchLabels: {a: ▸b c}}')],
  [
    `${POD_TERM}.labelSelector.matchExpressions[0].values`,
    'is set beside Exists',
    podTerm('labelSelector: {matchExpressions: [{key: b, operator: Exists, values: ▸[c]}]}'),
  ],
  [
    `${POD_TERM}.labelSelector.matchExpressions[0].operator`,
    'is "Gt"',
    podTerm('labelSelector: {matchExpressions: [{key: b, operator: ▸Gt, values: [c]}]}'),
  ],
  [
    `${POD_TERM}.labelSelector.matchExpressions[0].values[1]`,
    'is "c d"',
    podTerm('labelSelector: {matchExpressions: [{key: b, operator: In, values: [c, ▸c d]}]}'),
  ],
  [
    `${POD_TERM}.matchLabelKeys[0]`,
    'a key that labelSelector does not have',
    podTerm(
      'labelSelector: {matchLabels: {b: c}, matchExpressions: [{key: b, operator: Exists}]}, matchLabelKeys: [▸b]',
    ),
  ],
  [
    `${POD_TERM}.matchLabelKeys[0]`,
    'a key that mismatchLabelKeys does not have',
    podTerm('labelSelector: {}, matchLabelKeys: [▸b], mismatchLabelKeys: [b]'),
  ],
  [`${SPREAD}.topologyKey`, 'is empty', spread('topologyKey: ▸""')],
  [
    `${SPREAD}.labelSelector.matchLabels.b`,
    'is "c d"',
    spread('topologyKey: a, labelSelector: {matchLabels: {b: ▸c d}}'),
  ],
];
