import { existsSync, readFileSync } from 'node:fs';

/** A request as the API server has noted it. A watch is noted when it begins and when it ends. */
export interface AuditEntry {
  readonly stage: 'ResponseStarted' | 'ResponseComplete' | 'Panic';
  readonly verb: string;
  readonly requestURI: string;
  readonly user: { readonly username: string };
  readonly objectRef?: {
    readonly resource?: string;
    readonly subresource?: string;
    readonly namespace?: string;
    readonly name?: string;
  };
  readonly responseStatus?: { readonly code?: number; readonly message?: string };
}

export const readAudit = (path: string): readonly AuditEntry[] =>
  existsSync(path)
    ? readFileSync(path, 'utf8')
        .split('\n')
        // The last line may be under way.
        .slice(0, -1)
        .map((line) => JSON.parse(line) as AuditEntry)
    : [];

const SOON = new Set(['secrets', 'configmaps', 'serviceaccounts']);

/**
 * What a node has asked for although it may not have it. Left out is what it may have a moment later: the server learns from its own
 * watch that a pod is bound to the node, and until then refuses what the pod refers to. Such a request must be allowed to the same
 * node at another time.
 */
export const trespasses = (entries: readonly AuditEntry[], node: string): readonly string[] => {
  const own = entries.filter(
    ({ user, stage }) => user.username === `system:node:${node}` && stage !== 'ResponseStarted',
  );
  const describe = ({ verb, objectRef }: AuditEntry): string =>
    [verb, objectRef?.resource, objectRef?.subresource, objectRef?.namespace, objectRef?.name]
      .filter(Boolean)
      .join(' ');
  const codeOf = ({ responseStatus }: AuditEntry): number => responseStatus?.code ?? 0;
  const allowed = new Set(own.filter((entry) => codeOf(entry) < 400 || codeOf(entry) === 404).map(describe));
  return own
    .filter((entry) => codeOf(entry) === 403 || codeOf(entry) === 401)
    .filter((entry) => !SOON.has(entry.objectRef?.resource ?? '') || !allowed.has(describe(entry)))
    .map((entry) => `${describe(entry)}: ${codeOf(entry)} ${entry.responseStatus?.message ?? ''}`);
};
