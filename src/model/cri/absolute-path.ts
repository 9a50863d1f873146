/**
 * Returns a path in a container in the form that the runtime expects. Source: pkg/volume/util/util.go MakeAbsolutePath
 */
export const absolutePath = (path: string): string => (path.startsWith('/') ? path : `/${path}`);
