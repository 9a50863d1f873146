/** What a verbose status adds. */
export const infoOf = (verbose: boolean | undefined): { [key: string]: string } => (verbose ? { info: '{}' } : {});
