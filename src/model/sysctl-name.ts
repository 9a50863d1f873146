/** Dots separate the parts of a name, whatever it was written with. Source: pkg/kubelet/sysctl NormalizeName. */
export const normalizedSysctl = (name: string): string =>
  /[./]/.exec(name)?.[0] === '/' ? name.replace(/[./]/g, (separator) => (separator === '/' ? '.' : '/')) : name;
