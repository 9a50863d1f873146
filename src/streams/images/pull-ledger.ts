import {
  catchError,
  concat,
  concatMap,
  defer,
  EMPTY,
  from,
  ignoreElements,
  map,
  type MonoTypeOperatorFunction,
  type Observable,
  of,
  type SchedulerLike,
  share,
  tap,
  throwError,
} from 'rxjs';
import { errorText } from '../../model/cri/cri-error.js';
import { completeName } from '../../model/images/image-reference.js';
import {
  DEFAULT_VERIFICATION,
  type ImageVerification,
  isVerificationNeeded,
} from '../../model/images/image-verification.js';
import {
  accessBySecrets,
  accessWithoutSecrets,
  mayNameThePull,
  type PulledRecord,
  type RecordedAccess,
  type RecordedSecret,
  recordAfterPull,
} from '../../model/images/pulled-record.js';
import type { PullCredential } from '../../model/images/pull-secret.js';
import type { StartWait } from '../../model/pod-actions/start-wait.js';
import { inSlots } from '../operators/in-slots.js';
import type { ImageService } from '../ports/image-service.js';
import type { Logger } from '../ports/logger.js';
import type { ImageAccessResult, Metrics } from '../ports/metrics.js';
import type { PullRecords } from '../ports/pull-records.js';
import type { WallClock } from '../ports/wall-clock.js';

/** The image of a pull, and its credential; undefined for an anonymous pull. */
export interface Pulled {
  readonly imageRef: string;
  readonly credential: PullCredential | undefined;
}

/** The record of a pull could not be written, so the image is not pulled. */
export class PullNotRecorded extends Error {
  override readonly name = 'PullNotRecorded';
}

/** Records which pods may use the images of the node. */
export interface PullLedger {
  /** Whether images are verified. */
  readonly isOn: boolean;
  /**
   * Emits once whether a pod may use a present image without a pull. `credentials$`, those of its secrets, is only subscribed if
   * they decide. Errors: those of `credentials$`.
   */
  readonly mayHave: (
    image: string,
    imageRef: string,
    credentials$: Observable<readonly PullCredential[]>,
  ) => Observable<boolean>;
  /**
   * Writes an intent before the source is subscribed, and the result before it is emitted. A wait counts as no pull.
   *
   * Errors: `PullNotRecorded`, and those of the source.
   */
  readonly remember: <T extends Pulled | StartWait>(image: string) => MonoTypeOperatorFunction<T>;
}

export interface PullLedgerPorts {
  readonly images: Pick<ImageService, 'listImages'>;
  readonly pullRecords: PullRecords;
  readonly metrics: Pick<Metrics, 'imageAccessChecked'>;
  readonly log: Pick<Logger, 'warn'>;
  readonly wallClock: WallClock;
  readonly scheduler: SchedulerLike;
}

/** Allows every image to every pod, and records nothing. */
export const noLedger: PullLedger = { isOn: false, mayHave: () => of(true), remember: () => (source) => source };

/** The ledger for a verification policy. By default it verifies images that the agent has pulled. */
export const ledgerFor = (
  ports: PullLedgerPorts,
  verification: ImageVerification | 'none' = DEFAULT_VERIFICATION,
): PullLedger => (verification === 'none' ? noLedger : pullLedger(ports, verification));

/**
 * Makes the ledger of the node's images. Before its first use it reads the records: an image whose pull an earlier agent began,
 * and which is present, is recorded as pulled without known credentials; records of missing images are removed.
 *
 * Source: pkg/kubelet/images/pullmanager/image_pull_manager.go
 */
export const pullLedger = (ports: PullLedgerPorts, verification: ImageVerification): PullLedger => {
  const { pullRecords, metrics, log, scheduler } = ports;
  const pulling = new Map<string, number>();
  const oneAtATime = inSlots({ count: 1, scheduler });
  // Once it has completed, it completes at once for every later subscriber.
  const recovered$ = recover(ports).pipe(share({ resetOnComplete: false }));
  const logFailure = (what: string): MonoTypeOperatorFunction<never> =>
    catchError((error: unknown) => {
      log.warn({ error: errorText(error) }, what);
      return EMPTY;
    });

  const isPulledHere = (image: string, imageRef: string, record: PulledRecord | undefined): Observable<boolean> => {
    if (pulling.has(image) || (record && mayNameThePull(record, image))) return of(true);
    return pullRecords.intents().pipe(
      concatMap((intents) => {
        if (intents.includes(image)) return of(true);
        // The image was pulled under another name. Under this one it was loaded, if the runtime lists this one.
        return record ? isListedAs(ports, image, imageRef).pipe(map((isListed) => !isListed)) : of(false);
      }),
    );
  };

  const begin = (image: string): Observable<never> =>
    concat(
      pullRecords.writeIntent(image),
      defer(() => {
        pulling.set(image, (pulling.get(image) ?? 0) + 1);
        return EMPTY;
      }),
    ).pipe(
      oneAtATime(),
      catchError((error: unknown) => {
        const message = `Failed to record image pull intent for container image ${JSON.stringify(image)}: ${errorText(error)}`;
        return throwError(() => new PullNotRecorded(message, { cause: error }));
      }),
    );

  const end = (image: string): Observable<never> =>
    defer(() => {
      const others = (pulling.get(image) ?? 1) - 1;
      if (others > 0) pulling.set(image, others);
      else pulling.delete(image);
      return others > 0 ? EMPTY : pullRecords.removeIntent(image);
    }).pipe(oneAtATime(), logFailure('cannot remove the intent of a completed pull'));

  /** If the record cannot be written, the intent stays, so that the image still counts as pulled by the agent. */
  const keep = (image: string, { imageRef, credential }: Pulled): Observable<never> =>
    concat(
      write(ports, image, imageRef, accessBy(pullRecords, credential)).pipe(oneAtATime()),
      defer(() => end(image)),
    ).pipe(logFailure('a record of a pulled image cannot be written'));

  const mayHave: PullLedger['mayHave'] = (image, imageRef, credentials$) => {
    const verdict$ = pullRecords.pulled(imageRef).pipe(
      concatMap((record) =>
        isPulledHere(image, imageRef, record).pipe(
          map((isHere) => ({ record, isNeeded: isVerificationNeeded(verification, image, isHere), isKnown: true })),
        ),
      ),
      // Without a record the pod has to pull.
      catchError((error: unknown) => {
        log.warn({ error: errorText(error) }, 'a record of a pulled image cannot be read');
        return of({ record: undefined, isNeeded: true, isKnown: false });
      }),
    );
    const answer$ = verdict$.pipe(
      concatMap(({ record, isNeeded, isKnown }): Observable<ImageAccessResult> => {
        if (!isKnown) return of('error');
        if (!isNeeded) return of('credentialPolicyAllowed');
        const known = accessWithoutSecrets(record, image);
        if (known !== undefined || !record) return of(resultOf(known ?? false));
        return credentials$.pipe(
          concatMap((credentials) => {
            const { isAllowed, learned } = accessBySecrets(record, image, secretsOf(pullRecords, credentials));
            const learn$ = learned
              ? write(ports, image, imageRef, { kubernetesSecrets: [learned] }).pipe(
                  oneAtATime(),
                  logFailure('a record of a pulled image cannot be written'),
                )
              : EMPTY;
            return concat(learn$, of(resultOf(isAllowed)));
          }),
        );
      }),
      tap((result) => metrics.imageAccessChecked(result)),
      map((result) => result === 'credentialPolicyAllowed' || result === 'credentialRecordFound'),
    );
    return concat(recovered$, answer$);
  };

  return {
    isOn: true,
    mayHave,
    remember: (image) => (source) =>
      concat(
        recovered$,
        begin(image),
        source.pipe(
          concatMap((result) => concat('imageRef' in result ? keep(image, result) : end(image), of(result))),
          catchError((error: unknown) =>
            concat(
              end(image),
              throwError(() => error),
            ),
          ),
        ),
      ),
  };
};

const resultOf = (isAllowed: boolean): ImageAccessResult => (isAllowed ? 'credentialRecordFound' : 'mustAuthenticate');

const write = (
  { pullRecords, wallClock }: PullLedgerPorts,
  image: string,
  imageRef: string,
  access: RecordedAccess | undefined,
): Observable<never> =>
  // A record that cannot be read is written again, with the known access only.
  pullRecords.pulled(imageRef).pipe(
    catchError(() => of(undefined)),
    concatMap((record) => {
      const changed = recordAfterPull(record, { image, imageRef, access, now: wallClock() });
      return changed ? pullRecords.writePulled(changed) : EMPTY;
    }),
  );

const secretsOf = ({ hashOf }: PullRecords, credentials: readonly PullCredential[]): readonly RecordedSecret[] =>
  credentials.flatMap((credential) =>
    credential.secret ? [{ ...credential.secret, credentialHash: hashOf(credential) }] : [],
  );

/** Every pod of the node may use an image that was pulled anonymously or with the node's credentials. */
const accessBy = (records: PullRecords, credential: PullCredential | undefined): RecordedAccess =>
  credential?.secret ? { kubernetesSecrets: secretsOf(records, [credential]) } : { nodePodsAccessible: true };

/** Whether the runtime lists the image under this name. It also finds an image by its id, or by the beginning of that. */
const isListedAs = ({ images }: PullLedgerPorts, image: string, imageRef: string): Observable<boolean> =>
  images
    .listImages({})
    .pipe(
      map(({ images: present }) =>
        present.some(
          ({ id, repoTags, repoDigests }) =>
            [id, ...repoTags, ...repoDigests].includes(imageRef) &&
            [...repoTags, ...repoDigests].some((name) => name === image || name === completeName(image)),
        ),
      ),
    );

/** Source: image_pull_manager.go initialize, PruneUnknownRecords */
const recover = (ports: PullLedgerPorts): Observable<never> => {
  const { pullRecords, images, log } = ports;
  return pullRecords.intents().pipe(
    concatMap((intents) => pullRecords.everyPulled().pipe(map((records) => ({ intents, records })))),
    concatMap(({ intents, records }) => {
      if (intents.length + records.length === 0) return EMPTY;
      return images.listImages({}).pipe(
        concatMap(({ images: present }) => {
          const named = present.map(({ id, repoTags, repoDigests }) => ({
            id,
            names: [id, ...repoTags, ...repoDigests],
          }));
          const interrupted = intents.flatMap((image) => {
            const found = named.find(({ names }) => names.includes(image) || names.includes(completeName(image)));
            return found ? [{ image, imageRef: found.id }] : [];
          });
          const gone = records.filter(({ imageRef }) => !named.some(({ names }) => names.includes(imageRef)));
          return concat(
            from(interrupted).pipe(
              concatMap(({ image, imageRef }) =>
                concat(write(ports, image, imageRef, undefined), pullRecords.removeIntent(image)),
              ),
            ),
            from(gone).pipe(concatMap(({ imageRef }) => pullRecords.removePulled(imageRef))),
          );
        }),
      );
    }),
    ignoreElements(),
    catchError((error: unknown) => {
      log.warn({ error: errorText(error) }, 'records of pulled images cannot be brought up to date');
      return EMPTY;
    }),
  );
};
