import { concatMap, defer, EMPTY, ignoreElements, Observable, of, type SchedulerLike } from 'rxjs';
import type { ApiObject } from '../../../model/kube-api/api-object.js';
import type { PulledRecord } from '../../../model/images/pulled-record.js';
import type { ProbeRecord } from '../../../model/probes/probe-record.js';
import type { DiskSpace } from '../../../streams/ports/disk-space.js';
import type { KnownPods, LastKnown } from '../../../streams/ports/last-known.js';
import type { LogFiles } from '../../../streams/ports/log-files.js';
import type { NodeFiles } from '../../../streams/ports/node-files.js';
import type { PodFiles } from '../../../streams/ports/pod-files.js';
import type { ProbeRecords } from '../../../streams/ports/probe-records.js';
import type { VolumeFiles } from '../../../streams/ports/volume-files.js';
import type { Checkpoints } from '../../../streams/ports/checkpoints.js';
import type { PullRecords } from '../../../streams/ports/pull-records.js';
import type { LatencyRange } from '../world/behaviour.js';
import { FileTree } from './file-tree.js';
import type { SeededRandom } from '../world/seeded-random.js';
import { SimulatedVolumes } from './simulated-volumes.js';
import { SyncedRecord, SyncedRecords } from './synced-record.js';
import { VolatileTree } from './volatile-tree.js';

export interface SimulatedDiskOptions {
  /** Updates growing logs before a read. */
  readonly scheduler: Pick<SchedulerLike, 'now'>;
  readonly random: SeededRandom;
  readonly latencyMs?: LatencyRange;
  /** 100 GB by default. */
  readonly capacityBytes?: bigint;
  /** Called when a volume of the pod of a UID is there for containers, and when it is gone. */
  readonly volumeChanged?: (kind: 'volume-made' | 'volume-gone', path: string, uid: string) => void;
  /** Called when the record of a pull is on the disk, and when it is being removed. */
  readonly intentChanged?: (image: string, isOnDisk: boolean) => void;
  /** Present if the machine may lose its power. */
  readonly power?: DiskPower;
  /** Bytes that are used by other things than files: images. */
  readonly usedBytes?: () => bigint;
}

/** The power of a disk, for one machine. */
export interface DiskPower {
  /** Whether the power goes at the next write of the agent: before it, or before it is durable. Such a write never ends. */
  readonly atWrite: () => 'before' | 'unsynced' | undefined;
}

/** The ports of one life of the agent to the disk. */
export interface DiskPorts {
  readonly files: NodeFiles;
  readonly podFiles: PodFiles;
  readonly volumeFiles: VolumeFiles;
  readonly logFiles: LogFiles;
  readonly diskSpace: DiskSpace;
  readonly probeRecords: ProbeRecords;
  readonly pullRecords: PullRecords;
  readonly checkpoints: Checkpoints;
  readonly lastKnown: LastKnown;
}

/** The file system of a simulated node: outlives the agent and the runtime. */
export interface SimulatedDisk {
  /**
   * The ports of a life of the agent. A started call is carried out even if its caller has cancelled it, but not if the
   * agent has died with its scheduler.
   */
  readonly ports: (scheduler: SchedulerLike) => DiskPorts;
  /** Opens a log, which grows from now on. */
  readonly writeLog: (path: string, bytesPerSecond: number) => void;
  /** Stops the growth of a log. */
  readonly endLog: (path: string) => void;
  readonly writeText: (path: string, text: string) => void;
  /** Writes a file below a directory, with the directories in between; nothing if the directory is gone. */
  readonly writeInside: (directory: string, path: string, text: string) => void;
  /** Mount points of volumes at or below the directory. */
  readonly mountsBelow: (directory: string) => readonly string[];
  /** The files, in the order of the names: for tests. */
  readonly paths: () => readonly string[];
  readonly probeRecords: () => readonly ProbeRecord[];
  /** The machine shuts down: all that was written is on the disk. */
  readonly sync: () => void;
  /**
   * The machine loses its power: no mount is left, and writes of the last seconds may be lost; never a record that the ports promise to be on
   * the disk.
   */
  readonly losePower: () => void;
}

/** Empty except for the files of every machine. Errors of its calls: Node's, as far as they can happen here. */
export const simulatedDisk = ({
  scheduler: world,
  random,
  latencyMs = { min: 0, max: 1 },
  capacityBytes = 100_000_000_000n,
  usedBytes = () => 0n,
  volumeChanged = () => undefined,
  intentChanged = () => undefined,
  power,
}: SimulatedDiskOptions): SimulatedDisk => {
  const tree = power ? new VolatileTree(world.now) : new FileTree(world.now);
  const volumes = new SimulatedVolumes(tree, (kind, path) => volumeChanged(kind, path, uidIn(path)));
  tree.makeDirectory('/etc');
  tree.write('/etc/hosts', HOSTS);
  const probeRecords = new SyncedRecord<readonly ProbeRecord[]>([], world.now);
  const pulled = new SyncedRecords<PulledRecord>(world.now);
  const intents = new SyncedRecords<true>(world.now);
  const checkpoints = new SyncedRecords<string>(world.now);
  const knownPods = new SyncedRecord<KnownPods | undefined>(undefined, world.now);
  const knownObjects = new SyncedRecords<ApiObject>(world.now);
  const syncing = random.fork('syncs');
  const losing = random.fork('losses of power');

  const ports = (scheduler: SchedulerLike): DiskPorts => {
    const ask = <T>(read: () => T): Observable<T> =>
      new Observable((subscriber) => {
        scheduler.schedule(
          () => {
            let value: T;
            try {
              value = read();
            } catch (error) {
              return subscriber.error(error);
            }
            subscriber.next(value);
            subscriber.complete();
          },
          random.integer(latencyMs.min, latencyMs.max),
        );
      });
    /** A change, which completes when it is done. */
    const change = <T>(write: () => T): Observable<T> =>
      new Observable((subscriber) => {
        scheduler.schedule(
          () => {
            const loss = power?.atWrite();
            if (loss === 'before') return;
            let value: T;
            try {
              value = write();
            } catch (error) {
              return subscriber.error(error);
            }
            if (loss === 'unsynced') return;
            subscriber.next(value);
            subscriber.complete();
          },
          random.integer(latencyMs.min, latencyMs.max),
        );
      });
    const act = (write: () => unknown): Observable<never> => change(write).pipe(ignoreElements());
    /** A write that completes when it is on the disk; a reader sees it a moment earlier. */
    const keep = (write: () => () => void): Observable<never> =>
      change(write).pipe(
        concatMap((synced) =>
          power
            ? new Observable<never>((subscriber) => {
                scheduler.schedule(
                  () => {
                    synced();
                    subscriber.complete();
                  },
                  syncing.integer(latencyMs.min, latencyMs.max),
                );
              })
            : defer(() => {
                synced();
                return EMPTY;
              }),
        ),
      );

    return {
      files: {
        makeDirectory: (path) => act(() => tree.makeDirectory(path)),
        keepDirectory: (path) =>
          keep(() => {
            tree.makeDirectory(path);
            return () => {
              if (tree instanceof VolatileTree) tree.sync(path);
            };
          }),
        listDirectory: (path) => ask(() => tree.list(path)),
        remove: (path) => act(() => tree.remove(path)),
        removeLog: (path) => act(() => removeAll(tree, withPrefix(tree, path))),
        link: (target, path) => act(() => tree.leadsSomewhere(target) && tree.link(target, path)),
        danglingLinks: (directory) => ask(() => tree.danglingLinks(directory)),
      },
      podFiles: {
        write: (path, content) => act(() => tree.write(path, content)),
        read: (path) => ask(() => tree.read(path)),
        readTail: (path, maxBytes) => ask(() => tree.tail(path, maxBytes)),
        mountsBelow: (directory) => ask(() => volumes.mountsBelow(directory)),
      },
      volumeFiles: {
        setUp: (setup) => change(() => volumes.setUp(setup)),
        write: (directory, payload) => change(() => volumes.write(directory, payload)),
        read: (directory, path) => ask(() => new TextEncoder().encode(tree.read(`${directory}/${path}`))),
        checkHostPath: () => act(() => undefined),
        bindSubPath: (setup) => act(() => volumes.bindSubPath(setup)),
        makeMountPoint: (setup) => act(() => volumes.makeMountPoint(setup)),
        unbindSubPaths: (directory) => act(() => volumes.unbindSubPaths(directory)),
        tearDown: (setup) => act(() => volumes.tearDown(setup)),
        found: (podDirectory) => ask(() => volumes.found(podDirectory)),
      },
      logFiles: {
        size: (path) => ask(() => tree.size(path)),
        rotated: (path) => ask(() => withPrefix(tree, `${path}.`)),
        rename: (from, to) => act(() => tree.rename(from, to)),
        compress: (path) => act(() => tree.compress(path)),
        remove: (path) => act(() => tree.removeFile(path)),
        utcOffsetMinutes: () => 0,
      },
      diskSpace: () =>
        ask(() => {
          const used = usedBytes() + tree.bytes();
          return { capacityBytes, availableBytes: used > capacityBytes ? 0n : capacityBytes - used };
        }),
      probeRecords: {
        read: () => ask(() => probeRecords.value),
        write: (records) => keep(() => probeRecords.write([...records])),
      },
      pullRecords: {
        pulled: (imageRef) => ask(() => pulled.get(imageRef)),
        everyPulled: () => ask(() => [...pulled.all().values()]),
        writePulled: (record) => keep(() => pulled.write(record.imageRef, record)),
        removePulled: (imageRef) => keep(() => pulled.write(imageRef, undefined)),
        intents: () => ask(() => [...intents.all().keys()]),
        writeIntent: (image) =>
          keep(() => {
            const synced = intents.write(image, true);
            return () => {
              synced();
              intentChanged(image, true);
            };
          }),
        removeIntent: (image) =>
          keep(() => {
            intentChanged(image, false);
            return intents.write(image, undefined);
          }),
        hashOf: ({ username, password, identityToken }) => `hash of ${username}:${password}:${identityToken}`,
      },
      checkpoints: {
        // At once: an agent reads them before it does anything.
        read: (name) => defer(() => of(checkpoints.get(name))),
        write: (name, content) => keep(() => checkpoints.write(name, content)),
        pathOf: (name) => name,
      },
      lastKnown: {
        readPods: () => ask(() => knownPods.value),
        writePods: (pods) => keep(() => knownPods.write(pods)),
        readObjects: () => ask(() => knownObjects.all()),
        writeObject: (key, object) => keep(() => knownObjects.write(key, object)),
        removeObject: (key) => keep(() => knownObjects.write(key, undefined)),
      },
    };
  };

  return {
    ports,
    writeLog: (path, bytesPerSecond) => {
      if (path !== '') tree.openLog(path, bytesPerSecond);
    },
    endLog: (path) => tree.closeLog(path),
    writeText: (path, text) => {
      // Removing a file also removes it from the container that mounts it.
      if (tree.leadsSomewhere(path)) tree.write(path, text);
    },
    writeInside: (directory, path, text) => {
      if (!tree.leadsSomewhere(directory)) return;
      const file = `${directory}/${path}`;
      tree.makeDirectory(file.slice(0, file.lastIndexOf('/')));
      tree.write(file, text);
    },
    mountsBelow: (directory) => volumes.mountsBelow(directory),
    paths: () => tree.paths(),
    probeRecords: () => probeRecords.value,
    sync: () => {
      if (tree instanceof VolatileTree) tree.syncAll();
      for (const record of [probeRecords, pulled, intents, checkpoints, knownPods, knownObjects]) record.sync();
    },
    losePower: () => {
      if (tree instanceof VolatileTree) tree.losePower(losing);
      for (const record of [probeRecords, pulled, intents, checkpoints, knownPods, knownObjects])
        record.losePower(losing);
      // The machine has these files before the agent starts.
      tree.makeDirectory('/etc');
      tree.write('/etc/hosts', HOSTS);
      volumes.unmountAll();
    },
  };
};

const HOSTS = '127.0.0.1\tlocalhost\n';

/** The UID of the pod whose directory this is. */
const uidIn = (path: string): string => /\/pods\/([^/]+)\//.exec(path)?.[1] ?? '';

/** Every entry of the same directory whose name begins with this one. */
/** Removes files. Errors: that of the first one that cannot be removed, after all others have been. */
const removeAll = (tree: FileTree, paths: readonly string[]): void => {
  const errors: unknown[] = [];
  for (const path of paths) {
    try {
      tree.removeFile(path);
    } catch (error) {
      errors.push(error);
    }
  }
  if (errors.length > 0) throw errors[0];
};

const withPrefix = (tree: FileTree, prefix: string): readonly string[] => {
  const slash = prefix.lastIndexOf('/');
  return tree
    .list(prefix.slice(0, slash) || '/')
    .flatMap((name) => (name.startsWith(prefix.slice(slash + 1)) ? [`${prefix.slice(0, slash)}/${name}`] : []));
};
