import type { Pod } from '../pod/pod.js';
import { cutQuotes } from './cut-quotes.js';
import type { ManifestProblem } from './manifest-problem.js';
import { DNS_SUBDOMAIN } from './names.js';
import type { ManifestReading } from './parse-manifest.js';
import { applySourceDefaults, type SourceOfManifest } from './source-defaults.js';

/**
 * Returns the pods of a reading as their source delivers them. A pod whose name does not fit together with the node's
 * is a problem.
 */
export const placePods = (
  reading: ManifestReading,
  source: SourceOfManifest,
): { readonly pods: readonly Pod[]; readonly problems: readonly ManifestProblem[] } => {
  const pods: Pod[] = [];
  const problems = [...reading.problems];
  for (const { pod, document, line, column, contentHash } of reading.pods) {
    const placed = applySourceDefaults(pod, source, contentHash);
    const { name } = placed.metadata;
    if (name.length <= DNS_SUBDOMAIN.maxLength && DNS_SUBDOMAIN.pattern.test(name)) pods.push(placed);
    else {
      problems.push({
        file: source.origin,
        document,
        line,
        column,
        field: 'metadata.name',
        message: cutQuotes(`becomes ${JSON.stringify(name)} on this node`),
        expected: DNS_SUBDOMAIN.expected,
      });
    }
  }
  return { pods, problems };
};
