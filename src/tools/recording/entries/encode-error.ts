import { ApiError } from '../../../model/kube-api/api-error.js';
import { CriError, type CriErrorCode } from '../../../model/cri/cri-error.js';
import { HttpFailure, type HttpFailureStage } from '../../../model/config/http-failure.js';
import type { GrpcCode } from '../../../model/probes/grpc-code.js';
import { HealthFailure, type HealthFailureStage } from '../../../model/probes/health-failure.js';
import { ProbeErrored } from '../../../model/probes/probe-errored.js';
import type { Plain } from './recording-entry.js';

type Fields = Readonly<Record<string, unknown>>;

/** The constructors of errors whose class matters to decisions; any other one becomes an `Error` of the same name. */
const REVIVE: Readonly<Record<string, (message: string, fields: Fields, cause: ErrorOptions) => Error>> = {
  ApiError: (message, { code, reason, retryAfterSeconds }, cause) =>
    new ApiError({
      message,
      reason: reason as string,
      ...cause,
      ...(code !== undefined && { code: code as number }),
      ...(retryAfterSeconds !== undefined && { retryAfterSeconds: retryAfterSeconds as number }),
    }),
  CriError: (message, { code, call }, cause) => new CriError(code as CriErrorCode, call as string, message, cause),
  HttpFailure: (message, { stage, options }, cause) =>
    new HttpFailure(stage as HttpFailureStage, message, { ...(options as object), ...cause }),
  HealthFailure: (message, { stage, code }, cause) =>
    new HealthFailure(stage as HealthFailureStage, code as GrpcCode, message, cause),
  ProbeErrored: (message, { state }, cause) => new ProbeErrored(message, state as ProbeErrored['state'], cause),
};

/** Encodes an error with its own fields and its causes, without its stack, which is useless elsewhere. */
export const encodeError = (error: Error, encode: (value: unknown, field: string) => Plain): Plain => {
  const own = Object.entries(error).filter(([field, value]) => !(field in STANDARD) && isData(value));
  const fields = own.map(([field, value]) => [field, encode(value, field)] as const);
  return {
    name: error.name,
    message: encode(error.message, 'message'),
    ...(error.cause !== undefined && { cause: encode(error.cause, 'cause') }),
    ...(fields.length > 0 && { fields: Object.fromEntries(fields) }),
  };
};

/** Decodes an error: of its class if decisions check that, else an `Error`; always with its name, fields and causes. */
export const decodeError = (plain: Readonly<Record<string, Plain>>, decode: (plain: Plain) => unknown): Error => {
  const { cause, fields = {} } = plain;
  const [name, message] = [plain.name as string, plain.message as string];
  const values = decode(fields) as Fields;
  const options = cause === undefined ? {} : { cause: decode(cause) };
  const revive = REVIVE[name];
  if (revive) return revive(message, values, options);
  const error = Object.assign(new Error(message, options), values);
  if (error.name !== name) Object.defineProperty(error, 'name', { value: name, configurable: true });
  return error;
};

const STANDARD = { name: true, message: true, stack: true, cause: true };

/** Edges may add any value to their errors, even a socket; only JSON-like values are kept. */
const isData = (value: unknown): boolean => {
  if (typeof value !== 'object') return value !== undefined && typeof value !== 'function';
  if (value === null || Array.isArray(value)) return true;
  const prototype: unknown = Object.getPrototypeOf(value);
  return prototype === Object.prototype || prototype === null || value instanceof Uint8Array;
};
