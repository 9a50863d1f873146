/**
 * Returns the name with dots between its parts; it may be written with slashes. Source: pkg/kubelet/sysctl
 * NormalizeName.
 */
export const normalizedSysctl = (name: string): string =>
  /[./]/.exec(name)?.[0] === '/' ? name.replace(/[./]/g, (separator) => (separator === '/' ? '.' : '/')) : name;
