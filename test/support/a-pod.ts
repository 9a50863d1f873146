import { CONFIG_SOURCE_ANNOTATION, type Pod, type PodSpec } from '../../src/model/pod/pod.js';

export interface PodSketch {
  readonly uid?: string;
  readonly name?: string;
  readonly namespace?: string;
  /** `api` makes it an ordinary pod, any other source a static one. */
  readonly source?: string;
  readonly phase?: string;
  readonly deletionTimestamp?: string;
  readonly deletionGracePeriodSeconds?: number;
  readonly annotations?: Readonly<Record<string, string>>;
  readonly labels?: Readonly<Record<string, string>>;
  readonly spec?: Partial<PodSpec>;
}

/** A pod as the sources deliver it: defaulted, with one container `main` unless the sketch says otherwise. */
export const aPod = ({
  uid = 'uid-1',
  name = 'web',
  namespace = 'default',
  source = 'file',
  phase,
  deletionTimestamp,
  deletionGracePeriodSeconds,
  annotations,
  labels,
  spec,
}: PodSketch = {}): Pod => ({
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: {
    uid,
    name,
    namespace,
    labels,
    annotations: { ...annotations, [CONFIG_SOURCE_ANNOTATION]: source },
    ...(deletionTimestamp === undefined ? {} : { deletionTimestamp }),
    ...(deletionGracePeriodSeconds === undefined ? {} : { deletionGracePeriodSeconds }),
  },
  spec: {
    restartPolicy: 'Always',
    terminationGracePeriodSeconds: 30,
    containers: [{ name: 'main', image: 'host' }],
    ...spec,
  },
  ...(phase === undefined ? {} : { status: { phase } }),
});
