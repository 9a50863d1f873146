import { decodeValue } from '../entries/encode-value.js';
import { ItemsReader } from '../ports/known-items.js';
import type { KnownItems, OutputEntry, Plain } from '../entries/recording-entry.js';

/** A call of the agent, decoded. */
export interface RecordedCall {
  /** The path in `KubeletPorts`, or `sources.<name>`. */
  readonly port: string;
  readonly args: readonly unknown[];
  /** The time of the call, in milliseconds since the recording began. */
  readonly at: number;
}

/** The pending calls at a place of a recording. */
export class OpenCalls {
  readonly #calls = new Map<number, RecordedCall>();
  readonly #items = new Map<string, ItemsReader>();

  open({ call, port, args }: Extract<OutputEntry, { readonly kind: 'call' }>, at: number): void {
    this.#calls.set(call, { port, at, args: args.map(decodeValue) });
  }

  get(call: number): RecordedCall | undefined {
    return this.#calls.get(call);
  }

  close(call: number): void {
    this.#calls.delete(call);
  }

  /** Decodes the value of a reply. Every reply has to pass through here, since lists refer to items of earlier ones. */
  decodeReply({ port }: RecordedCall, value: Plain | undefined): unknown {
    if (value === undefined) return undefined;
    const known = Object.entries(isObject(value) ? value : {}).find(
      ([, field]) => isObject(field) && '$items' in field,
    );
    if (!known) return decodeValue(value);
    const [name, items] = known;
    let reader = this.#items.get(port);
    if (!reader) this.#items.set(port, (reader = new ItemsReader()));
    const rest = decodeValue({ ...(value as object), [name]: null }) as object;
    return { ...rest, [name]: reader.read(items as unknown as KnownItems, decodeValue) };
  }
}

const isObject = (value: Plain): value is { readonly [key: string]: Plain } =>
  typeof value === 'object' && value !== null && !Array.isArray(value);
