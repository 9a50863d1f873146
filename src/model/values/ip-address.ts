const DECIMAL_BYTE = /^(0|[1-9]\d{0,2})$/;
const HEX_GROUP = /^[0-9a-fA-F]{1,4}$/;

export const isIpv4 = (text: string): boolean => {
  const parts = text.split('.');
  return parts.length === 4 && parts.every((part) => DECIMAL_BYTE.test(part) && Number(part) <= 255);
};

/** Parses an IPv6 address without a zone; its last 32 bits may be an IPv4 address. */
export const isIpv6 = (text: string): boolean => {
  const halves = text.split('::');
  if (halves.length > 2) return false;
  const groups = halves.flatMap((half) => (half === '' ? [] : half.split(':')));
  if (halves.length === 1 && text === '') return false;
  const last = groups.at(-1);
  const endsInIpv4 = last !== undefined && last.includes('.') && isIpv4(last) && text.endsWith(last);
  const hex = endsInIpv4 ? groups.slice(0, -1) : groups;
  const size = hex.length + (endsInIpv4 ? 2 : 0);
  return hex.every((group) => HEX_GROUP.test(group)) && (halves.length === 2 ? size < 8 : size === 8);
};

/** Formats an address as the API does: no zone, no leading zeros in IPv4. */
export const isIpAddress = (text: string): boolean => (text.includes(':') ? isIpv6(text) : isIpv4(text));
