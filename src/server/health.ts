/** What is wrong, or nothing. */
export type HealthCheck = () => Error | undefined;
export type HealthChecks = Readonly<Record<string, HealthCheck>>;

export interface TextAnswer {
  readonly status: number;
  readonly body: string;
}

/** Always well: it says that the process answers. */
export const ping: HealthCheck = () => undefined;

/**
 * The answer of `/healthz`: `ok`, or every check when one fails or when it is asked for all. A failure keeps its reason.
 *
 * Source: staging/src/k8s.io/apiserver/pkg/server/healthz/healthz.go.
 */
export const allHealth = (checks: HealthChecks, query: URLSearchParams): TextAnswer => {
  const excluded = new Set(query.getAll('exclude'));
  let isHealthy = true;
  const lines = Object.entries(checks).map(([name, check]) => {
    if (excluded.delete(name)) return `[+]${name} excluded: ok`;
    if (!check()) return `[+]${name} ok`;
    isHealthy = false;
    return `[-]${name} failed: reason withheld`;
  });
  if (excluded.size > 0) {
    const names = [...excluded].map((name) => JSON.stringify(name)).join(', ');
    lines.push(`warn: some health checks cannot be excluded: no matches for ${names}`);
  }
  if (!isHealthy) return { status: 500, body: [...lines, 'healthz check failed', ''].join('\n') };
  return { status: 200, body: query.has('verbose') ? [...lines, 'healthz check passed', ''].join('\n') : 'ok' };
};

/** The answer of `/healthz/<name>`. */
export const oneHealth = (check: HealthCheck): TextAnswer => {
  const failure = check();
  return failure ? { status: 500, body: `internal server error: ${failure.message}\n` } : { status: 200, body: 'ok' };
};
