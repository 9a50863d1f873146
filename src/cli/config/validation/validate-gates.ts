import type { ConfigurationRule } from './configuration-rule.js';
import { isGateOn } from '../fields/feature-gates.js';
import { isJsonObject } from '../document/merge-patch.js';

const RULES: readonly ConfigurationRule[] = [
  ({ serverTLSBootstrap, featureGates }) =>
    serverTLSBootstrap &&
    !isGateOn(featureGates, 'RotateKubeletServerCertificate') &&
    'serverTLSBootstrap true requires feature gate RotateKubeletServerCertificate',
  ({ shutdownGracePeriodMs, shutdownGracePeriodCriticalPodsMs, featureGates }) =>
    (shutdownGracePeriodMs > 0 || shutdownGracePeriodCriticalPodsMs > 0) &&
    !isGateOn(featureGates, 'GracefulNodeShutdown') &&
    'specifying shutdownGracePeriod or shutdownGracePeriodCriticalPods requires feature gate GracefulNodeShutdown',
  ({ shutdownGracePeriodByPodPriority: priorities, featureGates }) =>
    priorities.length > 0 &&
    !isGateOn(featureGates, 'GracefulNodeShutdownBasedOnPodPriority') &&
    'Specifying shutdownGracePeriodByPodPriority requires feature gate GracefulNodeShutdownBasedOnPodPriority',
  ({ featureGates }, { crashLoopBackOff }) =>
    isJsonObject(crashLoopBackOff) &&
    crashLoopBackOff.maxContainerRestartPeriod !== undefined &&
    !isGateOn(featureGates, 'KubeletCrashLoopBackOffMax') &&
    'FeatureGate KubeletCrashLoopBackOffMax not enabled, CrashLoopBackOff.MaxContainerRestartPeriod must not be set',
  ({ featureGates }, { imagePullCredentialsVerificationPolicy: policy }) =>
    policy !== undefined &&
    !isGateOn(featureGates, 'KubeletEnsureSecretPulledImages') &&
    '`imagePullCredentialsVerificationPolicy` must not be set if KubeletEnsureSecretPulledImages feature gate is not enabled',
  ({ preloadedImagesVerificationAllowlist: allowed, featureGates }) =>
    allowed.length > 0 &&
    !isGateOn(featureGates, 'KubeletEnsureSecretPulledImages') &&
    '`preloadedImagesVerificationAllowlist` must not be set if KubeletEnsureSecretPulledImages feature gate is not enabled',
  ({ memoryReservationPolicy: policy, featureGates }) =>
    policy === 'TieredReservation' &&
    !isGateOn(featureGates, 'MemoryQoS') &&
    'memoryReservationPolicy "TieredReservation" requires MemoryQoS feature gate to be enabled',
  // 0.9 was the default up to 1.36, so that written configurations contain it.
  ({ memoryThrottlingFactor: factor, featureGates }) =>
    typeof factor === 'number' &&
    factor !== 0.9 &&
    !isGateOn(featureGates, 'MemoryQoS') &&
    `memoryThrottlingFactor ${factor} requires MemoryQoS feature gate to be enabled`,
];

/**
 * Settings that need a feature gate which is off.
 *
 * Source: pkg/kubelet/apis/config/validation/validation.go.
 */
export const GATE_RULES: readonly ConfigurationRule[] = [...RULES];
