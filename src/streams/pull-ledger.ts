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
  throwError,
} from 'rxjs';
import { errorText } from '../model/cri-error.js';
import { completeName } from '../model/images/image-reference.js';
import {
  DEFAULT_VERIFICATION,
  type ImageVerification,
  isVerificationNeeded,
} from '../model/images/image-verification.js';
import {
  accessBySecrets,
  accessWithoutSecrets,
  type PulledRecord,
  type RecordedAccess,
  type RecordedSecret,
  recordAfterPull,
} from '../model/images/pulled-record.js';
import type { PullCredential } from '../model/images/pull-secret.js';
import { reuseFor } from './operators/reuse-for.js';
import { takeTurns } from './operators/take-turns.js';
import type { ImageService, Logger, PullRecords, WallClock } from './ports.js';

/** What a pull has brought, and by which credential; undefined for an anonymous one. */
export interface Pulled {
  readonly imageRef: string;
  readonly credential: PullCredential | undefined;
}

/** Nothing is pulled that could not be remembered. */
export class PullNotRecorded extends Error {
  override readonly name = 'PullNotRecorded';
}

/** Who may have the images of the node. */
export interface PullLedger {
  /** Whether anything is verified at all. */
  readonly isOn: boolean;
  /**
   * Emits once whether a pod may have an image that is there without pulling it. `credentials$`, those of its secrets, is
   * only asked if they decide. Errors: those of `credentials$`.
   */
  readonly mayHave: (
    image: string,
    imageRef: string,
    credentials$: Observable<readonly PullCredential[]>,
  ) => Observable<boolean>;
  /**
   * Notes that the image will be pulled before the source is subscribed, and what came of it before that is passed on.
   * Errors: `PullNotRecorded`, and those of the source.
   */
  readonly remember: <T extends Pulled>(image: string) => MonoTypeOperatorFunction<T>;
}

export interface PullLedgerPorts {
  readonly images: Pick<ImageService, 'listImages'>;
  readonly pullRecords: PullRecords;
  readonly log: Pick<Logger, 'warn'>;
  readonly wallClock: WallClock;
  readonly scheduler: SchedulerLike;
}

/** Everybody may have every image, and nothing is remembered. */
export const noLedger: PullLedger = { isOn: false, mayHave: () => of(true), remember: () => (source) => source };

/** The ledger that a node of these settings keeps; by default it verifies what the agent has pulled itself. */
export const ledgerFor = (
  ports: PullLedgerPorts,
  verification: ImageVerification | 'none' = DEFAULT_VERIFICATION,
): PullLedger => (verification === 'none' ? noLedger : pullLedger(ports, verification));

/**
 * The ledger of the node's images. What is remembered is read once it is needed: pulls that an earlier agent has begun, and
 * whose image is there, then count as pulled by nobody knows whom; records of images that are gone go.
 *
 * Source: pkg/kubelet/images/pullmanager/image_pull_manager.go
 */
export const pullLedger = (ports: PullLedgerPorts, verification: ImageVerification): PullLedger => {
  const { pullRecords, log, scheduler } = ports;
  const pulling = new Map<string, number>();
  const turn = takeTurns(1);
  const recovered$ = recover(ports).pipe(reuseFor(Infinity, scheduler));
  const told = (what: string): MonoTypeOperatorFunction<never> =>
    catchError((error: unknown) => {
      log.warn({ error: errorText(error) }, what);
      return EMPTY;
    });

  const isPulledHere = (image: string, record: PulledRecord | undefined): Observable<boolean> =>
    record || pulling.has(image) ? of(true) : pullRecords.intents().pipe(map((images) => images.includes(image)));

  const begin = (image: string): Observable<never> =>
    concat(
      pullRecords.writeIntent(image),
      defer(() => {
        pulling.set(image, (pulling.get(image) ?? 0) + 1);
        return EMPTY;
      }),
    ).pipe(
      turn(),
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
    }).pipe(turn(), told('what was noted of a pull that is over cannot be removed'));

  /** A record that cannot be written leaves the intent behind, so that the image still counts as pulled by the agent. */
  const keep = (image: string, { imageRef, credential }: Pulled): Observable<never> =>
    concat(
      write(ports, image, imageRef, accessBy(pullRecords, credential)).pipe(turn()),
      defer(() => end(image)),
    ).pipe(told('a record of a pulled image cannot be written'));

  const mayHave: PullLedger['mayHave'] = (image, imageRef, credentials$) => {
    const verdict$ = pullRecords.pulled(imageRef).pipe(
      concatMap((record) =>
        isPulledHere(image, record).pipe(
          map((isHere) => ({ record, isNeeded: isVerificationNeeded(verification, image, isHere) })),
        ),
      ),
      // Whoever cannot be shown to be allowed has to pull.
      catchError((error: unknown) => {
        log.warn({ error: errorText(error) }, 'a record of a pulled image cannot be read');
        return of({ record: undefined, isNeeded: true });
      }),
    );
    const answer$ = verdict$.pipe(
      concatMap(({ record, isNeeded }) => {
        if (!isNeeded) return of(true);
        const known = accessWithoutSecrets(record, image);
        if (known !== undefined || !record) return of(known ?? false);
        return credentials$.pipe(
          concatMap((credentials) => {
            const { isAllowed, learned } = accessBySecrets(record, image, secretsOf(pullRecords, credentials));
            const learn$ = learned
              ? write(ports, image, imageRef, { kubernetesSecrets: [learned] }).pipe(
                  turn(),
                  told('a record of a pulled image cannot be written'),
                )
              : EMPTY;
            return concat(learn$, of(isAllowed));
          }),
        );
      }),
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
          concatMap((pulled) => concat(keep(image, pulled), of(pulled))),
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

const write = (
  { pullRecords, wallClock }: PullLedgerPorts,
  image: string,
  imageRef: string,
  access: RecordedAccess | undefined,
): Observable<never> =>
  // One that cannot be read is written anew: with what is certain by now.
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

/** What was pulled anonymously or with the node's own password, every pod of the node may have. */
const accessBy = (records: PullRecords, credential: PullCredential | undefined): RecordedAccess =>
  credential?.secret ? { kubernetesSecrets: secretsOf(records, [credential]) } : { nodePodsAccessible: true };

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
