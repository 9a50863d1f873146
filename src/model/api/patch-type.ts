/** How the API server reads the body of a patch: the media types of its content. */
export type PatchType = typeof STRATEGIC_MERGE_PATCH | typeof MERGE_PATCH | typeof JSON_PATCH;

/** Lists merge by the keys that the API names for them. What the kubelet sends. */
export const STRATEGIC_MERGE_PATCH = 'application/strategic-merge-patch+json';
/** RFC 7386: a list replaces a list. */
export const MERGE_PATCH = 'application/merge-patch+json';
/** RFC 6902: a list of operations. */
export const JSON_PATCH = 'application/json-patch+json';
