/** A problem that does not make the check fail. */
export class Remark extends Error {
  override readonly name = 'Remark';
}

/** Returns the problem, or undefined; a `Remark` is reported without failing the check. */
export type HealthCheck = () => Error | undefined;
export type HealthChecks = Readonly<Record<string, HealthCheck>>;

export interface TextAnswer {
  readonly status: number;
  readonly body: string;
}

/** Always succeeds: a reply shows that the process is alive. */
export const ping: HealthCheck = () => undefined;

/**
 * Always succeeds: the agent writes every line of its log before it goes on, so while the log takes none there is no reply.
 *
 * Source: LogHealthz, of a kubelet, which writes its lines later.
 */
export const log: HealthCheck = () => undefined;

/**
 * The reply of `/healthz`: `ok`, or the list of all checks if one fails or if `verbose` is set. The list does not
 * contain the reason of a failure. `observe` receives each check that was not excluded.
 *
 * Source: staging/src/k8s.io/apiserver/pkg/server/healthz/healthz.go.
 */
export const allHealth = (
  checks: HealthChecks,
  query: URLSearchParams,
  observe: (name: string, isHealthy: boolean) => void = () => undefined,
): TextAnswer => {
  const excluded = new Set(query.getAll('exclude'));
  let isHealthy = true;
  const lines = Object.entries(checks).map(([name, check]) => {
    if (excluded.delete(name)) return `[+]${name} excluded: ok`;
    const problem = check();
    observe(name, !problem || problem instanceof Remark);
    if (!problem) return `[+]${name} ok`;
    if (problem instanceof Remark) return `[+]${name} ok: ${problem.message}`;
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

/** The reply of `/healthz/<name>`. */
export const oneHealth = (check: HealthCheck): TextAnswer => {
  const failure = check();
  if (failure instanceof Remark) return { status: 200, body: `ok: ${failure.message}\n` };
  return failure ? { status: 500, body: `internal server error: ${failure.message}\n` } : { status: 200, body: 'ok' };
};
