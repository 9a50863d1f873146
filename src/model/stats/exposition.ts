/** One series of a metric: its labels as text, and its value. */
export interface Series {
  /** `{…}` or empty; see `labelText`. */
  readonly labels: string;
  readonly value: number;
  /** Unix milliseconds; absent for the time of the scrape. */
  readonly timeMs?: number;
}

export interface MetricFamily {
  readonly name: string;
  readonly help: string;
  readonly type: 'counter' | 'gauge';
  readonly series: readonly Series[];
}

/** The content type of the text format. */
export const EXPOSITION_TYPE = 'text/plain; version=0.0.4; charset=utf-8';

/** Returns the labels in the text format, with braces; empty without labels. */
export const labelText = (labels: Readonly<Record<string, string>>): string => {
  const pairs = Object.entries(labels).map(([name, value]) => `${name}="${escaped(value)}"`);
  return pairs.length === 0 ? '' : `{${pairs.join(',')}}`;
};

/** Adds a label to a text of `labelText`. */
export const withLabel = (labels: string, name: string, value: string): string => {
  const pair = `${name}="${escaped(value)}"`;
  return labels === '' ? `{${pair}}` : `{${pair},${labels.slice(1)}`;
};

/** Returns a family in the text format of Prometheus; empty without series. */
export const familyText = ({ name, help, type, series }: MetricFamily): string => {
  if (series.length === 0) return '';
  const lines = series.map(({ labels, value, timeMs }) =>
    timeMs === undefined
      ? `${name}${labels} ${numberText(value)}\n`
      : `${name}${labels} ${numberText(value)} ${Math.floor(timeMs)}\n`,
  );
  return `# HELP ${name} ${help}\n# TYPE ${name} ${type}\n${lines.join('')}`;
};

const escaped = (value: string): string =>
  /[\\"\n]/.test(value) ? value.replaceAll('\\', '\\\\').replaceAll('"', '\\"').replaceAll('\n', '\\n') : value;

const numberText = (value: number): string => {
  if (value === Infinity) return '+Inf';
  if (value === -Infinity) return '-Inf';
  return String(value);
};
