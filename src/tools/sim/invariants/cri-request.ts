/** The pod and container of a call of the runtime, as far as its request names them. */
export interface CallSubject {
  readonly uid?: string;
  /** The name of the container. */
  readonly container?: string;
  readonly containerId?: string;
  readonly sandboxId?: string;
  /** The name in the pod. */
  readonly image?: string;
  readonly graceSeconds?: number;
}

/** The fields of CRI requests that name the pod or container of a call. */
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

/** Reads a request; only the runtime knows the owner of an id, so ids stay ids. */
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
