/** The additional part of a verbose status. */
export const infoOf = (verbose: boolean | undefined): { [key: string]: string } => (verbose ? { info: '{}' } : {});
