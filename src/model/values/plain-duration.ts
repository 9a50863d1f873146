const UNITS = [
  { name: 'd', ms: 86_400_000 },
  { name: 'h', ms: 3_600_000 },
  { name: 'min', ms: 60_000 },
  { name: 's', ms: 1000 },
] as const;

/**
 * Formats a duration for a sentence, in at most two units: `37 s`, `10 min`, `2 h 5 min`. A negative duration is zero.
 */
export const plainDuration = (ms: number): string => {
  const seconds = Math.max(0, Math.round(ms / 1000)) * 1000;
  const first = UNITS.findIndex((unit) => seconds >= unit.ms);
  if (first < 0) return '0 s';
  const [large, small] = UNITS.slice(first, first + 2);
  if (!large) return '0 s';
  const rest = small ? Math.floor((seconds % large.ms) / small.ms) : 0;
  const head = `${Math.floor(seconds / large.ms)} ${large.name}`;
  return small && rest > 0 ? `${head} ${rest} ${small.name}` : head;
};
