/** The labels of a request in the metrics. */
export interface RequestLabels {
  readonly method: string;
  readonly path: string;
  readonly server_type: 'readonly' | 'readwrite';
  readonly long_running: 'true' | 'false';
}

const METHODS = ['OPTIONS', 'GET', 'HEAD', 'POST', 'PUT', 'DELETE', 'TRACE', 'CONNECT'];

/** The known first segments; those of metrics have two. A client cannot add a value of a label. */
const PATHS = [
  ...['healthz', 'pods', 'stats', 'metrics', 'metrics/cadvisor', 'metrics/resource', 'metrics/probes', 'metrics/slis'],
  ...['run', 'exec', 'attach', 'portForward', 'containerLogs', 'configz', 'runningpods', 'checkpoint', 'logs', 'debug'],
  ...['flagz', 'statusz'],
];

/** `portForward` is missing, since the kubelet spells it `portforward` here. */
const LONG_RUNNING = ['exec', 'attach', 'debug'];

/** Returns the labels of a request. Source: pkg/kubelet/server/server.go ServeHTTP, getMetricBucket */
export const requestLabels = (
  method: string,
  path: string,
  serverType: RequestLabels['server_type'],
): RequestLabels => {
  const [first = '', second] = path.replace(/^\//, '').split('/', 3);
  const root = first === 'metrics' && second !== undefined ? `${first}/${second}` : first;
  const known = PATHS.includes(root) ? root : 'other';
  return {
    method: METHODS.includes(method) ? method : 'other',
    path: known,
    server_type: serverType,
    long_running: LONG_RUNNING.includes(known) ? 'true' : 'false',
  };
};
