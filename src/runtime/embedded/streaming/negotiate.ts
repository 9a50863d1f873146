/** The protocols of exec and attach, newest first. Source: k8s.io/apimachinery/pkg/util/remotecommand/constants.go */
export const COMMAND_PROTOCOLS = [
  'v4.channel.k8s.io',
  'v3.channel.k8s.io',
  'v2.channel.k8s.io',
  'channel.k8s.io',
] as const;
export const FORWARD_PROTOCOLS = ['portforward.k8s.io'] as const;
export type CommandProtocol = (typeof COMMAND_PROTOCOLS)[number];

/** An HTTP answer instead of the upgrade. */
export interface Refusal {
  readonly statusCode: number;
  readonly message: string;
  readonly headers?: readonly (readonly [name: string, value: string])[];
}

/** The first protocol of the client that the server has. Source: k8s.io/apimachinery/pkg/util/httpstream Handshake */
export const negotiate = <Protocol extends string>(
  header: string | undefined,
  supported: readonly Protocol[],
): { readonly protocol: Protocol } | { readonly refusal: Refusal } => {
  const wanted = (header ?? '')
    .split(',')
    .map((name) => name.trim())
    .filter((name) => name !== '');
  if (wanted.length === 0)
    return { refusal: { statusCode: 400, message: 'unable to upgrade: X-Stream-Protocol-Version is required' } };
  const protocol = wanted.flatMap((name) => supported.filter((known) => known === name))[0];
  if (protocol) return { protocol };
  return {
    refusal: {
      statusCode: 403,
      message: `unable to upgrade: unable to negotiate protocol: client supports [${wanted.join(' ')}], server accepts [${supported.join(' ')}]`,
      headers: supported.map((name) => ['X-Accepted-Stream-Protocol-Versions', name]),
    },
  };
};
