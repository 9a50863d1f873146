import { isAtOrBelow } from './request-path.js';

/** The switches of endpoints. */
export interface EndpointSwitches {
  readonly enableDebuggingHandlers: boolean;
  readonly enableSystemLogHandler: boolean;
  readonly enableProfilingHandler: boolean;
  readonly enableDebugFlagsHandler: boolean;
}

const DEBUG_PATHS = [
  '/run',
  '/exec',
  '/attach',
  '/portForward',
  '/containerLogs',
  '/runningpods',
  '/debug/pprof',
  '/logs',
];

/**
 * Returns the text of the reply 405 for an endpoint that the configuration turns off; undefined for any other path.
 *
 * Source: pkg/kubelet/server/server.go InstallDebuggingDisabledHandlers, InstallSystemLogHandler, InstallProfilingHandler,
 * InstallDebugFlagsHandler
 */
export const disabledEndpoint = (path: string, switches: EndpointSwitches): string | undefined => {
  if (!switches.enableDebuggingHandlers) {
    return DEBUG_PATHS.some((base) => isAtOrBelow(path, base)) ? 'Debug endpoints are disabled.\n' : undefined;
  }
  if (!switches.enableSystemLogHandler && isAtOrBelow(path, '/logs')) return 'logs endpoint is disabled.\n';
  if (!switches.enableProfilingHandler && isAtOrBelow(path, '/debug/pprof')) return 'profiling endpoint is disabled.\n';
  if (!switches.enableDebugFlagsHandler && isAtOrBelow(path, '/debug/flags/v')) return 'flags endpoint is disabled.\n';
  return undefined;
};
