import type { IncomingMessage, ServerResponse } from 'node:http';
import { acceptedForm, type StructuredKind } from '../../model/server/accepted-form.js';
import {
  DELIMITERS,
  flagObject,
  flagText,
  type ProcessFacts,
  statusObject,
  statusText,
} from '../../model/server/z-pages.js';
import type { Random } from '../../streams/ports/random.js';
import { send } from '../routes/http-routes.js';
import type { ParameterRoute } from '../routes/parameter-routes.js';

export interface ZPages {
  /** The facts of the process; without them `/statusz` does not exist. */
  readonly facts?: ProcessFacts | undefined;
  /** The flags of the process without secrets; without them `/flagz` does not exist. */
  readonly flags?: Readonly<Record<string, string>> | undefined;
  /** Unix milliseconds. */
  readonly now: () => number;
  readonly random: Random;
}

/**
 * The routes of `/statusz` and `/flagz`, as text or as JSON. The text separates keys and values by a delimiter that is drawn for
 * each reply, since it is not meant for programs.
 *
 * Source: pkg/kubelet/server/server.go InstallDebuggingHandlers
 */
export const zPages = ({ facts, flags, now, random }: ZPages): readonly ParameterRoute[] => {
  const delimiter = (): string => DELIMITERS[Math.floor(random() * DELIMITERS.length)] ?? ': ';
  return [
    ...(facts
      ? [
          route('/statusz', 'Statusz', {
            text: () => statusText(facts, now(), delimiter()),
            json: () => statusObject(facts, now()),
          }),
        ]
      : []),
    ...(flags
      ? [
          route('/flagz', 'Flagz', {
            text: () => flagText(flags, delimiter()),
            json: () => flagObject(flags),
          }),
        ]
      : []),
  ];
};

interface Forms {
  readonly text: () => string;
  readonly json: () => object;
}

const route = (path: string, kind: StructuredKind, forms: Forms): ParameterRoute => ({
  methods: ['GET'],
  path,
  handle: ({ headers }: IncomingMessage, response: ServerResponse) => {
    response.setHeader('Vary', 'Accept');
    const form = acceptedForm(headers.accept ?? '', kind);
    if (form === undefined) return send(response, { status: 406, body: 'not acceptable\n' });
    if (form === 'text') return send(response, { status: 200, body: forms.text() });
    send(response, { status: 200, type: 'application/json', body: `${JSON.stringify(forms.json())}\n` });
  },
});
