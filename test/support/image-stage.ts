import { catchError, map, NEVER, type Observable, of, tap } from 'rxjs';
import type { AuthConfig, DeepPartial, ImageStatusResponse } from '../../src/generated/runtime/v1/api.js';
import type { Container, Pod } from '../../src/model/pod/pod.js';
import { ContainerSyncError } from '../../src/model/pod-actions/sync-error.js';
import type { ImagePulls } from '../../src/model/pod-actions/back-offs.js';
import { ensureImage } from '../../src/streams/images/ensure-image.js';
import { kubeletState } from '../../src/streams/sync-loop/kubelet-state.js';
import type { CredentialPorts } from '../../src/streams/ports/credential-ports.js';
import type { PullLedger } from '../../src/streams/images/pull-ledger.js';
import type { PullQueue } from '../../src/streams/images/pull-queue.js';
import { aPod } from './a-pod.js';
import { type SyncStage, syncStage } from './sync-context.js';

export const present = {
  image: { id: 'sha256:1', uid: { value: 5n }, username: '', size: 4_096n },
  info: {},
} as unknown as ImageStatusResponse;
export const absent = { image: undefined, info: {} } as unknown as ImageStatusResponse;
export const container = (imagePullPolicy: string, image = 'app:1'): Container => ({
  name: 'main',
  image,
  imagePullPolicy,
});

export interface ImageWorld {
  readonly pod?: Pod;
  readonly inspect$?: Observable<ImageStatusResponse>;
  readonly pull$?: Observable<unknown> | ((auth: DeepPartial<AuthConfig> | undefined) => Observable<unknown>);
  readonly pulls?: ImagePulls;
  readonly pullQueue?: PullQueue;
  readonly pullLedger?: PullLedger;
  readonly credentials?: Partial<CredentialPorts>;
  readonly signal?: AbortSignal;
  readonly wallClock?: () => number;
}

/** One look after the image of `main`: its id, or `reason: message`. */
export const imageStage = (
  scheduler: Parameters<typeof syncStage>[1],
  { pod = aPod(), inspect$ = of(present), pull$ = NEVER, pulls = kubeletState().pulls, ...world }: ImageWorld,
): SyncStage & { readonly asked: string[]; readonly ensure: (container: Container) => Observable<string> } => {
  const asked: string[] = [];
  const stage = syncStage(pod, scheduler, {
    ...world,
    images: {
      imageStatus: ({ image }) => inspect$.pipe(tap({ subscribe: () => asked.push(`inspect ${image?.image}`) })),
      pullImage: ({ image, auth }) =>
        (typeof pull$ === 'function' ? pull$(auth) : pull$).pipe(
          tap({ subscribe: () => asked.push(`pull ${image?.image}${auth ? ` as ${auth.username}` : ''}`) }),
          map((answer) => ({ imageRef: 'sha256:1', ...(answer as object) })),
        ),
    },
  });
  const ensure = (of$: Container): Observable<string> =>
    ensureImage(stage.context, of$, pulls, { config: {} }).pipe(
      map((image) => ('id' in image ? image.id : `waits: ${image.reason}: ${image.message}`)),
      catchError((error: unknown) =>
        of(error instanceof ContainerSyncError ? `${error.reason}: ${error.message}` : String(error)),
      ),
    );
  return { ...stage, asked, ensure };
};
