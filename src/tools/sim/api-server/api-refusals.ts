import { ApiError, type ApiErrorInit } from '../../../model/kube-api/api-error.js';
import { apiVersionOf, type ApiResource, qualifiedName } from './api-resource.js';

/** The refusals of the server, with the texts of apimachinery's errors. */
const refusal = (code: number, reason: string, message: string, more: Partial<ApiErrorInit> = {}): ApiError =>
  new ApiError({ code, reason, message, ...more });

export const notFound = (resource: ApiResource, name: string): ApiError =>
  refusal(404, 'NotFound', `${qualifiedName(resource)} "${name}" not found`);

export const noSuchPath = (): ApiError => refusal(404, 'NotFound', 'the server could not find the requested resource');

export const notAllowed = (): ApiError =>
  refusal(405, 'MethodNotAllowed', 'the server does not allow this method on the requested resource');

export const alreadyExists = (resource: ApiResource, name: string): ApiError =>
  refusal(409, 'AlreadyExists', `${qualifiedName(resource)} "${name}" already exists`);

export const conflict = (resource: ApiResource, name: string, why: string): ApiError =>
  refusal(409, 'Conflict', `Operation cannot be fulfilled on ${qualifiedName(resource)} "${name}": ${why}`);

export const modified = (resource: ApiResource, name: string): ApiError =>
  conflict(
    resource,
    name,
    'the object has been modified; please apply your changes to the latest version and try again',
  );

export const invalid = (resource: ApiResource, name: string, why: string): ApiError =>
  refusal(422, 'Invalid', `${resource.kind} "${name}" is invalid: ${why}`);

export const badRequest = (message: string): ApiError => refusal(400, 'BadRequest', message);

export const forbidden = (resource: ApiResource, name: string, why: string): ApiError =>
  refusal(403, 'Forbidden', `${qualifiedName(resource)} "${name}" is forbidden: ${why}`);

export const unsupportedPatch = (type: string): ApiError =>
  refusal(415, 'UnsupportedMediaType', `the body of the request was in an unknown format: ${type}`);

export const tooOld = (asked: number, oldest: number): ApiError =>
  refusal(410, 'Expired', `too old resource version: ${asked} (${oldest})`);

export const staleContinue = (): ApiError =>
  refusal(
    410,
    'Expired',
    'The provided continue parameter is too old to display a consistent list result. You can start a new list without the continue parameter.',
  );

export const tooLarge = (asked: number, newest: number): ApiError =>
  refusal(504, 'Timeout', `Timeout: Too large resource version: ${asked}, current: ${newest}`, {
    retryAfterSeconds: 1,
  });

/** A Status in the form of an `ERROR` of a watch. */
export const statusOf = ({ code, reason, message }: ApiError): object => ({
  kind: 'Status',
  apiVersion: 'v1',
  metadata: {},
  status: 'Failure',
  message,
  reason,
  code,
});

export const kindOf = (resource: ApiResource): { readonly apiVersion: string; readonly kind: string } => ({
  apiVersion: apiVersionOf(resource),
  kind: resource.kind,
});
