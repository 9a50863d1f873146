import { monotonicScheduler } from '../../host/monotonic-scheduler.js';
import { recordProfile } from '../../host/record-profile.js';
import { KUBERNETES_VERSION } from '../../model/node/kubernetes-version.js';
import type { ParameterRoute } from '../../server/routes/parameter-routes.js';
import { profileRoutes } from '../../server/diagnostics/profiles.js';
import { verbosityRoute } from '../../server/diagnostics/verbosity.js';
import { zPages } from '../../server/diagnostics/z-pages.js';
import { timedProfile } from '../../streams/server/timed-profile.js';
import { configurationView } from '../config/document/configuration-view.js';
import { isGateOn } from '../config/fields/feature-gates.js';
import type { PreparedRun } from '../arguments/prepare-run.js';
import type { RunFlags } from '../arguments/run-flags.js';
import { shownFlags } from '../arguments/shown-flags.js';

/** The facts of the process that the kubelet API shows. */
export interface ProcessView {
  readonly flags: RunFlags;
  readonly startedAt: Date;
  readonly version: string;
  readonly setVerbosity: (verbosity: number) => void;
}

export interface DiagnosticPathsInputs {
  readonly prepared: Pick<PreparedRun, 'config'>;
  readonly process: ProcessView;
}

/** The paths of the main port. Source: pkg/kubelet/server/server.go */
const PATHS = [
  ...['/attach', '/checkpoint', '/configz', '/containerLogs', '/debug', '/exec', '/flagz', '/healthz', '/logs'],
  ...['/metrics', '/pods', '/portForward', '/run', '/runningpods', '/stats', '/statusz'],
];

/** The paths of the kubelet API for the process itself: its state, its flags. */
export const diagnosticPaths = ({
  prepared: { config },
  process: { flags, startedAt, version, setVerbosity },
}: DiagnosticPathsInputs): readonly ParameterRoute[] => {
  const gates = config.featureGates;
  const facts = {
    startedAt: startedAt.getTime(),
    version,
    nodeVersion: process.version,
    emulationVersion: KUBERNETES_VERSION,
    paths: PATHS,
  };
  const takeProfile = timedProfile({ record: recordProfile, scheduler: monotonicScheduler });
  return [
    ...zPages({
      facts: isGateOn(gates, 'ComponentStatusz') ? facts : undefined,
      flags: isGateOn(gates, 'ComponentFlagz') ? shownFlags(flags, configurationView(config)) : undefined,
      now: () => Date.now(),
      random: Math.random,
    }),
    ...profileRoutes(takeProfile),
    verbosityRoute(setVerbosity),
  ];
};
