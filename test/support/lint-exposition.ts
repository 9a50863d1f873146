/** The parts of a line of the text format. */
export interface SampleLine {
  readonly name: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly value: number;
  readonly timeMs: number | undefined;
}

/** The samples of a text. Errors: throws on a line that Prometheus refuses. */
export const samplesIn = (text: string): readonly SampleLine[] =>
  text
    .split('\n')
    .filter((line) => line !== '' && !line.startsWith('#'))
    .map((line) => {
      const [, name, , inside = '', value = '', time] =
        /^([a-zA-Z_:][\w:]*)(\{((?:[a-zA-Z_]\w*="(?:[^"\\\n]|\\[\\"n])*",?)*)\})? (\S+)(?: (-?\d+))?$/.exec(line) ?? [];
      const number = value === '+Inf' ? Infinity : Number(value);
      if (name === undefined || Number.isNaN(number)) throw new Error(`not a sample: ${line}`);
      const labels = Object.fromEntries(
        [...inside.matchAll(/([a-zA-Z_]\w*)="((?:[^"\\]|\\.)*)"/g)].map(([, key = '', of = '']) => [key, of]),
      );
      return { name, labels, value: number, timeMs: time === undefined ? undefined : Number(time) };
    });

/**
 * The problems of a text of metrics, without another process: those that `promtool check metrics` would report about these families, series that
 * are there twice, and families in more than one part. promtool sees no series that is there twice.
 */
export const lintExposition = (text: string): readonly string[] => {
  const problems: string[] = [];
  const families = new Map<string, { type: string; isOver: boolean }>();
  let current = '';
  const seen = new Set<string>();
  if (text !== '' && !text.endsWith('\n')) problems.push('the last line has no end');
  for (const line of text.split('\n')) {
    const [, help] = /^# HELP (\S+) \S/.exec(line) ?? [];
    const [, typed, type = ''] = /^# TYPE (\S+) (\S+)$/.exec(line) ?? [];
    if (line.startsWith('#') && help === undefined && typed === undefined) problems.push(`no help or type: ${line}`);
    if (help !== undefined) current = help;
    if (typed !== undefined) {
      if (typed !== current) problems.push(`${typed} no help text`);
      if (families.has(typed)) problems.push(`${typed} is in two parts`);
      families.set(typed, { type, isOver: false });
      if (type === 'counter' && !typed.endsWith('_total'))
        problems.push(`${typed} counter metrics should have "_total" suffix`);
      if (type === 'gauge' && typed.endsWith('_total'))
        problems.push(`${typed} non-counter metrics should not have "_total" suffix`);
      if (/_(count|sum|bucket)$/.test(typed)) problems.push(`${typed} has the suffix of a histogram`);
      if (/(^|_)(milliseconds|microseconds|nanoseconds|ms|kilobytes|mb|minutes|hours)(_|$)/.test(typed))
        problems.push(`${typed} use base unit`);
    }
  }
  for (const { name, labels } of samplesIn(text)) {
    if (!families.has(name)) problems.push(`${name} has no type`);
    const key = `${name}${JSON.stringify(Object.entries(labels).sort())}`;
    if (seen.has(key)) problems.push(`twice: ${key}`);
    seen.add(key);
    for (const label of Object.keys(labels))
      if (/[a-z][A-Z]/.test(label))
        problems.push(`${name} label names should be written in 'snake_case' not 'camelCase'`);
  }
  return [...new Set(problems)];
};
