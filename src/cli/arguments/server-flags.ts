import { InvalidArgumentError, Option } from 'commander';

const wholeNumber = (text: string): number => {
  if (!/^-?\d+$/.test(text)) throw new InvalidArgumentError('expected a whole number');
  return Number(text);
};

const trueOrFalse = (text: string): boolean => {
  if (text !== 'true' && text !== 'false') throw new InvalidArgumentError('expected true or false');
  return text === 'true';
};

const commaList = (text: string): readonly string[] => text.split(',').filter((item) => item !== '');

/** Flags of the kubelet API with a configuration field. Source: AddKubeletConfigFlags in cmd/kubelet/app/options/options.go. */
export const SERVER_FIELD_FLAGS: readonly { readonly field: string; readonly option: Option }[] = [
  {
    field: 'enableServer',
    option: new Option('--enable-server [true|false]', 'serve the kubelet API (default: true)')
      .argParser(trueOrFalse)
      .preset('true'),
  },
  { field: 'address', option: new Option('--address <ip>', 'address of the kubelet API (default: 0.0.0.0)') },
  {
    field: 'port',
    option: new Option('--port <port>', 'port of the kubelet API, 0 for none (default: 10250)').argParser(wholeNumber),
  },
  {
    field: 'readOnlyPort',
    option: new Option(
      '--read-only-port <port>',
      'port for every client, without authentication, 0 for none (default: 0)',
    ).argParser(wholeNumber),
  },
  {
    field: 'tlsCertFile',
    option: new Option('--tls-cert-file <file>', 'serving certificate; a self-signed one unless given'),
  },
  { field: 'tlsPrivateKeyFile', option: new Option('--tls-private-key-file <file>', 'key of the certificate') },
  {
    field: 'serverTLSBootstrap',
    option: new Option(
      '--rotate-server-certificates [true|false]',
      'request the serving certificate from the API server, and renew it (default: false)',
    )
      .argParser(trueOrFalse)
      .preset('true'),
  },
  {
    field: 'tlsMinVersion',
    option: new Option('--tls-min-version <version>', 'oldest version of TLS, such as VersionTLS13'),
  },
  {
    field: 'tlsCipherSuites',
    option: new Option('--tls-cipher-suites <list>', 'cipher suites up to TLS 1.2').argParser(commaList),
  },
  {
    field: 'authentication.x509.clientCAFile',
    option: new Option('--client-ca-file <file>', 'authorities whose client certificates are accepted'),
  },
  {
    field: 'authentication.webhook.enabled',
    option: new Option(
      '--authentication-token-webhook [true|false]',
      'let the API server review tokens (default: true)',
    )
      .argParser(trueOrFalse)
      .preset('true'),
  },
  {
    field: 'authentication.anonymous.enabled',
    option: new Option('--anonymous-auth [true|false]', 'accept clients without credentials (default: false)')
      .argParser(trueOrFalse)
      .preset('true'),
  },
  {
    field: 'authorization.mode',
    option: new Option('--authorization-mode <mode>', 'Webhook or AlwaysAllow (default: Webhook)'),
  },
];
