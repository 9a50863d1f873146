const UNITS = [
  { name: 'd', ms: 86_400_000 },
  { name: 'h', ms: 3_600_000 },
  { name: 'm', ms: 60_000 },
  { name: 's', ms: 1000 },
] as const;

/** Formats milliseconds as short as possible, in at most two units: `340ms`, `1.2s`, `57s`, `4m57s`, `2h5m`. */
export const compactDuration = (ms: number): string => {
  if (ms < 0) return `-${compactDuration(-ms)}`;
  if (Math.round(ms) < 1000) return ms === 0 ? '0s' : `${Math.round(ms)}ms`;
  if (Math.round(ms / 100) < 100) return `${Math.round(ms / 100) / 10}s`;
  const seconds = Math.round(ms / 1000) * 1000;
  const first = UNITS.findIndex((unit) => seconds >= unit.ms);
  const [large, small] = UNITS.slice(first, first + 2);
  if (!large) return '0s';
  const rest = small ? Math.floor((seconds % large.ms) / small.ms) : 0;
  return `${Math.floor(seconds / large.ms)}${large.name}${small && rest > 0 ? `${rest}${small.name}` : ''}`;
};
