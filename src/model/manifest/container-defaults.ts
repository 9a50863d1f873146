import type { V1ResourceRequirements } from '@kubernetes/client-node';
import type { Container, ContainerPort, HttpGetAction, Json, LifecycleHandler, Probe } from '../pod/pod.js';
import { pullPolicyOf } from './pull-policy.js';
import { inMillis } from './resource-defaults.js';
import { withFieldVersion } from './volume-defaults.js';

/**
 * Returns a container with the API's defaults.
 *
 * Source: pkg/apis/core/v1/defaults.go SetDefaults_Container, SetDefaults_Probe, SetDefaults_HTTPGetAction.
 */
export const withContainerDefaults = (container: Container, { hostNetwork }: { hostNetwork: boolean }): Container => {
  const { env, lifecycle, ports, resources, livenessProbe, readinessProbe, startupProbe } = container;
  return {
    ...container,
    // An empty text counts as absent.
    imagePullPolicy: container.imagePullPolicy || pullPolicyOf(container.image ?? ''),
    terminationMessagePath: container.terminationMessagePath || '/dev/termination-log',
    terminationMessagePolicy: container.terminationMessagePolicy || 'File',
    ...(env && {
      env: env.map((variable) =>
        variable.valueFrom ? { ...variable, valueFrom: withFieldVersion(variable.valueFrom) } : variable,
      ),
    }),
    ...(ports && { ports: ports.map((port) => withPortDefaults(port, hostNetwork)) }),
    ...(resources && { resources: withRequestsFromLimits(inMillis(resources)) }),
    ...(livenessProbe && { livenessProbe: withProbeDefaults(livenessProbe) }),
    ...(readinessProbe && { readinessProbe: withProbeDefaults(readinessProbe) }),
    ...(startupProbe && { startupProbe: withProbeDefaults(startupProbe) }),
    ...(lifecycle && {
      lifecycle: {
        ...lifecycle,
        ...(lifecycle.postStart && { postStart: withHandlerDefaults(lifecycle.postStart) }),
        ...(lifecycle.preStop && { preStop: withHandlerDefaults(lifecycle.preStop) }),
      },
    }),
  };
};

const withPortDefaults = (port: ContainerPort, hostNetwork: boolean): ContainerPort => ({
  ...port,
  protocol: port.protocol || 'TCP',
  // On the node's network a container port is a port of the node.
  ...(hostNetwork && !port.hostPort && { hostPort: port.containerPort }),
});

/** A limit without a request is also the request. */
const withRequestsFromLimits = (resources: Json<V1ResourceRequirements>): Json<V1ResourceRequirements> =>
  resources.limits ? { ...resources, requests: { ...resources.limits, ...resources.requests } } : resources;

/** A zero in a probe is the default, since it would otherwise be a busy loop or no timeout at all. */
const withProbeDefaults = (probe: Probe): Probe => ({
  ...withHttpGet(probe),
  ...(probe.grpc && { grpc: { service: '', ...probe.grpc } }),
  timeoutSeconds: probe.timeoutSeconds || 1,
  periodSeconds: probe.periodSeconds || 10,
  successThreshold: probe.successThreshold || 1,
  failureThreshold: probe.failureThreshold || 3,
});

const withHandlerDefaults = (handler: LifecycleHandler): LifecycleHandler => ({
  ...withHttpGet(handler),
  ...(handler.sleep && { sleep: { ...handler.sleep, seconds: handler.sleep.seconds ?? 0 } }),
});

const withHttpGet = <Handler extends Probe | LifecycleHandler>(handler: Handler): Handler =>
  handler.httpGet ? { ...handler, httpGet: withHttpGetDefaults(handler.httpGet) } : handler;

const withHttpGetDefaults = (action: HttpGetAction): HttpGetAction => ({
  ...action,
  path: action.path || '/',
  scheme: action.scheme || 'HTTP',
  ...(action.httpHeaders && {
    httpHeaders: action.httpHeaders.map((header) => ({ ...header, value: header.value ?? '' })),
  }),
});
