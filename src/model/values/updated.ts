/** Returns the value with these fields; the same value if it has them already. */
export const updated = <T extends object>(before: T, fields: Partial<T>): T =>
  (Object.keys(fields) as (keyof T)[]).every((key) => before[key] === fields[key]) ? before : { ...before, ...fields };
