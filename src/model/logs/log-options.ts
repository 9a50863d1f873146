/** The streams of a container that a reader wants, in the words of the API. */
export type LogStream = 'All' | 'Stdout' | 'Stderr';

/** A request for a log. Source: PodLogOptions in staging/src/k8s.io/api/core/v1/types.go. */
export interface LogOptions {
  readonly follow: boolean;
  /** The log of the instance before the current one. */
  readonly previous: boolean;
  /** The time of each line before it. */
  readonly timestamps: boolean;
  readonly stream: LogStream;
  /** Lines of this number of seconds before now, and newer ones. */
  readonly sinceSeconds?: number;
  /** Lines of this time, and newer ones. RFC 3339. */
  readonly sinceTime?: string;
  /** The last lines of the file; 0 for none. */
  readonly tailLines?: number;
  /** The most bytes of output. */
  readonly limitBytes?: number;
}

/**
 * Returns the problems of a request, in the texts of the API; none for a valid one.
 *
 * Source: pkg/apis/core/validation/validation.go ValidatePodLogOptions, with streams that can be selected
 */
export const logOptionProblems = ({
  sinceSeconds,
  sinceTime,
  tailLines,
  limitBytes,
  stream,
}: LogOptions): readonly string[] => [
  ...(tailLines !== undefined && tailLines < 0
    ? [`tailLines: Invalid value: ${tailLines}: must be greater than or equal to 0`]
    : []),
  ...(limitBytes !== undefined && limitBytes < 1
    ? [`limitBytes: Invalid value: ${limitBytes}: must be greater than 0`]
    : []),
  ...(sinceSeconds !== undefined && sinceTime !== undefined
    ? ['at most one of `sinceTime` or `sinceSeconds` may be specified']
    : sinceSeconds !== undefined && sinceSeconds < 1
      ? [`sinceSeconds: Invalid value: ${sinceSeconds}: must be greater than 0`]
      : []),
  ...(stream !== 'All' && tailLines !== undefined
    ? ['`tailLines` and specific `stream` are mutually exclusive for now']
    : []),
];
