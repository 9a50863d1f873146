const CUT_OFF = 'the connection was closed before the end was reported';

/**
 * The status that a client of version 5 receives, for the whole text of an error stream of this protocol. From version 4 on that is a
 * status, which is passed on as it is; before, it is the message of a failure, or nothing.
 *
 * Source: staging/src/k8s.io/client-go/tools/remotecommand/v2.go, v4.go; staging/src/k8s.io/apiserver/pkg/util/proxy/streamtranslator.go
 */
export const convertedStatus = (report: string, protocol: string): string => {
  const hasStatus = /^v[45]\./.test(protocol);
  if (report === '') return hasStatus ? internalError(CUT_OFF) : JSON.stringify({ metadata: {}, status: 'Success' });
  return hasStatus ? report : internalError(report);
};

const internalError = (message: string): string =>
  JSON.stringify({
    metadata: {},
    status: 'Failure',
    message: `Internal error occurred: ${message}`,
    reason: 'InternalError',
    details: { causes: [{ message }] },
    code: 500,
  });
