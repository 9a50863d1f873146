/** What an agent knew of an instance by its probes, for the agent that comes after it. */
export interface ProbeRecord {
  readonly type: 'startup' | 'readiness';
  readonly uid: string;
  /** Name of the container. */
  readonly container: string;
  readonly containerId: string;
  readonly result: 'success' | 'failure';
}

/** The records in a text that an agent has written; whatever is none is left out and counted. Errors: the text is no JSON list. */
export const readProbeRecords = (
  text: string,
): { readonly records: readonly ProbeRecord[]; readonly ignored: number } => {
  const content: unknown = JSON.parse(text);
  if (!Array.isArray(content)) throw new Error(`holds ${content === null ? 'null' : typeof content} (expected a list)`);
  const records = content.filter(isProbeRecord).map(
    // Fields that do not belong there are not carried along.
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
