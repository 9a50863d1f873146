/** The longest path of a socket address on Linux, in bytes. */
const MAX_SOCKET_PATH = 107;

/**
 * The address of a runtime's socket in the form of gRPC: `unix:///path`. A bare absolute path counts as a unix socket.
 * `field` is the name of the flag or configuration field in errors.
 *
 * Errors: throws for any other address; the CRI has no authentication, so TCP is refused.
 */
export const parseCriEndpoint = (endpoint: string, field = 'containerRuntimeEndpoint'): string => {
  const refuse = (problem: string): never => {
    throw new Error(`${field}: ${problem}, got ${JSON.stringify(endpoint)}; expected unix:///path/to/socket`);
  };
  if (endpoint === '') return refuse('the endpoint is empty');
  const scheme = /^([a-z][a-z0-9+.-]*):/i.exec(endpoint)?.[1]?.toLowerCase();
  if (scheme !== undefined && scheme !== 'unix') return refuse(`the scheme ${scheme} is not supported`);
  const path = scheme === undefined ? endpoint : endpoint.slice('unix:'.length).replace(/^\/\//, '');
  if (!path.startsWith('/')) return refuse('the path of the socket must be absolute');
  if (/^\/+$/.test(path)) return refuse('the path of the socket is missing');
  const length = Buffer.byteLength(path);
  if (length > MAX_SOCKET_PATH) return refuse(`the path has ${length} bytes and a socket allows ${MAX_SOCKET_PATH}`);
  return `unix://${path}`;
};
