/** One physical line of a container's log. */
export interface LogLine {
  /** RFC 3339 with up to nine digits of a second, as it stands there. */
  readonly timestamp: string;
  readonly stream: 'stdout' | 'stderr';
  /** The next line of the stream goes on where this one stops. */
  readonly isPartial: boolean;
  /** What the container wrote, without the end of the line. */
  readonly content: string;
}

const TIMESTAMP = String.raw`\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?(?:Z|[+-]\d\d:\d\d)`;
const CRI_LINE = new RegExp(String.raw`^(${TIMESTAMP}) (stdout|stderr) ([^ ]*) ([^]*)$`);
const ONLY_TIMESTAMP = new RegExp(`^${TIMESTAMP}$`);

/**
 * A line as CRI runtimes write it, `<RFC3339Nano> <stream> <tags> <content>`, or as Docker does, as a JSON object; `undefined`
 * for anything else. It is given without the newline that ends it.
 *
 * Source: staging/src/k8s.io/cri-client/pkg/logs/logs.go parseCRILog, parseDockerJSONLog
 */
export const parseLogLine = (line: string): LogLine | undefined => parseCriLine(line) ?? parseDockerLine(line);

/** Tags are divided by colons; the first says whether the line is whole, further ones are left to the future. */
const parseCriLine = (line: string): LogLine | undefined => {
  const [, timestamp, stream, tags, content] = CRI_LINE.exec(line) ?? [];
  if (timestamp === undefined || tags === undefined || content === undefined || !isStream(stream)) return undefined;
  return { timestamp, stream, isPartial: tags.split(':')[0] === 'P', content };
};

const parseDockerLine = (line: string): LogLine | undefined => {
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
 * What a container wrote at its end, both streams in the order of the log: of the last `maxLines` physical lines the last
 * `maxBytes` of UTF-8, with a newline after every line that is whole. A character that the limit would cut is left out.
 *
 * `text` is the log or its end. Lines that are none are passed over, such as the rest of one where the text begins; since
 * runtimes break what a container writes into lines of 16 KiB, `LOG_TAIL_BYTES` of a log are enough for `maxBytes` of 2048.
 *
 * Source: pkg/kubelet/kuberuntime/kuberuntime_container.go readLastStringFromContainerLogs
 */
export const lastLogLines = (
  text: string,
  { maxLines, maxBytes }: { readonly maxLines: number; readonly maxBytes: number },
): string => {
  if (maxLines <= 0) return '';
  const lines = text.split('\n');
  // What follows the last newline is not a line yet, and counts only if it can be read.
  const unfinished = lines.pop() ?? '';
  const written = lines
    .slice(-maxLines)
    .flatMap((line) => parseLogLine(line) ?? [])
    .map(({ content, isPartial }) => (isPartial ? content : `${content}\n`))
    .join('');
  return lastBytes(written + (parseLogLine(unfinished)?.content ?? ''), maxBytes);
};

/** How much of a log's end `lastLogLines` needs for a termination message. */
export const LOG_TAIL_BYTES = 64 * 1024;

const lastBytes = (text: string, maxBytes: number): string => {
  const bytes = new TextEncoder().encode(text);
  let start = Math.max(0, bytes.length - maxBytes);
  // A byte 10xxxxxx goes on with the character before it.
  while (start > 0 && ((bytes[start] ?? 0) & 0xc0) === 0x80) start += 1;
  return new TextDecoder('utf-8', { ignoreBOM: true }).decode(bytes.subarray(start));
};
