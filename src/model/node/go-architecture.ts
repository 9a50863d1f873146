/** Go's names of architectures that Node.js names differently. */
const ARCHITECTURES: Readonly<Record<string, string>> = {
  x64: 'amd64',
  ia32: '386',
  mipsel: 'mipsle',
  loong64: 'loong64',
};

/** Returns the name of the architecture in Go and Kubernetes from its name in Node.js. */
export const goArchitecture = (arch: string): string => ARCHITECTURES[arch] ?? arch;
