import { expect, it } from 'vitest';
import { declaredFeatures } from '../../../src/cli/cluster/declared-features.js';

const RESIZES = 'InPlacePodVerticalScalingInitContainers';
const OF_PODS = 'InPlacePodLevelResourcesVerticalScaling';
const REQUIRED = 'RestartAllContainersOnContainerExits';

it.each<[row: string, gates: Readonly<Record<string, boolean>>, declared: readonly string[]]>([
  ['no setting', {}, [OF_PODS, RESIZES, REQUIRED]],
  ['the gate off', { [REQUIRED]: false }, [OF_PODS, RESIZES]],
  ['the gate and all beta features off', { AllBeta: false }, [RESIZES]],
  ['all alpha and beta features on', { AllAlpha: true, AllBeta: true }, [OF_PODS, RESIZES, REQUIRED]],
])('with %s, a Node declares only features that this agent has', (_, featureGates, declared) => {
  expect(declaredFeatures({ featureGates })).toEqual(declared);
});
