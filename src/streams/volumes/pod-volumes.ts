import {
  catchError,
  concat,
  concatMap,
  defer,
  EMPTY,
  from,
  ignoreElements,
  map,
  type Observable,
  of,
  type SchedulerLike,
  throwError,
} from 'rxjs';
import type { DeepPartial, Mount, RuntimeHandler } from '../../generated/runtime/v1/api.js';
import { CreateContainerConfigError } from '../../model/cri/create-container-config-error.js';
import { errorText } from '../../model/cri/cri-error.js';
import { type EnvFiles, NO_ENV_FILES } from '../../model/cri/env-files.js';
import type { JournalId } from '../../model/journal/journal.js';
import type { Volume } from '../../model/manifest/volume-defaults.js';
import type { NodeFacts } from '../../model/node/node-facts.js';
import { type Container, type EphemeralContainer, type Pod, podRef } from '../../model/pod/pod.js';
import { podDirectory } from '../../model/pod/pod-paths.js';
import {
  containerMounts,
  hostPathChecks,
  hostPathRefusal,
  mountPointRefusal,
  subPathRefusal,
} from '../../model/volumes/container-mounts.js';
import { hasTmpfsNoswap } from '../../model/volumes/memory-medium.js';
import { ownMountPoints } from '../../model/volumes/nested-mount-points.js';
import { payloadNeeds } from '../../model/volumes/payload-needs.js';
import { refusedVolumes, volumesRefusal } from '../../model/volumes/refused-volumes.js';
import { SettledVolumes } from '../../model/volumes/settled-volumes.js';
import { supportsRecursiveReadOnly } from '../../model/volumes/recursive-read-only.js';
import { SyncCancelled } from '../../model/pod-actions/sync-error.js';
import { mountedVolumesSetUpAgain, usedVolumes } from '../../model/volumes/used-volumes.js';
import { volumeOfPlugin, volumePluginOf } from '../../model/volumes/volume-plugin.js';
import { countByPlugin } from '../../model/volumes/volume-states.js';
import type { VolumeFacts } from '../../model/volumes/volume-setup-of.js';
import { setUpFailedText, waitFailedText } from '../../model/volumes/volume-texts.js';
import { errorOnAbort } from '../operators/error-on-abort.js';
import type { Logger } from '../ports/logger.js';
import type { Metrics } from '../ports/metrics.js';
import type { ReferenceChange } from '../ports/pod-references.js';
import type { PodReferences } from '../ports/pod-references.js';
import type { RecordEvent } from '../ports/record-event.js';
import type { RecordJournal } from '../ports/record-journal.js';
import type { ReadPodCertificate } from '../ports/read-pod-certificate.js';
import type { RequestPodToken } from '../ports/request-pod-token.js';
import type { RuntimeClasses } from '../ports/runtime-classes.js';
import type { VolumeFiles } from '../ports/volume-files.js';
import { measuredOperation } from './measured-operation.js';
import { readEnvFiles } from './read-env-files.js';
import { volumeContent } from './volume-content.js';
import type { KubeletState } from '../sync-loop/kubelet-state.js';
import { volumeManager } from './volume-manager.js';
import { volumeOperations } from './volume-operations.js';
import type { FailedAttempt } from './volume-work.js';

/** The volumes of pods as a worker needs them. Source: pkg/kubelet/volumemanager/volume_manager.go */
export interface PodVolumes {
  /**
   * Sets up each volume that a container of the pod uses, and completes when all are there. Volumes that are there already are
   * brought up to date meanwhile, and not waited for. `causes` are named by what is done for the pod from now on.
   *
   * Errors: after 2 min 3 s, and at once for a kind that is not supported: `unmounted volumes=[…], unattached volumes=[…], failed to
   *         process volumes=[…]: <cause>`.
   */
  readonly mount: (pod: Pod, causes: readonly JournalId[]) => Observable<never>;
  /**
   * Emits once the env files of the pod's volumes to which the environment of the container refers. A file in a volume that is not
   * mounted is left out. Errors: none.
   */
  readonly envFiles: (pod: Pod, container: Container | EphemeralContainer) => Observable<EnvFiles>;
  /**
   * Emits once the mounts of one container: its `volumeMounts` in order, with the types of their host paths checked and their sub-paths
   * bound. Files that were not compared with the disk within the last minute are set up again before; if that fails, or takes longer
   * than 10 s, the container gets the files from before.
   *
   * Errors: `CreateContainerConfigError` with the volume that cannot be mounted; `SyncCancelled` when the signal fires during the
   *         set-up.
   */
  readonly mountsOf: (
    pod: Pod,
    container: Container | EphemeralContainer,
    input: MountInput,
  ) => Observable<readonly DeepPartial<Mount>[]>;
  /**
   * Updates the volumes of a pod no more, since its containers end. In a namespace that is deleted the objects may go before the pod.
   */
  readonly leave: (uid: string) => void;
  /**
   * Takes down the volumes of a pod whose containers have ended, and completes when nothing of them is left.
   *
   * Errors: after 2 min 3 s, `mounted volumes=[…]: <cause>`.
   */
  readonly unmount: (pod: Pod, causes: readonly JournalId[]) => Observable<never>;
}

export interface MountInput {
  /** Returns the value of a variable of the container's environment, for `subPathExpr`. */
  readonly variable: (name: string) => string | undefined;
  /** The references of image volumes on this node, by volume. */
  readonly images: ReadonlyMap<string, string>;
  /** The other mounts of the container, which may be inside of its volumes. */
  readonly agentMounts?: readonly DeepPartial<Mount>[];
  /** Fires when a newer update cancels the sync of the pod. */
  readonly signal?: AbortSignal | undefined;
}

export interface PodVolumesPorts {
  readonly state: Pick<KubeletState, 'apply' | 'transition$' | 'volumes'>;
  readonly volumeFiles: VolumeFiles;
  readonly podReferences?: Pick<PodReferences, 'configMap' | 'secret' | 'trustBundles' | 'changed$'> | undefined;
  readonly podToken?: RequestPodToken | undefined;
  readonly podCertificate?: ReadPodCertificate | undefined;
  readonly node: NodeFacts;
  /** Returns the handlers of the runtime in its last status; undefined before the first. */
  readonly runtimeHandlers?: (() => readonly RuntimeHandler[] | undefined) | undefined;
  /** Absent for an agent that knows no runtime classes: its pods have the default handler. */
  readonly runtimeClasses?: RuntimeClasses | undefined;
  readonly record: RecordJournal;
  readonly recordEvent: RecordEvent;
  readonly metrics: Pick<Metrics, 'storageOperation' | 'volumes'>;
  readonly log: Logger;
  readonly scheduler: SchedulerLike;
}

/** The volumes of a node, and the work that keeps them true. */
export interface NodeVolumes extends PodVolumes {
  /** Removes what is left of the volumes of a pod that is over and has no worker. Errors: see `unmount`. */
  readonly removeLeftovers: (uid: string) => Observable<never>;
  /** Does all operations on volumes. Emits nothing and never ends. Errors: none. */
  readonly run$: Observable<never>;
}

/**
 * Failed updates in a row of a volume before an event reports them, 3.5 s in all. The files from before are there meanwhile, and what the
 * server says can change within seconds: a namespace that is deleted may lose its objects before its pods have to end.
 */
export const UNREPORTED_UPDATES = 3;

/** Makes the volumes of one life of the agent. */
export const podVolumes = (ports: PodVolumesPorts): NodeVolumes => {
  const { state, volumeFiles, podReferences, node, record, recordEvent, metrics, log, scheduler } = ports;
  const facts = (): VolumeFacts => ({
    rootDirectory: node.rootDirectory,
    allocatable: node.allocatable ?? {},
    hasTmpfsNoswap: hasTmpfsNoswap(node.kernelVersion),
  });
  const causesOf = new Map<string, readonly JournalId[]>();
  const measured = measuredOperation({ record, metrics, scheduler, causes: (uid) => causesOf.get(uid) ?? [] });
  const settled = new SettledVolumes();
  const operations = volumeOperations({
    volumeFiles,
    node: facts,
    settled,
    now: () => scheduler.now(),
    content: (pod, volume) => volumeContent(pod, volume, { ...ports, node: facts }),
  });

  const failed = ({ pod, volume, step, isUpdate, error, failures }: FailedAttempt): void => {
    if (isUpdate && failures <= UNREPORTED_UPDATES) return;
    const causes = causesOf.get(pod.metadata.uid) ?? [];
    if (step === 'mount') {
      const message = setUpFailedText(volume.name, errorText(error));
      recordEvent({ pod, type: 'Warning', reason: 'FailedMount', message, causes });
    } else
      log.warn({ pod: podRef(pod), volume: volume.name, error: errorText(error) }, 'a volume could not be taken down');
  };
  const manager = volumeManager({
    state,
    setUp: (pod, volume) => {
      const isFirst = !state.volumes.isMounted(pod.metadata.uid, volume.name);
      return measured(isFirst ? 'mount' : 'update', pod, volume, operations.setUp(pod, volume));
    },
    tearDown: (pod, volume) => measured('unmount', pod, volume, operations.tearDown(pod, volume)),
    wantedOf: usedVolumes,
    foundOf: (uid) =>
      volumeFiles
        .found(podDirectory(node.rootDirectory, uid))
        .pipe(map((found) => found.map(({ plugin, name }) => volumeOfPlugin(plugin, name)))),
    isUpdated: (volume) => volumePluginOf(volume)?.isSetUpAgain ?? false,
    usesObject,
    ...(podReferences && { changed$: podReferences.changed$ }),
    failed,
    counted: (states) => metrics.volumes(countByPlugin(states.all())),
    scheduler,
  });

  const mount = (pod: Pod, causes: readonly JournalId[]): Observable<never> =>
    defer(() => {
      causesOf.set(pod.metadata.uid, causes);
      const refusal = volumesRefusal(pod);
      if (refusal === undefined) return manager.mount(pod);
      // Nothing of the pod is set up.
      for (const { name, problem } of refusedVolumes(pod))
        record({
          kind: 'volume',
          volume: name,
          step: 'mount',
          durationMs: 0,
          error: problem,
          pod: podRef(pod),
          causes,
        });
      recordEvent({ pod, type: 'Warning', reason: 'FailedMount', message: waitFailedText(refusal), causes });
      return throwError(() => new Error(refusal));
    });

  const unmount = (pod: Pod, causes: readonly JournalId[]): Observable<never> =>
    concat(
      defer(() => {
        causesOf.set(pod.metadata.uid, causes);
        return manager.unmount(pod);
      }),
      defer(() => {
        causesOf.delete(pod.metadata.uid);
        return EMPTY;
      }),
    );

  const canMountRecursivelyReadOnly = ({ spec: { runtimeClassName: name } }: Pod): boolean => {
    const handler = name && ports.runtimeClasses ? ports.runtimeClasses(name) : '';
    return handler !== undefined && supportsRecursiveReadOnly(handler, ports.runtimeHandlers?.());
  };

  /** Between two syncs that compare, files may have changed on the disk, and a mount may be lost. */
  const setUpBeforeStart = (pod: Pod, container: Container | EphemeralContainer): Observable<never> =>
    defer(() => {
      const { uid } = pod.metadata;
      const isDone = (volume: string): boolean => settled.isRecent(uid, volume, scheduler.now());
      const names = mountedVolumesSetUpAgain(pod, container).filter(
        (name) => state.volumes.isMounted(uid, name) && !isDone(name),
      );
      for (const name of names) settled.forget(uid, name);
      return names.length === 0 ? EMPTY : manager.setUpAgain(uid, names, isDone);
    });

  const mountsOf: PodVolumes['mountsOf'] = (pod, container, input) =>
    concat(
      setUpBeforeStart(pod, container).pipe(errorOnAbort(input.signal, () => new SyncCancelled())),
      boundMountsOf(pod, container, input),
    );

  const boundMountsOf: PodVolumes['mountsOf'] = (pod, container, { variable, images, agentMounts = [] }) =>
    defer(() => {
      const [firstMount] = container.volumeMounts ?? [];
      if (firstMount && !node.canMount) throw cannotMount(firstMount.name, container.name);
      const mounts = containerMounts(pod, container, {
        rootDirectory: node.rootDirectory,
        isMounted: (volume) => state.volumes.isMounted(pod.metadata.uid, volume),
        variable,
        images,
        canMountRecursivelyReadOnly: canMountRecursivelyReadOnly(pod),
        hasSelinux: node.hasSelinux ?? false,
      });
      // The path may have gone since the volume was set up, and the runtime would make a directory in the place of a missing one.
      const check$ = from(hostPathChecks(mounts)).pipe(
        concatMap(({ volume, path, type }) =>
          volumeFiles
            .checkHostPath(path, type)
            .pipe(
              catchError((error: unknown) =>
                throwError(() => hostPathRefusal(volume, container.name, errorText(error))),
              ),
            ),
        ),
      );
      const bind$ = from(mounts).pipe(
        concatMap(({ volume, subPath }) =>
          subPath
            ? volumeFiles.bindSubPath(subPath).pipe(
                catchError((error: unknown) => {
                  // The message of the container must not show paths of the machine.
                  log.warn({ pod: podRef(pod), volume, error: errorText(error) }, 'a sub-path could not be mounted');
                  return throwError(() => subPathRefusal(volume, container.name));
                }),
              )
            : EMPTY,
        ),
        ignoreElements(),
      );
      const mountPoints$ = from(ownMountPoints(pod, mounts, agentMounts)).pipe(
        concatMap((setup) =>
          volumeFiles.makeMountPoint(setup).pipe(
            catchError((error: unknown) => {
              log.warn(
                { pod: podRef(pod), error: errorText(error) },
                'a mount point inside of a volume could not be made',
              );
              return throwError(() => mountPointRefusal(setup.path, container.name));
            }),
          ),
        ),
      );
      return concat(check$, bind$, mountPoints$, of(mounts.map(({ mount: one }) => one)));
    });

  return {
    mount,
    envFiles: (pod, container) =>
      node.readsEnvFiles === false
        ? of(NO_ENV_FILES)
        : readEnvFiles(pod, container, {
            volumeFiles,
            rootDirectory: node.rootDirectory,
            isMounted: (volume) => state.volumes.isMounted(pod.metadata.uid, volume),
            log,
          }),
    mountsOf,
    leave: manager.leave,
    unmount,
    removeLeftovers: (uid) =>
      volumeFiles.found(podDirectory(node.rootDirectory, uid)).pipe(
        concatMap((found) => {
          if (found.length === 0) return EMPTY;
          const names = found.map(({ name }) => name).join(', ');
          const finding = `a pod that is over has left its volumes: ${names}`;
          return unmount(nameless(uid), [record({ kind: 'housekeeping', finding, causes: [] })]);
        }),
      ),
    run$: manager.run$,
  };
};

const usesObject = (pod: Pod, volume: Volume, object: ReferenceChange): boolean => {
  const { configMaps, secrets, podCertificates, hasTrustBundles } = payloadNeeds(pod, volume);
  if (object.kind === 'ClusterTrustBundles') return hasTrustBundles;
  const { kind, namespace, name } = object;
  if (pod.metadata.namespace !== namespace) return false;
  if (kind === 'PodCertificate') return pod.metadata.name === name && podCertificates.length > 0;
  return (kind === 'ConfigMap' ? configMaps : secrets).includes(name);
};

/** CRI expects of every runtime that it mounts, so upstream has no text for one that does not. */
const cannotMount = (volume: string, container: string): CreateContainerConfigError =>
  new CreateContainerConfigError(
    `cannot mount volume "${volume}" into container "${container}": the runtime makes no mounts; the embedded runtime needs root for them`,
  );

/** A pod of which only the UID is known. */
const nameless = (uid: string): Pod => ({
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: { name: '', namespace: '', uid },
  spec: { containers: [] },
});
