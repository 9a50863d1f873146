/** Whom a call of the runtime is about, as far as its request says. */
export interface CallSubject {
  readonly uid?: string;
  /** Name of the container. */
  readonly container?: string;
  readonly containerId?: string;
  readonly sandboxId?: string;
  /** As the pod names it. */
  readonly image?: string;
  readonly graceSeconds?: number;
}

/** The fields of CRI requests that say whom a call is about. */
interface Request {
  readonly containerId?: string;
  readonly podSandboxId?: string;
  readonly config?: {
    readonly metadata?: { readonly uid?: string; readonly name?: string };
    readonly image?: ImageSpec;
  };
  readonly sandboxConfig?: { readonly metadata?: { readonly uid?: string } };
  readonly image?: ImageSpec;
  readonly timeout?: bigint;
}

interface ImageSpec {
  readonly image?: string;
  readonly userSpecifiedImage?: string;
}

/** Reads a request; ids are told apart by the runtime only, so whose they are is left open. */
export const subjectOf = (call: string, request: object): CallSubject => {
  const { containerId, podSandboxId, config, sandboxConfig, image, timeout } = request as Request;
  switch (call) {
    case 'RunPodSandbox':
      return { uid: config?.metadata?.uid };
    case 'CreateContainer':
      return {
        uid: sandboxConfig?.metadata?.uid,
        container: config?.metadata?.name,
        sandboxId: podSandboxId,
        image: named(config?.image),
      };
    case 'PullImage':
      return { uid: sandboxConfig?.metadata?.uid, image: named(image) };
    case 'RemoveImage':
      return { image: named(image) };
    case 'StopContainer':
      return { containerId, graceSeconds: Number(timeout ?? 0n) };
    default:
      return { containerId, sandboxId: podSandboxId };
  }
};

const named = (spec: ImageSpec | undefined): string | undefined => spec?.userSpecifiedImage || spec?.image;
