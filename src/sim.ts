// A world in virtual time around the agent: for whoever tests, explains or extends what a node does. Nothing here loads a module
// of Node.js; everything that is drawn comes from a seed.

// A node
export { type SimulatedNode, simulatedNode, type SimulatedNodeOptions } from './sim/simulated-node.js';
export type {
  CommandBehaviour,
  ContainerBehaviour,
  ImageBehaviour,
  InstanceBehaviour,
  LatencyRange,
  NodeBehaviours,
  ProbeFailure,
  StopBehaviour,
} from './sim/behaviour.js';
export { type SimulatedSource, simulatedSource } from './sim/simulated-source.js';
export { simulatedFacts } from './sim/simulated-facts.js';
export { type SimulatedDisk, simulatedDisk } from './sim/simulated-disk.js';
export { type SimulatedRuntime, simulatedRuntime } from './sim/runtime/simulated-runtime.js';
export type { SimulatedInstance, SimulatedPodSandbox, TellWorld, WorldEvent } from './sim/world-event.js';

// An API server, and what is asked of it
export {
  type AnsweredRequest,
  type SimulatedApiServer,
  simulatedApiServer,
  type SimulatedApiServerOptions,
} from './sim/api-server/simulated-api-server.js';
export type { ApiUser } from './sim/api-server/answer-request.js';
export type { StoredObject } from './sim/api-server/stored-object.js';
export { simulatedClusterOptions } from './sim/simulated-cluster.js';

// Time and draws
export { type SchedulerShare, VirtualScheduler, type VirtualSchedulerOptions } from './sim/virtual-scheduler.js';
export { type SeededRandom, seededRandom } from './sim/seeded-random.js';

// What goes wrong, and what must hold
export type { Fault, FaultKind } from './sim/faults/fault.js';
export { withFaults } from './sim/faults/with-faults.js';
export { INVARIANTS } from './sim/invariants/invariants.js';
export type { AgentSettings, EndOfRun, Finding, Invariant, Monitor, Violation } from './sim/invariants/monitor.js';
export { type Watch, watchInvariants } from './sim/invariants/watch-invariants.js';
export type { WorldTruth } from './sim/invariants/world-truth.js';

// Histories by seed
export type { History, HistoryNode, PodChange, PodPlan } from './sim/histories/history.js';
export type { ClusterChange, ClusterPlan } from './sim/histories/cluster-plan.js';
export { generateHistory } from './sim/histories/generate-history.js';
export { generateClusterHistory } from './sim/histories/generate-cluster-history.js';
export { type HistoryRun, type HistoryStats, runHistory, type RunOptions } from './sim/histories/run-history.js';
export { shrinkHistory, type ShrinkOptions, type ShrunkHistory } from './sim/histories/shrink-history.js';

// Recorded incidents
export { alignTimes, type Observation, type Observations, observeHistory } from './sim/incidents/observe-history.js';

// Scenarios and plans
export { readScenario, type ScenarioReading } from './sim/scenario/read-scenario.js';
export type { Scenario } from './sim/scenario/scenario.js';
export { type PlannedPods, type PlanOptions, runPlan } from './sim/plan/run-plan.js';
export type { Plan, PodPlan as PlannedPod } from './sim/plan/plan.js';
