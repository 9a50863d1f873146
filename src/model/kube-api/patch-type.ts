/** Lists merge by the API's merge keys. The kubelet sends this type. */
export const STRATEGIC_MERGE_PATCH = 'application/strategic-merge-patch+json';

/** The media types of a patch, by which the API server reads its body. The last two are of RFC 7386 and RFC 6902. */
export type PatchType = typeof STRATEGIC_MERGE_PATCH | 'application/merge-patch+json' | 'application/json-patch+json';
