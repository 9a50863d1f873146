/** Names that Go has for what Node calls otherwise. */
const ARCHITECTURES: Readonly<Record<string, string>> = {
  x64: 'amd64',
  ia32: '386',
  mipsel: 'mipsle',
  loong64: 'loong64',
};

/** The architecture as Go, and so Kubernetes, names it, from how Node names it. */
export const goArchitecture = (arch: string): string => ARCHITECTURES[arch] ?? arch;
