/** Whether two JSON values are equal; an undefined field equals an absent one. */
export const deepEqual = (one: unknown, other: unknown): boolean => {
  if (Object.is(one, other)) return true;
  if (typeof one !== 'object' || typeof other !== 'object' || one === null || other === null) return false;
  if (Array.isArray(one) !== Array.isArray(other)) return false;
  const [left, right] = [one as Record<string, unknown>, other as Record<string, unknown>];
  const keys = new Set([...Object.keys(left), ...Object.keys(right)]);
  if (Array.isArray(one) && (one as unknown[]).length !== (other as unknown[]).length) return false;
  return [...keys].every((key) => deepEqual(left[key], right[key]));
};
