import type { V1WindowsSecurityContextOptions } from '@kubernetes/client-node';
import type { Json } from '../pod/pod.js';
import { type FieldIssue, type FieldPath, issue } from './field-issue.js';
import { checkText, DNS_SUBDOMAIN } from './names.js';

const MAX_CREDENTIAL_BYTES = 64 * 1024;
const MAX_DOMAIN = 255;
const MAX_USER = 104;
const NETBIOS_NAME = /^[^\\/:*?"<>|.][^\\/:*?"<>|]{0,14}$/;
const DNS_NAME = /^[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?(\.[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?)*$/i;
const CONTROL = /[\x00-\x1f\x7f]/;
const ODD_IN_USER = /["/\\:;|=,+*?<>@[\]]/;

/** Source: pkg/apis/core/validation/validation.go validateWindowsSecurityContextOptions. */
export function* validateWindowsOptions(
  options: Json<V1WindowsSecurityContextOptions> | undefined,
  path: FieldPath,
): Generator<FieldIssue> {
  const { gmsaCredentialSpecName: specName, gmsaCredentialSpec: spec, runAsUserName } = options ?? {};
  if (specName !== undefined) yield* checkText(specName, DNS_SUBDOMAIN, [...path, 'gmsaCredentialSpecName']);
  if (spec !== undefined) {
    const bytes = new TextEncoder().encode(spec).length;
    const at = [...path, 'gmsaCredentialSpec'];
    if (bytes === 0 || bytes > MAX_CREDENTIAL_BYTES) yield issue(at, `has ${bytes} bytes`, '1 byte to 64 KiB');
  }
  if (runAsUserName !== undefined && !isUserName(runAsUserName)) {
    yield issue([...path, 'runAsUserName'], `is ${JSON.stringify(runAsUserName)}`, 'a user, or domain\\user');
  }
}

const isUserName = (text: string): boolean => {
  if (CONTROL.test(text)) return false;
  const parts = text.split('\\');
  if (parts.length > 2) return false;
  const user = parts.at(-1)!;
  return (
    (parts.length === 1 || isDomain(parts[0]!)) &&
    user.length > 0 &&
    new TextEncoder().encode(user).length <= MAX_USER &&
    !/^[. ]+$/.test(user) &&
    !ODD_IN_USER.test(user)
  );
};

const isDomain = (text: string): boolean =>
  text.length <= MAX_DOMAIN && (NETBIOS_NAME.test(text) || DNS_NAME.test(text));
