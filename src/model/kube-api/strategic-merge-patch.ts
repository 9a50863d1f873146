export type JsonObject = Readonly<Record<string, unknown>>;

/**
 * The lists that are merged by element instead of being replaced, and the field that identifies an element: by the path
 * of the list from the root of the object, such as `status.conditions`.
 */
export type MergeKeys = Readonly<Record<string, string>>;

/** Source: the patch tags of PodStatus in staging/src/k8s.io/api/core/v1/types.go */
export const POD_MERGE_KEYS: MergeKeys = {
  'status.conditions': 'type',
  'status.hostIPs': 'ip',
  'status.podIPs': 'ip',
  'status.resourceClaimStatuses': 'name',
};

/** Source: the patch tags of NodeStatus and NodeSpec in staging/src/k8s.io/api/core/v1/types.go */
export const NODE_MERGE_KEYS: MergeKeys = {
  'status.conditions': 'type',
  'status.addresses': 'type',
};

/**
 * Returns the smallest strategic merge patch from `original` to `modified`; undefined if they are equal. A field that
 * is null or undefined is absent, as in Go's JSON. A list whose merge keys are not unique is replaced.
 *
 * Source: CreateTwoWayMergePatch in staging/src/k8s.io/apimachinery/pkg/util/strategicpatch/patch.go
 */
export const strategicMergePatch = (
  original: JsonObject,
  modified: JsonObject,
  mergeKeys: MergeKeys,
): JsonObject | undefined => {
  const patch = diffObjects(original, modified, { path: '', mergeKeys });
  return Object.keys(patch).length === 0 ? undefined : patch;
};

/** Whether two JSON values are equal for the API: a null field is absent, and the order of fields is ignored. */
export const isSameJson = (one: unknown, other: unknown): boolean => {
  if (Object.is(one, other)) return true;
  if (Array.isArray(one) || Array.isArray(other)) {
    if (!Array.isArray(one) || !Array.isArray(other) || one.length !== other.length) return false;
    return one.every((item, index) => isSameJson(item, other[index]));
  }
  if (!isObject(one) || !isObject(other)) return isAbsent(one) && isAbsent(other);
  return [...new Set([...Object.keys(one), ...Object.keys(other)])].every((key) => isSameJson(one[key], other[key]));
};

interface Where {
  readonly path: string;
  readonly mergeKeys: MergeKeys;
}

const PATCH = '$patch';
const ORDER = '$setElementOrder/';

const diffObjects = (original: JsonObject, modified: JsonObject, where: Where): JsonObject => {
  const patch: Record<string, unknown> = {};
  for (const key of Object.keys(original)) {
    if (!isAbsent(original[key]) && isAbsent(modified[key])) patch[key] = null;
  }
  for (const [key, after] of Object.entries(modified)) {
    if (isAbsent(after)) continue;
    const before = original[key];
    if (isSameJson(before, after)) continue;
    const mergeKey = where.mergeKeys[below(where, key).path];
    if (isObject(before) && isObject(after)) {
      patch[key] = diffObjects(before, after, below(where, key));
    } else if (mergeKey !== undefined && Array.isArray(before) && Array.isArray(after)) {
      Object.assign(patch, diffLists(key, mergeKey, before, after, below(where, key)));
    } else patch[key] = withoutNulls(after);
  }
  return patch;
};

const diffLists = (
  key: string,
  mergeKey: string,
  before: readonly unknown[],
  after: readonly unknown[],
  where: Where,
): JsonObject => {
  if (!areKeyed(before, mergeKey) || !areKeyed(after, mergeKey)) {
    return { [key]: [...after.map(withoutNulls), { [PATCH]: 'replace' }] };
  }
  const known = new Map(before.map((item) => [item[mergeKey], item]));
  const changed = after.flatMap((item): readonly unknown[] => {
    const name = item[mergeKey];
    const old = known.get(name);
    if (old === undefined) return [withoutNulls(item)];
    const patch = diffObjects(old, item, where);
    return Object.keys(patch).length === 0 ? [] : [{ [mergeKey]: name, ...patch }];
  });
  const kept = new Set(after.map((item) => item[mergeKey]));
  const removed = before.flatMap((item) =>
    kept.has(item[mergeKey]) ? [] : [{ [mergeKey]: item[mergeKey], [PATCH]: 'delete' }],
  );
  return {
    [`${ORDER}${key}`]: after.map((item) => ({ [mergeKey]: item[mergeKey] })),
    ...(changed.length + removed.length > 0 && { [key]: [...changed, ...removed] }),
  };
};

/**
 * Applies a strategic merge patch to `original`, as the API server does. Lists of plain values are replaced: none that
 * the agent writes is merged.
 *
 * Source: StrategicMergeMapPatch in staging/src/k8s.io/apimachinery/pkg/util/strategicpatch/patch.go
 */
export const applyStrategicMergePatch = (original: JsonObject, patch: JsonObject, mergeKeys: MergeKeys): JsonObject =>
  applyToObject(original, patch, { path: '', mergeKeys });

const applyToObject = (original: JsonObject, patch: JsonObject, where: Where): JsonObject => {
  const { [PATCH]: directive, ...content } = patch;
  if (directive === 'replace') return withoutNulls(content) as JsonObject;
  if (directive === 'delete') return {};
  const result: Record<string, unknown> = { ...original };
  for (const [key, value] of Object.entries(content)) {
    if (key.startsWith(ORDER)) continue;
    const before = result[key];
    const mergeKey = where.mergeKeys[below(where, key).path];
    if (value === null) delete result[key];
    else if (isObject(value)) result[key] = applyToObject(isObject(before) ? before : {}, value, below(where, key));
    else if (mergeKey !== undefined && Array.isArray(value)) {
      result[key] = applyToList(Array.isArray(before) ? before : [], value, mergeKey, below(where, key));
    } else result[key] = value;
  }
  for (const [key, value] of Object.entries(content)) {
    if (!key.startsWith(ORDER) || !Array.isArray(value)) continue;
    const name = key.slice(ORDER.length);
    const mergeKey = where.mergeKeys[below(where, name).path];
    const [list, before] = [result[name], original[name]];
    if (mergeKey === undefined || !Array.isArray(list)) continue;
    result[name] = inOrder(
      list,
      value.map((item) => keyOf(item, mergeKey)),
      Array.isArray(before) ? before.map((item) => keyOf(item, mergeKey)) : [],
      mergeKey,
    );
  }
  return result;
};

const applyToList = (
  before: readonly unknown[],
  patch: readonly unknown[],
  mergeKey: string,
  where: Where,
): readonly unknown[] => {
  const directives = patch.filter(isObject);
  if (directives.some((item) => item[PATCH] === 'replace')) {
    return directives.filter((item) => item[PATCH] === undefined).map(withoutNulls);
  }
  const removed = new Set(directives.filter((item) => item[PATCH] === 'delete').map((item) => item[mergeKey]));
  const result = before.filter((item) => !removed.has(keyOf(item, mergeKey)));
  for (const item of directives) {
    if (item[PATCH] === 'delete') continue;
    const at = result.findIndex((known) => keyOf(known, mergeKey) === item[mergeKey]);
    const known = result[at];
    if (at < 0) result.push(applyToObject({}, item, where));
    else result[at] = applyToObject(isObject(known) ? known : {}, item, where);
  }
  return result;
};

/** Sorts the elements that `order` names into that order; others stay before the first one that they preceded. */
const inOrder = (
  list: readonly unknown[],
  order: readonly unknown[],
  before: readonly unknown[],
  mergeKey: string,
): readonly unknown[] => {
  const nameOf = (item: unknown) => keyOf(item, mergeKey);
  const ordered = list
    .filter((item) => order.includes(nameOf(item)))
    .sort((one, other) => order.indexOf(nameOf(one)) - order.indexOf(nameOf(other)));
  const others = list.filter((item) => !order.includes(nameOf(item)));
  const stoodBefore = (one: unknown, other: unknown): boolean => {
    const [at, otherAt] = [before.indexOf(nameOf(one)), before.indexOf(nameOf(other))];
    return at >= 0 && otherAt >= 0 && at < otherAt;
  };
  const result: unknown[] = [];
  for (const item of ordered) {
    while (others[0] !== undefined && stoodBefore(others[0], item)) result.push(others.shift());
    result.push(item);
  }
  return [...result, ...others];
};

const below = ({ path, mergeKeys }: Where, key: string): Where => ({
  path: path === '' ? key : `${path}.${key}`,
  mergeKeys,
});

const isObject = (value: unknown): value is JsonObject =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

const isAbsent = (value: unknown): boolean => value === null || value === undefined;

const keyOf = (item: unknown, mergeKey: string): unknown => (isObject(item) ? item[mergeKey] : undefined);

/** Whether every element has a unique key. */
const areKeyed = (list: readonly unknown[], mergeKey: string): list is readonly JsonObject[] => {
  const keys = list.map((item) => keyOf(item, mergeKey));
  return keys.every((key) => typeof key === 'string') && new Set(keys).size === keys.length;
};

/** A null in a patch removes a field, so added values must not contain one. */
const withoutNulls = (value: unknown): unknown => {
  if (Array.isArray(value)) return value.map(withoutNulls);
  if (!isObject(value)) return value;
  return Object.fromEntries(
    Object.entries(value)
      .filter(([, item]) => !isAbsent(item))
      .map(([key, item]) => [key, withoutNulls(item)]),
  );
};
