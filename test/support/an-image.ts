import type { Image } from '../../src/generated/runtime/v1/api.js';

/** An image as the runtime lists it: 100 bytes, called by nothing but its id. */
export const anImage = (id: string, fields: Partial<Image> = {}): Image => ({
  ...{ id, repoTags: [], repoDigests: [], size: 100n, uid: undefined, username: '', spec: undefined, pinned: false },
  ...fields,
});
