import type { V1HTTPGetAction, V1ResourceRequirements } from '@kubernetes/client-node';
import type { Container, ContainerPort, Json, LifecycleHandler, Probe } from '../pod.js';
import { pullPolicyOf } from './pull-policy.js';
import { withFieldVersion } from './volume-defaults.js';

/**
 * A container with what the API adds to it.
 *
 * Source: pkg/apis/core/v1/defaults.go SetDefaults_Container, SetDefaults_Probe, SetDefaults_HTTPGetAction.
 */
export const withContainerDefaults = (container: Container, { hostNetwork }: { hostNetwork: boolean }): Container => {
  const { env, lifecycle, ports, resources, livenessProbe, readinessProbe, startupProbe } = container;
  return {
    imagePullPolicy: pullPolicyOf(container.image ?? ''),
    terminationMessagePath: '/dev/termination-log',
    terminationMessagePolicy: 'File',
    ...container,
    ...(env && {
      env: env.map((variable) =>
        variable.valueFrom ? { ...variable, valueFrom: withFieldVersion(variable.valueFrom) } : variable,
      ),
    }),
    ...(ports && { ports: ports.map((port) => withPortDefaults(port, hostNetwork)) }),
    ...(resources && { resources: withRequestsFromLimits(resources) }),
    ...(livenessProbe && { livenessProbe: withProbeDefaults(livenessProbe) }),
    ...(readinessProbe && { readinessProbe: withProbeDefaults(readinessProbe) }),
    ...(startupProbe && { startupProbe: withProbeDefaults(startupProbe) }),
    ...(lifecycle && {
      lifecycle: {
        ...lifecycle,
        ...(lifecycle.postStart && { postStart: withHttpGet(lifecycle.postStart) }),
        ...(lifecycle.preStop && { preStop: withHttpGet(lifecycle.preStop) }),
      },
    }),
  };
};

const withPortDefaults = (port: ContainerPort, hostNetwork: boolean): ContainerPort => ({
  protocol: 'TCP',
  ...port,
  // On the node's network a container port is a port of the node.
  ...(hostNetwork && !port.hostPort && { hostPort: port.containerPort }),
});

/** What may be used at most is asked for, unless less is asked for. */
export const withRequestsFromLimits = (resources: Json<V1ResourceRequirements>): Json<V1ResourceRequirements> =>
  resources.limits ? { ...resources, requests: { ...resources.limits, ...resources.requests } } : resources;

/** A zero in a probe means the default, since zero would mean a busy loop or no timeout at all. */
const withProbeDefaults = (probe: Probe): Probe => ({
  ...withHttpGet(probe),
  ...(probe.grpc && { grpc: { service: '', ...probe.grpc } }),
  timeoutSeconds: probe.timeoutSeconds || 1,
  periodSeconds: probe.periodSeconds || 10,
  successThreshold: probe.successThreshold || 1,
  failureThreshold: probe.failureThreshold || 3,
});

const withHttpGet = <Handler extends Probe | LifecycleHandler>(handler: Handler): Handler =>
  handler.httpGet ? { ...handler, httpGet: withHttpGetDefaults(handler.httpGet) } : handler;

const withHttpGetDefaults = (action: Json<V1HTTPGetAction>): Json<V1HTTPGetAction> => ({
  ...action,
  path: action.path || '/',
  scheme: action.scheme || 'HTTP',
});
