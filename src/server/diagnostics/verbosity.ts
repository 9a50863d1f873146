import type { IncomingMessage } from 'node:http';
import { send } from '../routes/http-routes.js';
import type { ParameterRoute } from '../routes/parameter-routes.js';

/** A number has no more. */
const MOST_BYTES = 32;

/**
 * The route that sets the verbosity of the log until the end of the process, by the body of a PUT.
 *
 * Source: pkg/kubelet/server/server.go InstallDebugFlagsHandler, staging/src/k8s.io/apiserver/pkg/server/routes/flags.go
 */
export const verbosityRoute = (setVerbosity: (verbosity: number) => void): ParameterRoute => ({
  methods: ['PUT'],
  path: '/debug/flags/v',
  handle: async (request, response) => {
    const text = await bodyOf(request);
    if (text === undefined) return;
    if (!/^\d{1,9}$/.test(text)) {
      const value = JSON.stringify(text);
      return send(response, {
        status: 400,
        body: `failed set klog.logging.verbosity ${value}: expected a whole number\n`,
      });
    }
    setVerbosity(Number(text));
    send(response, { status: 200, body: `successfully set klog.logging.verbosity to ${text}\n` });
  },
});

/** The beginning of the body, which is enough to refuse a longer one; undefined if the client disconnects before its end. */
const bodyOf = async (request: IncomingMessage): Promise<string | undefined> => {
  const chunks: Buffer[] = [];
  let size = 0;
  try {
    for await (const chunk of request.iterator({ destroyOnReturn: false }) as AsyncIterable<Buffer>) {
      chunks.push(chunk);
      size += chunk.length;
      if (size > MOST_BYTES) break;
    }
  } catch {
    return undefined;
  }
  return Buffer.concat(chunks)
    .toString('utf8', 0, MOST_BYTES + 1)
    .trim();
};
