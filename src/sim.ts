// A simulated world in virtual time around the agent, to test, explain or extend a node. It loads no module of Node.js; all random numbers
// come from a seed.

// A node
export {
  type SimulatedNode,
  simulatedNode,
  type SimulatedNodeOptions,
  type SimulatedRejection,
} from './tools/sim/simulated-node.js';
export type { LifeReport } from './tools/sim/node/agent-life.js';
export type { RuntimeLoss } from './tools/sim/runtime/power-loss.js';
export type {
  CommandBehaviour,
  ContainerBehaviour,
  ImageBehaviour,
  InstanceBehaviour,
  LatencyRange,
  NodeBehaviours,
  ProbeFailure,
  ProbeName,
  PullBehaviour,
  StopBehaviour,
} from './tools/sim/world/behaviour.js';
export { type SimulatedSource, simulatedSource } from './tools/sim/node/simulated-source.js';
export type { DiskPorts, DiskPower, SimulatedDisk } from './tools/sim/disk/simulated-disk.js';
export { type SimulatedRuntime } from './tools/sim/runtime/simulated-runtime.js';
export type { SimulatedInstance, SimulatedPodSandbox, TellWorld, WorldEvent } from './tools/sim/world/world-event.js';

// An API server, and its requests
export {
  type AnsweredRequest,
  type SimulatedApiServer,
  simulatedApiServer,
  type SimulatedApiServerOptions,
} from './tools/sim/api-server/simulated-api-server.js';
export type { ApiUser } from './tools/sim/api-server/answer-request.js';
export type {
  Fields as ObjectFields,
  OwnerReference,
  StoredMeta,
  StoredObject,
} from './tools/sim/api-server/stored-object.js';
export type { StoredChange } from './tools/sim/api-server/object-store.js';
export type { ApiResource } from './tools/sim/api-server/api-resource.js';

// Time and draws
export {
  type SchedulerShare,
  VirtualScheduler,
  type VirtualSchedulerOptions,
} from './tools/sim/world/virtual-scheduler.js';
export { type SeededRandom, seededRandom } from './tools/sim/world/seeded-random.js';

// Faults and invariants
export type {
  AgentFault,
  ApiCallFault,
  ApiServerFault,
  ApiWayFault,
  CallFault,
  ClockFault,
  DiskFault,
  EventFault,
  Fault,
  MachineFault,
  NetworkFault,
  PowerFault,
  ResourceFault,
  ShutdownFault,
  SourceFault,
  Stretch as FaultStretch,
} from './tools/sim/faults/fault.js';
export type { FaultSide } from './tools/sim/faults/armed-fault.js';
export { type WithFaults, withFaults } from './tools/sim/faults/with-faults.js';
export { INVARIANTS } from './tools/sim/invariants/invariants.js';
export type {
  AgentSettings,
  EndOfRun,
  Finding,
  Invariant,
  Monitor,
  Violation,
} from './tools/sim/invariants/monitor.js';
export { type Watch, watchInvariants } from './tools/sim/invariants/watch-invariants.js';
export type { CallTruth, WorldTruth } from './tools/sim/invariants/world-truth.js';
export type { CallSubject } from './tools/sim/invariants/cri-request.js';
export type { InstanceTruth, PassTruth, PodTruth, SandboxTruth } from './tools/sim/invariants/pod-truth.js';

// Histories by seed
export type {
  History,
  HistoryEviction,
  HistoryNode,
  ObjectChange,
  ObjectPlan,
  PlannedPodChange,
  PodPlan,
  ResourceUse,
} from './tools/sim/histories/history.js';
export type { ContainerUse } from './tools/sim/node/simulated-resources.js';
export type { TellingFacts } from './model/node/node-facts.js';
export type { ClusterChange, ClusterPlan } from './tools/sim/histories/cluster-plan.js';
export { generateHistory } from './tools/sim/histories/generate-history.js';
export { generateClusterHistory } from './tools/sim/histories/generate-cluster-history.js';
export { type HistoryRun, type HistoryStats, runHistory, type RunOptions } from './tools/sim/histories/run-history.js';
export { shrinkHistory, type ShrinkOptions, type ShrunkHistory } from './tools/sim/histories/shrink-history.js';

// Recorded incidents
export {
  alignTimes,
  type Observation,
  type Observations,
  observeHistory,
} from './tools/sim/incidents/observe-history.js';

// Scenarios and plans
export { readScenario, type ScenarioReading } from './tools/sim/scenario/read-scenario.js';
export type { HookScript, InstanceScript, NodeScript, Scenario, TimelineStep } from './tools/sim/scenario/scenario.js';
export type { FieldIssue, FieldPath } from './model/manifest/field-issue.js';
export { type PlannedPods, type PlanOptions, runPlan } from './tools/sim/plan/run-plan.js';
export type {
  BackOff as PlannedBackOff,
  ContainerPlan as PlannedContainer,
  Drain as PlannedDrain,
  DrainStep as PlannedDrainStep,
  Drawn as PlannedDraw,
  InstancePlan as PlannedInstance,
  Plan,
  PlannedEvent,
  PodPlan as PlannedPod,
  ProbePlan as PlannedProbe,
  PulledImage as PlannedPull,
  Span as PlannedSpan,
} from './tools/sim/plan/plan.js';
export type { ContainerKind } from './model/pod/pod.js';
