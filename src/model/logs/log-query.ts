import { logInstant } from './log-time.js';
import { logOptionProblems, type LogOptions, type LogStream } from './log-options.js';

/** The request of a query, or the reply to a query that is not valid. */
export type LogQuery = { readonly options: LogOptions } | { readonly status: 400 | 422; readonly text: string };

const UNDECODABLE: LogQuery = { status: 400, text: '{"message": "Unable to decode query."}' };
const INVALID: LogQuery = { status: 422, text: '{"message": "Invalid request."}' };

const STREAMS: readonly LogStream[] = ['All', 'Stdout', 'Stderr'];
/** An empty time is that of a time field without a value, which is before every line. */
const NO_TIME = '0001-01-01T00:00:00Z';

/**
 * Reads the query of a request for a log. The first value of a repeated parameter counts; `tail` is the former name of
 * `tailLines`, and counts before it. Without `splitStreams` both streams are printed together, and no other value of
 * `stream` is valid.
 *
 * Source: pkg/kubelet/server/server.go getContainerLogs, staging/src/k8s.io/apimachinery/pkg/runtime/conversion.go
 */
export const readLogQuery = (query: URLSearchParams, splitStreams: boolean): LogQuery => {
  const tail = query.get('tail') ?? '';
  const tailText = tail === '' ? query.get('tailLines') : tail === 'all' ? null : tail;
  const numbers = {
    sinceSeconds: int64(query.get('sinceSeconds')),
    tailLines: int64(tailText),
    limitBytes: int64(query.get('limitBytes')),
  };
  const sinceTime = timeOf(query.get('sinceTime'));
  if (Object.values(numbers).includes('wrong') || sinceTime === 'wrong') return UNDECODABLE;
  const stream = STREAMS.find((name) => name === (query.get('stream') ?? 'All'));
  if (stream === undefined || (stream !== 'All' && !splitStreams)) return INVALID;
  const options: LogOptions = {
    follow: bool(query.get('follow')),
    previous: bool(query.get('previous')),
    timestamps: bool(query.get('timestamps')),
    stream,
    ...(sinceTime !== undefined && { sinceTime }),
    ...Object.fromEntries(Object.entries(numbers).filter(([, value]) => value !== undefined)),
  };
  return logOptionProblems(options).length > 0 ? INVALID : { options };
};

const bool = (text: string | null): boolean => text !== null && text.toLowerCase() !== 'false' && text !== '0';

const int64 = (text: string | null): number | 'wrong' | undefined => {
  if (text === null) return undefined;
  if (!/^[+-]?\d{1,40}$/.test(text)) return 'wrong';
  const value = BigInt(text.replace('+', ''));
  return BigInt.asIntN(64, value) === value ? Number(value) : 'wrong';
};

const timeOf = (text: string | null): string | undefined => {
  if (text === null) return undefined;
  if (text === '' || text === 'null') return NO_TIME;
  return logInstant(text) === undefined ? 'wrong' : text;
};
