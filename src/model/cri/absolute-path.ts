/** A path in a container as the runtime wants it. Source: pkg/volume/util/util.go MakeAbsolutePath */
export const absolutePath = (path: string): string => (path.startsWith('/') ? path : `/${path}`);
