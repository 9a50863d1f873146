import { catchError, concatMap, defer, EMPTY, ignoreElements, type Observable, tap, throwError, timer } from 'rxjs';
import { errorText } from '../../model/cri/cri-error.js';
import { HttpFailure } from '../../model/config/http-failure.js';
import { hostAndPort, type HttpGetRequest, httpGetRequest, withoutTls } from '../../model/config/http-get.js';
import { type Container, formatPod, type HttpGetAction, type LifecycleHandler } from '../../model/pod/pod.js';
import { emitEvent, journaled, type PodSyncContext } from './pod-sync-context.js';

/** Source: pkg/kubelet/lifecycle/handlers.go maxRespBodyLength */
const MAX_BODY_BYTES = 10 * 1024;
/** The length of a command's output in a status; the kubelet keeps as much of the output of an exec probe. */
const MAX_OUTPUT_BYTES = 10 * 1024;

export interface Hook {
  readonly hook: LifecycleHandler;
  readonly containerId: string;
  /** The container whose named ports the hook may use. */
  readonly container: Container;
  /** Addresses of the pod, as the runtime has them. */
  readonly podIps: readonly string[];
}

/**
 * Runs one lifecycle hook and completes when it has ended well. It has no time limit: unsubscribing ends it. The status and the
 * body of an HTTP answer do not matter.
 *
 * Errors: `HookFailed`, also for a handler of an unknown kind.
 * Source: pkg/kubelet/lifecycle/handlers.go
 */
export const runHook = (context: PodSyncContext, hook: Hook): Observable<never> => {
  const { exec, httpGet, sleep } = hook.hook;
  if (exec) return runCommand(context, hook, exec.command ?? []);
  if (httpGet) return getOverHttp(context, hook, httpGet);
  if (sleep) {
    const { metrics, scheduler } = context.ports;
    return timer(sleep.seconds * 1000, scheduler).pipe(
      ignoreElements(),
      tap({ unsubscribe: () => metrics.sleepCutShort() }),
    );
  }
  // A tcpSocket is accepted because of old manifests; no kubelet has ever run it.
  return throwError(() => new HookFailed(`Cannot run handler: invalid handler: ${JSON.stringify(hook.hook)}`));
};

/** The message is in the status of the container, but not in an event: it may contain secrets. */
export class HookFailed extends Error {
  override readonly name = 'HookFailed';
}

const runCommand = (
  context: PodSyncContext,
  { containerId, container }: Hook,
  command: readonly string[],
): Observable<never> => {
  const { runtime } = context.ports;
  const exec$ = defer(() => runtime.execSync({ containerId, cmd: [...command], timeout: 0n })).pipe(
    concatMap(({ exitCode, stdout, stderr }) => {
      if (exitCode === 0) return EMPTY;
      const problem = `command '${command.join(' ')}' exited with ${exitCode}: ${printed(stderr)}`;
      return throwError(() => new ExitCodeError(problem, printed(stdout) + printed(stderr)));
    }),
  );
  return journaled(context, 'ExecSync', { target: containerId, container: container.name }, exec$).pipe(
    catchError((error: unknown) => {
      const output = error instanceof ExitCodeError ? error.output : '';
      return hookFailed(context, container, `Exec lifecycle hook ([${command.join(' ')}])`, error, output);
    }),
  );
};

class ExitCodeError extends Error {
  override readonly name = 'ExitCodeError';
  constructor(
    message: string,
    readonly output: string,
  ) {
    super(message);
  }
}

const printed = (output: Uint8Array): string => new TextDecoder().decode(output.subarray(0, MAX_OUTPUT_BYTES));

const getOverHttp = (context: PodSyncContext, { container, podIps }: Hook, action: HttpGetAction): Observable<never> =>
  defer(() => {
    const podIp = action.host || addressOf(context, podIps);
    if (podIp === undefined) throw new Error('failed to find networking container: the pod has no address');
    const request = httpGetRequest(action, { container, podIp, purpose: 'lifecycle' });
    return get(context, request, container).pipe(
      catchError((error: unknown) => {
        if (!(error instanceof HttpFailure && error.options.isPlainHttp)) throw error;
        return retryWithoutTls(context, request, container, error);
      }),
    );
  }).pipe(
    catchError((error: unknown) => hookFailed(context, container, `HTTP lifecycle hook (${action.path ?? ''})`, error)),
  );

/** A pod in the network of the node has the node's address. */
const addressOf = ({ pod, ports }: PodSyncContext, podIps: readonly string[]): string | undefined =>
  podIps[0] ?? (pod.spec.hostNetwork ? ports.node.nodeIps[0] : undefined);

const get = (context: PodSyncContext, request: HttpGetRequest, container: Container): Observable<never> => {
  const get$ = defer(() => context.ports.httpRequest(request, { maxBodyBytes: MAX_BODY_BYTES })).pipe(
    ignoreElements(),
    catchError((error: unknown) => {
      if (error instanceof HttpFailure && error.stage === 'body') return EMPTY;
      throw error;
    }),
  );
  // The path may hold secrets.
  const target = `${request.scheme}://${hostAndPort(request)}`;
  return journaled(context, 'HttpGet', { target, container: container.name }, get$);
};

/** The first error counts, unless it goes well now. */
const retryWithoutTls = (
  context: PodSyncContext,
  request: HttpGetRequest,
  container: Container,
  first: HttpFailure,
): Observable<never> =>
  get(context, withoutTls(request), container).pipe(
    tap({
      complete: () => {
        const message = `request to HTTPS lifecycle hook ${hostAndPort(request)} got HTTP response, retry with HTTP succeeded`;
        emitEvent(context, 'Warning', 'LifecycleHTTPFallback', message);
        context.ports.metrics.hookFellBackToHttp();
      },
    }),
    catchError(() => throwError(() => first)),
  );

const hookFailed = (
  { pod }: PodSyncContext,
  { name }: Container,
  what: string,
  error: unknown,
  output = '',
): Observable<never> => {
  const where = `for Container ${JSON.stringify(name)} in Pod ${JSON.stringify(formatPod(pod))}`;
  const message = output === '' ? '' : `, message: ${JSON.stringify(output)}`;
  return throwError(
    () => new HookFailed(`${what} ${where} failed - error: ${errorText(error)}${message}`, { cause: error }),
  );
};
