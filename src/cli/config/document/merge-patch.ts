export type JsonObject = Readonly<Record<string, unknown>>;

export const isJsonObject = (value: unknown): value is JsonObject =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** A JSON merge patch (RFC 7396): objects merge by key, every other value is replaced, `null` deletes. */
export const mergePatch = (target: JsonObject, patch: JsonObject): JsonObject => {
  const merged: Record<string, unknown> = { ...target };
  for (const [key, value] of Object.entries(patch)) {
    const before = merged[key];
    if (value === null) delete merged[key];
    else if (isJsonObject(value)) merged[key] = mergePatch(isJsonObject(before) ? before : {}, value);
    else merged[key] = value;
  }
  return merged;
};
