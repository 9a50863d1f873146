/** One physical line of a container's log. */
export interface LogLine {
  /** RFC 3339 with up to nine digits of a second, unchanged. */
  readonly timestamp: string;
  readonly stream: 'stdout' | 'stderr';
  /** The next line of the stream continues this line. */
  readonly isPartial: boolean;
  /** The output of the container, without the line break. */
  readonly content: string;
}

const DATE = String.raw`\d{4}-(?:0[1-9]|1[0-2])-(?:0[1-9]|[12]\d|3[01])`;
const TIME = String.raw`(?:[01]\d|2[0-3]):[0-5]\d:[0-5]\d(?:\.\d+)?(?:Z|[+-]\d\d:[0-5]\d)`;
const TIMESTAMP = `${DATE}T${TIME}`;
const CRI_LINE = new RegExp(String.raw`^(${TIMESTAMP}) (stdout|stderr) ([^ ]*) ([^]*)$`);
const ONLY_TIMESTAMP = new RegExp(`^${TIMESTAMP}$`);

/**
 * Parses a line in the format of CRI runtimes, `<RFC3339Nano> <stream> <tags> <content>`, or of Docker, a JSON object;
 * returns `undefined` for any other line. The line comes without its final newline.
 *
 * Source: staging/src/k8s.io/cri-client/pkg/logs/logs.go parseCRILog, parseDockerJSONLog
 */
export const parseLogLine = (line: string): LogLine | undefined => parseCriLine(line) ?? parseDockerLine(line);

/** Colons separate the tags; the first one tags a whole or partial line, further ones are reserved. */
export const parseCriLine = (line: string): LogLine | undefined => {
  const [, timestamp, stream, tags, content] = CRI_LINE.exec(line) ?? [];
  if (timestamp === undefined || tags === undefined || content === undefined || !isStream(stream)) return undefined;
  return { timestamp, stream, isPartial: tags.split(':')[0] === 'P', content };
};

/** Docker's own line: an object with the output, its line break included. */
export const parseDockerLine = (line: string): LogLine | undefined => {
  if (!line.startsWith('{')) return undefined;
  let parsed: unknown;
  try {
    parsed = JSON.parse(line);
  } catch {
    return undefined;
  }
  if (typeof parsed !== 'object' || parsed === null) return undefined;
  const { log = '', stream, time } = parsed as Partial<Record<string, unknown>>;
  if (typeof log !== 'string' || typeof time !== 'string' || !ONLY_TIMESTAMP.test(time) || !isStream(stream)) {
    return undefined;
  }
  const isPartial = !log.endsWith('\n');
  return { timestamp: time, stream, isPartial, content: isPartial ? log : log.slice(0, -1) };
};

const isStream = (text: unknown): text is LogLine['stream'] => text === 'stdout' || text === 'stderr';

/**
 * Returns the end of a container's output, both streams in the order of the log: of the last `maxLines` physical lines
 * the last `maxBytes` of UTF-8, with a newline after every whole line. A character that the limit would split is left
 * out.
 *
 * `text` is the log or its end. Invalid lines are skipped, such as a partial line at the beginning of `text`. Runtimes
 * split the output of a container into lines of 16 KiB, so `LOG_TAIL_BYTES` of a log are enough for `maxBytes` of 2048.
 *
 * Source: pkg/kubelet/kuberuntime/kuberuntime_container.go readLastStringFromContainerLogs
 */
export const lastLogLines = (
  text: string,
  { maxLines, maxBytes }: { readonly maxLines: number; readonly maxBytes: number },
): string => {
  if (maxLines <= 0) return '';
  const lines = text.split('\n');
  // The text after the last newline is not a line yet, and counts only if it can be parsed.
  const unfinished = lines.pop() ?? '';
  const written = lines
    .slice(-maxLines)
    .flatMap((line) => parseLogLine(line) ?? [])
    .map(({ content, isPartial }) => (isPartial ? content : `${content}\n`))
    .join('');
  return lastBytes(written + (parseLogLine(unfinished)?.content ?? ''), maxBytes);
};

/** The bytes at a log's end that `lastLogLines` needs for a termination message. */
export const LOG_TAIL_BYTES = 64 * 1024;

const lastBytes = (text: string, maxBytes: number): string => {
  const bytes = new TextEncoder().encode(text);
  let start = Math.max(0, bytes.length - maxBytes);
  // A byte 10xxxxxx continues the character before it.
  while (start > 0 && ((bytes[start] ?? 0) & 0xc0) === 0x80) start += 1;
  return new TextDecoder('utf-8', { ignoreBOM: true }).decode(bytes.subarray(start));
};
