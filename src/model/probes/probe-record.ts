/** The results of an instance's probes that an agent leaves for its successor. */
export interface ProbeRecord {
  readonly type: 'startup' | 'readiness';
  readonly uid: string;
  /** The name of the container. */
  readonly container: string;
  readonly containerId: string;
  readonly result: 'success' | 'failure';
}

/**
 * Parses records that an agent has written; invalid ones are left out and counted. Errors: the text is not a JSON list.
 */
export const readProbeRecords = (
  text: string,
): { readonly records: readonly ProbeRecord[]; readonly ignored: number } => {
  const content: unknown = JSON.parse(text);
  if (!Array.isArray(content)) throw new Error(`holds ${content === null ? 'null' : typeof content} (expected a list)`);
  const records = content.filter(isProbeRecord).map(
    // Unknown fields are not copied.
    ({ type, uid, container, containerId, result }): ProbeRecord => ({ type, uid, container, containerId, result }),
  );
  return { records, ignored: content.length - records.length };
};

const isProbeRecord = (value: unknown): value is ProbeRecord => {
  if (typeof value !== 'object' || value === null) return false;
  const { type, uid, container, containerId, result } = value as Partial<Record<keyof ProbeRecord, unknown>>;
  return (
    (type === 'startup' || type === 'readiness') &&
    (result === 'success' || (result === 'failure' && type === 'readiness')) &&
    [uid, container, containerId].every((text) => typeof text === 'string' && text !== '')
  );
};
